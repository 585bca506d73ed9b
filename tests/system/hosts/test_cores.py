"""Two emulations at once do not choose the same core to run on."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from tests.conftest import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores"),
]
BUSY = "import time\nwhile True: time.sleep(0.001)"


@pytest.fixture
def alone() -> Iterator[list[str]]:
    """What to put before commands so that emulations of others do not count: the names by which cores are claimed are those
    of a network namespace (simunix/launch/limits/cores.py)."""
    with subprocess.Popen(["unshare", "--net", "sleep", "1000"]) as holder:
        try:
            namespace = Path(f"/proc/{holder.pid}/ns/net")
            while holder.poll() is None and namespace.readlink() == Path("/proc/self/ns/net").readlink():
                time.sleep(0.01)
            yield ["nsenter", f"--net={namespace}"] if holder.poll() is None else []
        finally:
            holder.kill()


def test_runs_side_by_side_are_on_cores_of_their_own(tmp_path: Path, alone: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with ExitStack() as stack:
        processes = []
        for name in ("one", "two"):
            command = [*alone, sys.executable, "-m", "simunix.cli.main", "run", "--out", str(tmp_path / name)]
            command += ["--pace", "1", "--", sys.executable, "-c", BUSY]
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            processes.append(psutil.Process(process.pid))
        deadline = time.monotonic() + 30
        while any(len(process.cpu_affinity()) != 1 for process in processes):
            assert time.monotonic() < deadline, "not pinned"
            time.sleep(0.05)
        cores = [process.cpu_affinity()[0] for process in processes]
    assert cores[0] != cores[1]
