"""nginx with two workers; curl and wrk on another host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.system.programs.conftest import Needs, RunTwice

pytestmark = pytest.mark.slow

CONFIGURATION = r"""
worker_processes 2;
daemon off;
pid /run/nginx.pid;
error_log /var/log/nginx/error.log info;
events { worker_connections 256; }
http {
    access_log /var/log/nginx/access.log;
    server {
        listen 80;
        location / { root /srv/simunix-www; sendfile on; }
        location /hello { return 200 "hello from $hostname\n"; }
    }
}
"""
SCENARIO = """
name: nginx
hosts:
  - {name: web, cores: 2}
  - {name: client}
network: {bandwidth: 1MBps, latency: 1ms}
stop: time
until: 20s
processes:
  - name: nginx
    host: web
    private: [/var/log/nginx, /var/lib/nginx, /srv/simunix-www]
    command: "head -c 500000 /dev/zero > /srv/simunix-www/file; exec nginx -c CONFIGURATION"
  - name: curl
    host: client
    start: 1s
    command: |
      curl -s http://web/hello
      curl -s -o /dev/null -w '%{http_code} %{size_download} %{time_total}\\n' http://web/file
      curl -s -o /dev/null -w '%{http_code}\\n' http://web/none
  - {name: wrk, host: client, start: 5s, command: "wrk -t2 -c8 -d2s http://web/hello"}
  - {name: workers, host: web, start: 10s, expect: 1,
     command: "pgrep -c -f '[w]orker process'; kill -HUP $(cat /run/nginx.pid); sleep 2
     ; pgrep -c -f '[w]orker process'; kill -QUIT $(cat /run/nginx.pid); sleep 2; pgrep -c nginx"}
"""


def test_two_workers_and_clients(needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    needs("nginx", "curl", "wrk")
    (tmp_path / "nginx.conf").write_text(CONFIGURATION)
    run = run_twice(SCENARIO.replace("CONFIGURATION", str(tmp_path / "nginx.conf")))
    hello, file, missing = run.output("client", "curl").splitlines()
    assert (hello, missing) == ("hello from web", "404")
    code, size, seconds = file.split()
    assert (code, size) == ("200", "500000")
    assert 0.5 < float(seconds) < 0.55  # 500 kB at 1 MB/s
    requests = re.search(r"(\d+) requests in", run.output("client", "wrk"))
    assert requests is not None, run.everything("client", "wrk")
    assert int(requests[1]) > 1000
    assert run.output("web", "workers").split() == ["2", "2", "0"]
