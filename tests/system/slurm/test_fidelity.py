"""The comparison's emulated arms: 60 mixed jobs under charged; what is learned of it foretells two equal runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.launch.interrupts import Interrupts
from simunix_bench.context import Context
from simunix_bench.fidelity.comparison import difference
from simunix_bench.fidelity.measure import measure

pytestmark = [pytest.mark.slow, pytest.mark.slurm]

OUTCOMES = {
    "cancelled": "CANCELLED",
    "unborn": "CANCELLED",
    "never": "CANCELLED",
    "failing": "FAILED",
    "overtime": "TIMEOUT",
    "overtime-later": "TIMEOUT",
    "requeued": "COMPLETED",
    "victim": "COMPLETED",
    "suspended": "COMPLETED",
    "reserved": "COMPLETED",
    "array[6]": "COMPLETED",
}


@pytest.mark.endurance
def test_mixed_jobs_end_as_the_script_has_it_and_two_modelled_runs_are_one(tmp_path: Path) -> None:
    arms = ("charged", "modelled", "modelled")
    context = Context(tmp_path, False, Interrupts(), lambda text: None)
    charged, one, two = measure(context, [(arm, "mixed") for arm in arms])
    for run in (charged, one):
        states = {job.key: job.state for job in run.jobs}
        assert len(states) == 60
        assert {key: states[key] for key in OUTCOMES} == OUTCOMES
        restarts = {job.key: job.restarts for job in run.jobs}
        assert restarts["requeued"] == restarts["victim"] == 1
    assert one.digest == two.digest != ""
    assert difference(one, two).most_s == 0
