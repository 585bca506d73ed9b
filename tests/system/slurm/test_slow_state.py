"""slurmctld with its state on a file server: what clients and the scheduler wait for is what the storage model says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.needs import needs
from tests.system.runs import run, run_twice

SCENARIO = ROOT / "scenarios/slow-state.yaml"
pytestmark = [
    pytest.mark.slow,
    needs("slurmctld"),
]
ROUND_TRIP_MS = 4 * 0.05
"""Of the scenario: two links there, two back."""
OPENS_OF_A_START = 2
"""Of a job that is started slurmctld reads script and environment: they are in memory, but each open asks the server."""


def answers_ms(text: str) -> list[float]:
    return [int(number) / 1000 for number in re.findall(r"answered after (\d+) us", text)]


def operations(job: int) -> int:
    """Folder of the job, script and environment, each made and brought to the server by close; one of ten folders above."""
    return 6 if job <= 10 else 5


def sdiag(text: str, name: str) -> int:
    found = re.search(rf"{name}:? +(?:.*ave_time:)?(\d+)", text)
    assert found is not None, text
    return int(found[1])


@pytest.mark.parametrize("latency_ms", [0, 20, 100])
def test_sbatch_waits_for_each_operation_on_the_state(simunix: Simunix, tmp_path: Path, latency_ms: int) -> None:
    ran = run(simunix, SCENARIO, tmp_path / "out", "--set", f"storages.0.latency={latency_ms}ms")
    found = answers_ms(ran.output("controller", "client"))
    assert len(found) == 20, ran.everything("controller", "client")
    without = found[-1] - operations(20) * (latency_ms + ROUND_TRIP_MS)
    assert 0 <= without < 1, "what sbatch takes besides"
    for job, answer_ms in enumerate(found, start=1):
        expected_ms = operations(job) * (latency_ms + ROUND_TRIP_MS)
        assert answer_ms == pytest.approx(expected_ms + without, rel=0.01, abs=0.15), job


def test_sdiag_tells_what_the_model_says(simunix: Simunix, tmp_path: Path) -> None:
    """Cycles of the scheduler grow with the round trip, answers with round trip and disk."""
    near, _ = run_twice(simunix, SCENARIO, tmp_path)
    far = run(simunix, SCENARIO, tmp_path / "far", "--set", "network.latency=5ms")
    for ran, round_trip_ms in ((near, ROUND_TRIP_MS), (far, 20)):
        text = ran.output("controller", "client")
        answer_us = sdiag(text, "REQUEST_SUBMIT_BATCH_JOB.*")
        assert answer_us == pytest.approx(5.5 * 1000 * (20 + round_trip_ms), rel=0.01)
        assert sdiag(text, "Max cycle") == pytest.approx(OPENS_OF_A_START * 1000 * round_trip_ms, abs=60)
