"""The shipped policies on a cluster that is simulated event by event."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simunix.policy import Job, Node, Release, State
from simunix.policy.backfilling import CappedEasy, Conservative, Easy, named_order
from simunix.policy.shipped import SHIPPED, make
from tests.unit.simunix.policy.simulated import Cluster, Task

NODES, CORES = 3, 4


@st.composite
def tasks(draw: st.DrawFn, exact: bool = False, cores: int = NODES * CORES) -> list[Task]:
    """Jobs that fit on the cluster; `exact`: jobs that run as long as their limits."""
    found, moment = [], 0.0
    for _ in range(draw(st.integers(1, 12))):
        moment += draw(st.sampled_from([0, 1, 5, 30]))
        run = draw(st.integers(1, 60))
        limit = run if exact else run + draw(st.integers(0, 60))
        found.append(Task(moment, run, limit, draw(st.integers(1, cores))))
    return found


OPTIONS: dict[str, dict[str, float]] = {"capped-easy": {"cap": 1000, "idle": 10, "core": 5}}


@pytest.mark.parametrize("name", [name for name in SHIPPED if name != "multifactor"])  # the RJMS starts its jobs
@settings(max_examples=20, deadline=None)
@given(jobs=tasks())
def test_every_job_runs_and_no_core_is_given_twice(name: str, jobs: list[Task]) -> None:
    cluster = Cluster(jobs, NODES, CORES)
    starts = cluster.run(make(name, OPTIONS.get(name, {})))
    assert len(starts) == len(jobs) and cluster.refusals == []


@settings(max_examples=50, deadline=None)
@given(jobs=tasks())
def test_first_come_first_served_lets_nobody_overtake(jobs: list[Task]) -> None:
    starts = Cluster(jobs, NODES, CORES).run(make("fcfs", {}))
    assert list(starts.values()) == sorted(starts.values())


def easy_by_hand(jobs: list[Task], cores: int) -> dict[str, float]:
    """Return the start of each job under EASY on one node, by counting free cores: an independent simulation."""
    starts: dict[str, float] = {}
    ids = [str(rank) for rank in range(1, len(jobs) + 1)]
    task = dict(zip(ids, jobs, strict=True))
    now = 0.0
    while len(starts) < len(jobs):
        running = [id for id in starts if starts[id] + task[id].run > now]
        free = cores - sum(task[id].cores for id in running)
        queue = [id for id in ids if id not in starts and task[id].submit <= now]
        while queue and task[queue[0]].cores <= free:
            free -= task[queue[0]].cores
            running.append(queue[0])
            starts[queue.pop(0)] = now
        if queue:
            shadow, extra = now, free
            for id in sorted(running, key=lambda id: max(starts[id] + task[id].limit, now + 1)):
                shadow, extra = max(starts[id] + task[id].limit, now + 1), extra + task[id].cores
                if extra >= task[queue[0]].cores and all(
                    max(starts[other] + task[other].limit, now + 1) != shadow or other in running[: running.index(id) + 1]
                    for other in running
                ):
                    break
            extra = free + sum(task[id].cores for id in running if max(starts[id] + task[id].limit, now + 1) <= shadow)
            extra -= task[queue[0]].cores
            for id in queue[1:]:
                fits = task[id].cores <= free and (now + task[id].limit <= shadow or task[id].cores <= extra)
                if fits:
                    free -= task[id].cores
                    extra -= task[id].cores if now + task[id].limit > shadow else 0
                    starts[id] = now
        moments = [starts[id] + task[id].run for id in starts] + [each.submit for each in jobs]
        now = min((moment for moment in moments if moment > now), default=now)
    return starts


@settings(max_examples=100, deadline=None)
@given(jobs=tasks(cores=8))
def test_easy_starts_jobs_when_a_simulation_by_hand_does(jobs: list[Task]) -> None:
    assert Cluster(jobs, 1, 8).run(Easy()) == easy_by_hand(jobs, 8)


@settings(max_examples=50, deadline=None)
@given(jobs=tasks(exact=True))
def test_conservative_backfilling_delays_no_job_beyond_first_come_first_served(jobs: list[Task]) -> None:
    """With exact limits on one node, each job starts no later than under FCFS."""
    cores = NODES * CORES
    conservative = Cluster(jobs, 1, cores).run(Conservative())
    served = Cluster(jobs, 1, cores).run(make("fcfs", {}))
    assert all(conservative[id] <= served[id] for id in served)


def test_easy_fills_a_hole_and_does_not_delay_the_head() -> None:
    jobs = [Task(0, 100, 100, 6), Task(1, 50, 50, 8), Task(2, 90, 90, 2), Task(3, 200, 200, 2)]
    starts = Cluster(jobs, 1, 8).run(Easy())
    assert starts == {"1": 0.0, "2": 100.0, "3": 2.0, "4": 150.0}
    assert Cluster(jobs, 1, 8).run(make("fcfs", {})) == {"1": 0.0, "2": 100.0, "3": 150.0, "4": 150.0}


@pytest.mark.parametrize(
    ("name", "order"),
    [("sjf", ["1", "4", "2", "3"]), ("fcfs", ["1", "2", "3", "4"]), ("wfp3", ["1", "4", "2", "3"])],
)
def test_orders_of_the_queue(name: str, order: list[str]) -> None:
    jobs = [Task(0, 100, 100, 8), Task(1, 60, 60, 5), Task(2, 80, 80, 8), Task(3, 20, 20, 6)]
    starts = Cluster(jobs, 1, 8).run(make(name, {}))
    assert sorted(starts, key=lambda id: starts[id]) == order


SCORED = Job("1", "j", "u", "", "", cores=8, nodes=1, limit_s=100.0, submit_s=1010.0, state="PENDING")
FIRST = replace(SCORED, id="0", submit_s=1000.0)


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("sjf", 100),
        ("wfp3", -((200 / 100) ** 3) * 8),
        ("unicep", -200 / (3 * 100)),
        ("f1", 2 * 8 + 870),
        ("f2", 10 * 8 + 25_600),
        ("f3", 100 * 8 + 6_860_000),
        ("f4", 100 * sqrt(8) + 530_000),
    ],
)
def test_scores_are_those_of_the_papers(name: str, score: float) -> None:
    """8 cores, a limit of 100 s, submitted 10 s after the first job, 200 s before now."""
    policy = named_order(name)
    policy.queue(State(now=1010.0, waiting=[FIRST, SCORED], running=[], nodes=[]))
    assert policy.score(SCORED, 1210.0) == pytest.approx(score)


def test_multifactor_adds_weighted_factors() -> None:
    waiting = [replace(SCORED, user="light"), replace(SCORED, id="2", user="heavy", submit_s=800.0)]
    used = replace(FIRST, user="heavy", start_s=500.0, end_s=1010.0)
    state = State(now=1010.0, waiting=waiting, running=[], nodes=[Node("n", 16, 16, "idle")], ended=[used])
    decided = make("multifactor", {"max_age_s": 420.0}).decide(state)
    # age 0 and 0.5, size 0.5; all use is the heavy one's, twice an equal part for two users
    assert list(decided) == [Release("1", 1 + 500 + 10000), Release("2", 1 + 500 + 500 + 2500)]


def test_a_power_cap_holds() -> None:
    jobs = [Task(0, 10, 10, 2) for _ in range(6)]
    starts = Cluster(jobs, NODES, CORES).run(CappedEasy(cap=NODES * 50 + 4 * 10, idle=50, core=10))
    assert sorted(starts.values()) == [0, 0, 10, 10, 20, 20]
