"""PostgreSQL 15, and pgbench over TCP from another host: its backends wait for each other's locks."""

from __future__ import annotations

import re

import pytest

from tests.system.programs.conftest import Needs, RunTwice

pytestmark = pytest.mark.slow

BIN = "/usr/lib/postgresql/15/bin"
SCENARIO = f"""
name: postgresql
hosts: [{{name: db, cores: 4}}, {{name: client}}]
network: {{bandwidth: 1Gbps, latency: 100us}}
stop: time
until: 30s
processes:
  - name: postgres
    host: db
    user: postgres
    private: [/var/lib/postgresql/simunix, /run/postgresql]
    environment: {{HOME: /var/lib/postgresql, PATH: '{BIN}:/usr/bin:/bin'}}
    command: |
      cd /var/lib/postgresql/simunix
      initdb -D data -A trust > initdb.log || exit 1
      echo host all all 10.0.0.0/8 trust >> data/pg_hba.conf
      exec postgres -D data -c listen_addresses='*'
  - name: pgbench
    host: client
    start: 5s
    environment: {{PATH: '{BIN}:/usr/bin:/bin', PGHOST: db, PGUSER: postgres}}
    command: |
      createdb bench && pgbench -i -q -s 1 bench
      pgbench -c 4 -j 2 -t 50 bench
      psql -At -c 'select count(*) from pgbench_history' bench
      psql -At -c 'select pg_sleep(3)' bench
      date +%T
"""


def test_pgbench_from_another_host(needs: Needs, run_twice: RunTwice) -> None:
    needs(f"{BIN}/postgres", f"{BIN}/pgbench")
    run = run_twice(SCENARIO)
    told = run.output("client", "pgbench")
    assert "200/200" in told, run.everything("client", "pgbench")
    latency = re.search(r"latency average = ([\d.]+) ms", told)
    assert latency is not None
    assert 2.8 < float(latency[1]) < 20  # seven round trips of 0.4 ms, and waiting for locks; not for deadlock_timeout (1 s)
    assert told.split()[-2:] == ["200", "00:00:08"]
