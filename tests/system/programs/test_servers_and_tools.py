"""Servers and tools that once did not start, or did not end: each does what its manual says, twice the same to the byte."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.system.programs.conftest import Needs, RunTwice, open_to_everybody

pytestmark = pytest.mark.slow

MANY_CLIENTS = """
import socket, sys, time
ends = [socket.create_connection((sys.argv[1], int(sys.argv[2]))) for _ in range(int(sys.argv[3]))]
answers = 0
for end in ends:
    end.sendall(b"get key\\r\\n")
    answers += end.recv(100).endswith(b"END\\r\\n")
    end.close()
    time.sleep(0.001)
print(answers)
"""
MEMCACHED = """
name: memcached
hosts: [{name: store}, {name: client}]
stop: time
until: 10s
processes:
  - {name: memcached, host: store, command: "memcached -c 4096 -u nobody -l 0.0.0.0"}
  - {name: clients, host: client, start: 1s, command: "ulimit -n 4000; python3 PROGRAM store 11211 1100"}
"""


def test_memcached_with_more_clients_than_the_usual_limit(needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    needs("memcached")
    (tmp_path / "clients.py").write_text(MANY_CLIENTS)
    run = run_twice(MEMCACHED.replace("PROGRAM", str(tmp_path / "clients.py")))
    assert run.output("client", "clients") == "1100\n", run.everything("client", "clients")


HAPROXY_CONFIGURATION = """
defaults
  mode http
  timeout connect 5s
  timeout client 5s
  timeout server 5s
frontend all
  bind :80
  default_backend pair
backend pair
  balance roundrobin
  server one web1:8000 check
  server two web2:8000 check
"""
HAPROXY = """
name: haproxy
hosts: [{name: web1}, {name: web2}, {name: proxy, cores: 2}, {name: client}]
stop: time
until: 20s
processes:
  - {name: one, host: web1, private: [/srv/simunix-www], command: "cd /srv/simunix-www; echo one >name; python3 -m http.server"}
  - {name: two, host: web2, private: [/srv/simunix-www], command: "cd /srv/simunix-www; echo two >name; python3 -m http.server"}
  - {name: haproxy, host: proxy, start: 1s, command: haproxy -n 4000 -db -f CONFIGURATION}
  - {name: curl, host: client, start: 5s, command: "curl -s http://proxy/name http://proxy/name http://proxy/name http://proxy/name"}
"""


def test_haproxy_shares_requests_among_servers(needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    needs("haproxy", "curl")
    (tmp_path / "haproxy.cfg").write_text(HAPROXY_CONFIGURATION)
    run = run_twice(HAPROXY.replace("CONFIGURATION", str(tmp_path / "haproxy.cfg")))
    assert run.output("client", "curl").split() in (["one", "two"] * 2, ["two", "one"] * 2), run.everything("proxy", "haproxy")


CRON = """
name: cron
epoch: 2000-01-01T00:00:00Z
hosts: [{name: n1}]
stop: time
until: 400s
processes:
  - {name: cron, host: n1, command: cron -f}
  - name: user
    host: n1
    user: nobody
    start: 3s
    command: |
      printf '* * * * * (date; id -un) >>/tmp/dates\\n' | crontab -
      crontab -l
      sleep 130
      printf '*/2 * * * * date >>/tmp/later\\n' >/tmp/new
      VISUAL=SCRIPT crontab -e
      crontab -l
      sleep 150
      cat /tmp/dates
      tail -n 1 /tmp/later
      crontab -r
      crontab -l || true
"""
EDITOR = """#!/bin/sh
sleep 2
cp /tmp/new "$1"
"""


def test_crontab_of_an_ordinary_user(needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    """The program is set-group-id crontab; cron runs what it has installed, and what it has changed."""
    needs("cron", "crontab")
    open_to_everybody(tmp_path)
    editor = tmp_path / "edit"
    editor.write_text(EDITOR)
    editor.chmod(0o755)
    run = run_twice(CRON.replace("SCRIPT", str(editor)))
    assert run.output("n1", "user").splitlines() == [
        "* * * * * (date; id -un) >>/tmp/dates",
        "*/2 * * * * date >>/tmp/later",
        "Sat Jan  1 00:01:01 UTC 2000",
        "nobody",
        "Sat Jan  1 00:02:01 UTC 2000",
        "nobody",
        "Sat Jan  1 00:04:01 UTC 2000",
    ], run.everything("n1", "user")


FIO = """
name: fio
hosts: [{name: n1}]
stop: processes
processes:
  - name: fio
    host: n1
    command: "fio --name=x --filename=/tmp/written-by-fio --size=2m --rw=write --rate=1m --bs=64k --ioengine=psync
      --thread --output-format=json"
"""


def test_fio_keeps_to_a_rate(needs: Needs, run_twice: RunTwice) -> None:
    """fio waits for the moment of its next write by sleeps of no length, and by readings of the time stamp counter."""
    needs("fio")
    run = run_twice(FIO)
    text = run.output("n1", "fio")
    (job,) = json.loads(text[text.index("{") :])["jobs"]
    assert job["write"]["total_ios"] == 32
    assert 1900 < job["write"]["runtime"] < 2100
    assert run.record["deterministic"] is True
