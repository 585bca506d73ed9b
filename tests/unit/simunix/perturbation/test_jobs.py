"""Perturbed jobs: what is drawn for one depends on no other, and nothing comes out that no run could have."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix.perturbation.jobs import perturbed_jobs
from simunix.scenario.perturb_section import PerturbSection
from simunix.workload.job import Job, Work
from simunix.workload.request import Request

ALL = PerturbSection(submission=True, run_time=True, ties=True)
JOBS = st.lists(
    st.builds(
        Job,
        id=st.integers(1, 500),
        submit_s=st.sampled_from([0.0, 0.0, 7.0, 100.0]),
        runtime_s=st.floats(0, 1e5),
        requested_s=st.floats(1, 1e5) | st.just(math.inf),
        cores=st.integers(1, 8),
        user=st.integers(-1, 3),
    ),
    max_size=20,
    unique_by=lambda job: job.id,
)


def perturbed(jobs: list[Job], section: PerturbSection = ALL, seed: int = 3) -> dict[int, Job]:
    return {job.id: job for job in perturbed_jobs(jobs, section, seed, "w.swf")}


@given(JOBS)
def test_no_job_is_lost_early_or_negative(jobs: list[Job]) -> None:
    found = perturbed_jobs(jobs, ALL, 3, "w.swf")
    assert [job.submit_s for job in found] == sorted(job.submit_s for job in found)
    assert {job.id for job in found} == {job.id for job in jobs}
    for before in jobs:
        after = next(job for job in found if job.id == before.id)
        assert after.submit_s >= before.submit_s and after.runtime_s >= 0
        assert replace(after, submit_s=before.submit_s, runtime_s=before.runtime_s) == before
        assert after.runtime_s <= after.requested_s or before.runtime_s > before.requested_s


@given(JOBS, st.integers(0, 19))
def test_a_job_more_or_less_moves_no_other(jobs: list[Job], gone: int) -> None:
    fewer = [job for place, job in enumerate(jobs) if place != gone]
    all_jobs = perturbed(jobs)
    assert perturbed(fewer) == {id: job for id, job in all_jobs.items() if any(job.id == id for job in fewer)}


@given(JOBS)
def test_a_kind_more_moves_no_other(jobs: list[Job]) -> None:
    alone = perturbed(jobs, PerturbSection(run_time="5%"))
    both = perturbed(jobs, PerturbSection(run_time="5%", submission="2s", ties=True))
    assert {id: job.runtime_s for id, job in alone.items()} == {id: job.runtime_s for id, job in both.items()}


def test_another_seed_is_another_run() -> None:
    jobs = [Job(number, 0.0, 100.0, 200.0, 1) for number in range(1, 30)]
    assert perturbed(jobs, seed=1) != perturbed(jobs, seed=2)
    orders = {tuple(job.id for job in perturbed_jobs(jobs, PerturbSection(ties=True), seed, "w")) for seed in range(1, 6)}
    assert len(orders) == 5


def test_ties_alone_leave_jobs_of_different_moments_in_order() -> None:
    jobs = [Job(number, float(number // 2), 100.0, 200.0, 1) for number in range(40)]
    found = perturbed_jobs(jobs, PerturbSection(ties=True), 1, "w")
    assert [job.submit_s for job in found] == [job.submit_s for job in jobs] and found != jobs


def test_parts_of_one_submission_stay_together() -> None:
    jobs = [Job(number, 5.0, 100.0, 200.0, 1, request=Request(number=7, element=number)) for number in range(1, 9)]
    found = perturbed_jobs(jobs, ALL, 1, "table.csv")
    assert len({job.submit_s for job in found}) == 1
    assert len({job.runtime_s for job in found}) == 8


def test_history_takes_what_the_user_has_used_of_other_limits() -> None:
    jobs = [Job(1, 0, 50, 100, 1, user=1), Job(2, 1, 10, 1000, 1, user=1), Job(3, 2, 77, 100, 1, user=2), Job(4, 3, 5, 9, 1)]
    seen: dict[int, set[float]] = {}
    for seed in range(1, 40):
        for id, job in perturbed(jobs, PerturbSection(run_time="history"), seed).items():
            seen.setdefault(id, set()).add(round(job.runtime_s, 6))
    assert seen == {1: {50, 1}, 2: {500, 10}, 3: {77}, 4: {5}}


def test_history_without_limits_takes_run_times() -> None:
    jobs = [Job(1, 0, 50, math.inf, 1, user=1), Job(2, 1, 10, math.inf, 1, user=1)]
    runs = {perturbed(jobs, PerturbSection(run_time="history"), seed)[1].runtime_s for seed in range(1, 20)}
    assert runs == {50, 10}


def test_jobs_of_a_context_and_of_a_profile_stay() -> None:
    work = Work("p", "p.job", 1, "p.log")
    jobs = [Job(1, 0, 50, 100, 1), Job(2, 0, 50, 100, 1, work=work)]
    found = {job.id: job for job in perturbed_jobs(jobs, ALL, 1, "w", settled={1})}
    assert found[1] == jobs[0] and found[2].runtime_s == 50 and found[2].submit_s > 0


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("submission", "-2s", "expected a duration such as 90, '50us', '2h30m' or '1 day', got '-2s'"),
        ("submission", -2, "expected a duration such as 90, '50us', '2h30m' or '1 day', got -2"),
        ("run_time", "-5%", "expected per cent from '0%' to '200%', such as '5%', true or false, got '-5%'; or history"),
        ("run_time", "past", "expected per cent from '0%' to '200%', such as '5%', true or false, got 'past'; or history"),
        ("latency", 0.1, "expected per cent from '0%' to '200%', such as '5%', true or false, got 0.1"),
        ("computing", "900%", "expected per cent from '0%' to '200%', such as '5%', true or false, got '900%'"),
    ],
)
def test_what_would_be_negative_is_refused(key: str, value: object, expected: str) -> None:
    with pytest.raises(ValueError, match=r"(?s).*") as caught:
        PerturbSection.model_validate({key: value})
    assert expected in str(caught.value)
