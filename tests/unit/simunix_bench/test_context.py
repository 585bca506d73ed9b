"""Children of benchmarks: their ends, and ours."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from simunix.launch.interrupts import Interrupted, Interrupts
from simunix_bench.context import Context, Finished, MeasurementError


@pytest.fixture
def context(tmp_path: Path) -> Iterator[Context]:
    with Interrupts() as interrupts:
        yield Context(tmp_path, True, interrupts, lambda text: None)


def test_a_child_is_heard_to_its_end(context: Context) -> None:
    done = context.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_a_late_child_is_ended(context: Context, tmp_path: Path) -> None:
    done = context.run(["sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 1000"], limit_s=0.1, end_with=signal.SIGKILL)
    assert done.returncode is None
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_a_signal_ends_the_child_first(context: Context, tmp_path: Path) -> None:
    program = f"echo $$ > {tmp_path}/pid; kill -TERM {os.getpid()}; exec sleep 1000"
    with pytest.raises(Interrupted):
        context.run(["sh", "-c", program])
    assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()


def test_a_failure_of_simunix_is_one_line(context: Context) -> None:
    with pytest.raises(MeasurementError, match=r"no\.yaml"):
        context.scenario(Path("no.yaml"))


def test_last_words() -> None:
    assert Finished(2, "", "warning\nsimunix: no such host\n", 0.1).last_words == "no such host"
    assert Finished(2, "", "", 0.1).last_words == "it said nothing"
