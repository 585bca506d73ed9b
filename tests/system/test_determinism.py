"""One program that does everything at once, over two hosts, again and again: one single digest, also on a busy computer."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simunix.testing import Cluster

MIXED = Path(__file__).parent / "programs" / "mixed.c"


@pytest.fixture
def busy_host() -> Iterator[None]:
    """Twice as many computing processes as there are cores, and one that keeps the page cache and the disk busy."""
    burn = [sys.executable, "-c", "while True: pass"]
    write = "import tempfile\nwhile True:\n  with tempfile.TemporaryFile() as file: file.write(bytes(1 << 22))"
    churn = [sys.executable, "-c", write]
    commands = [burn] * (2 * (os.cpu_count() or 1)) + [churn]
    load = [subprocess.Popen(command) for command in commands]
    yield
    for process in load:
        process.kill()
        process.wait()


def digests_of(emulation: Cluster, repetitions: int) -> set[str]:
    """Run the program so often; it must succeed each time."""
    emulation.network(latency="200us", bandwidth="100Mbps")
    near, far = emulation.hosts("a[1-2]")
    program = emulation.c(MIXED)
    server = far.start(program, "server")
    client = near.start(program, "client", "a2", at="10ms")
    digests = set()
    for _ in range(repetitions):
        digests.add(emulation.run(check=True).digest)
        assert client.stdout.startswith("sent ")
        assert server.stdout.startswith("answered 36, datagrams 9, ")
    return digests


def test_five_runs_are_one(emulation: Cluster) -> None:
    assert len(digests_of(emulation, 5)) == 1


@pytest.mark.slow
def test_two_hundred_runs_on_a_busy_computer_are_one(emulation: Cluster, busy_host: None) -> None:
    assert len(digests_of(emulation, 200)) == 1


def test_another_seed_is_another_run(emulation: Cluster) -> None:
    first = digests_of(emulation, 1)
    emulation.seed = 1
    assert emulation.run(check=True).digest not in first
