"""The study of real OAR: the traces are those of the real runs, and its numbers are what arithmetic says."""

from __future__ import annotations

import pytest

from simunix.workload.formats.swf import read_swf
from simunix.workload.transforms.selection import Selection, select_jobs
from simunix_bench.oar_real import apart, own_numbers, real_courses, run_name
from tests.conftest import ROOT


@pytest.mark.parametrize(("workload", "repetition"), [("1", "1"), ("2", "1"), ("3", "0")])
def test_traces_are_those_of_the_real_runs(workload: str, repetition: str) -> None:
    jobs, skipped = select_jobs(read_swf(ROOT / f"scenarios/traces/oar-real-{workload}.swf").records, Selection())
    real = real_courses()[workload][f"real {repetition}"]
    assert not skipped and len(jobs) == len(real) == 250
    assert {job.id: job.submit_s for job in jobs} == {job: submitted for job, (submitted, _, _) in real.items()}
    assert {job.id: job.runtime_s for job in jobs} == {job: end - start for job, (_, start, end) in real.items()}
    assert {job.cores % 4 for job in jobs} == {0} and max(job.cores for job in jobs) == 128
    assert all(job.runtime_s <= job.requested_s for job in jobs)


def test_numbers_of_two_courses() -> None:
    one = {1: (0.0, 0.0, 10.0), 2: (1.0, 10.0, 20.0), 3: (2.0, 20.0, 30.0)}
    two = {1: (0.0, 4.0, 14.0), 2: (1.0, 24.0, 34.0), 3: (2.0, 14.0, 24.0)}
    assert own_numbers("one", one) == "| one | 3 | 9 | 9 | 18 | 30 |"
    assert apart(("one", "two"), one, two).startswith("| one, two | 8 | 6 | 14 | 33.3 | ")


def test_a_run_is_named_by_its_seed_and_by_what_of_oar_conf_it_varies() -> None:
    trace = "workload.trace=traces/oar-real-2.swf"
    assert run_name({"seed": 0, "overrides": [trace]}) == "ours"
    assert run_name({"seed": 1, "overrides": [trace]}) == "ours, seed 1"
    faster = "oar.configuration.SCHEDULER_MIN_TIME_BETWEEN_2_CALLS=0"
    assert run_name({"seed": 0, "overrides": [trace, faster]}) == "ours, 0 s"
    queued = "oar.configuration.SCHEDULER_JOB_SECURITY_TIME=60"
    assert run_name({"seed": 0, "overrides": [queued]}) == "ours, SCHEDULER_JOB_SECURITY_TIME=60"
