"""Redis: a server, its benchmark on another host, and a replica on a third."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from tests.system.programs.conftest import Needs, RunTwice

pytestmark = pytest.mark.slow

SCENARIO = """
name: redis
hosts:
  - {name: server}
  - {name: replica}
  - {name: client}
network: {bandwidth: 1Gbps, latency: 50us}
stop: time
until: 20s
processes:
  - {name: redis, host: server, private: [/var/lib/redis],
     command: "exec redis-server --bind 0.0.0.0 --protected-mode no --dir /var/lib/redis --appendonly yes"}
  - {name: redis, host: replica, start: 1s, private: [/var/lib/redis],
     command: "exec redis-server --bind 0.0.0.0 --protected-mode no --dir /var/lib/redis --replicaof server 6379"}
  - {name: benchmark, host: client, start: 10s, command: "redis-benchmark -h server -n 1000 -c 10 -t set,get --csv"}
  - name: client
    host: client
    start: 15s
    command: |
      redis-cli -h server set answer 42
      redis-cli -h server wait 1 1000
      redis-cli -h replica get answer
      redis-cli -h server bgsave
      redis-cli -h server set fleeting 1 ex 2
      sleep 1; redis-cli -h server exists fleeting
      sleep 1.1; redis-cli -h server exists fleeting
      redis-cli -h server info replication | grep ^slave0
"""


def test_benchmark_and_replica(needs: Needs, run_twice: RunTwice) -> None:
    needs("redis-server", "redis-benchmark")
    run = run_twice(SCENARIO)
    told = run.output("client", "client").replace("\r", "").splitlines()
    assert told[:3] == ["OK", "1", "42"], run.everything("client", "client")
    assert told[3:7] == ["Background saving started", "OK", "1", "0"]
    assert "ip=10.0.0.2,port=6379,state=online" in told[7]
    figures = {row["test"]: row for row in csv.DictReader(StringIO(run.output("client", "benchmark")))}
    for test in ("SET", "GET"):
        assert 0.2 <= float(figures[test]["min_latency_ms"]) < 0.25  # there and back over two links of 50 µs
