"""A loop that makes one process as soon as the last has ended pays for them soon, a script of some commands does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import Simunix

LOOP = "while :; do /bin/true; done"
SCRIPT = "begin=$(date +%s%N); for i in $(seq 60); do /bin/true; done; echo $(($(date +%s%N) - begin))"


@pytest.mark.slow
def test_a_loop_of_births_pays_within_a_second(simunix: Simunix, tmp_path: Path) -> None:
    """Each birth and image cost 1 ms once the loop is found out: a second holds some hundreds of them, not thousands."""
    simunix("run", "--out", tmp_path / "out", "--", "timeout", "-s", "KILL", "1", "sh", "-c", LOOP)
    ended = json.loads((tmp_path / "out/run.json").read_text())["counts"]["process_exit"]
    assert 500 < ended < 900


def test_some_commands_one_after_the_other_cost_little(simunix: Simunix) -> None:
    run = simunix("run", "--", "sh", "-c", SCRIPT)
    assert run.returncode == 0
    assert int(run.stdout) < 10_000_000  # virtual nanoseconds
