"""Placing jobs on nodes, and the free cores of coming moments."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from simunix.policy.horizon import Horizon
from simunix.policy.placement import fill, place
from simunix.policy.records import Job, Node, State

FREE = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 5), min_size=1)


def job(cores: int, nodes: int = 1, limit_s: float = 60.0, **more: object) -> Job:
    return Job("1", "j", "u", "", "", cores, nodes, limit_s, 0.0, "PENDING", **more)  # type: ignore[arg-type]


@given(free=FREE, cores=st.integers(1, 20), nodes=st.integers(1, 4))
def test_a_job_gets_its_cores_on_enough_nodes_or_does_not_fit(free: dict[str, int], cores: int, nodes: int) -> None:
    shares = place(job(cores, nodes), free)
    if shares is None:
        usable = sorted((cores for cores in free.values() if cores), reverse=True)
        assert sum(usable) < cores or len(usable) < nodes or cores < nodes
        return
    assert sum(shares.values()) == cores and len(shares) >= nodes
    assert all(0 < share <= free[name] for name, share in shares.items())


def test_the_fullest_node_that_is_enough_is_taken_then_the_emptiest_nodes() -> None:
    free = {"a": 4, "b": 2, "c": 3, "d": 4}
    assert place(job(2), free) == {"b": 2}
    assert place(job(6), free) == {"a": 4, "d": 2}
    assert place(job(2, nodes=2), free) == {"a": 1, "d": 1}
    assert place(job(14), free) is None


def test_cores_are_filled_in_the_order_of_the_rjms() -> None:
    assert fill(6, ["n2", "n1"], {"n1": 4, "n2": 4}) == {"n1": 4, "n2": 2}
    assert fill(2, ["n1", "n2"], {"n1": 4, "n2": 4}) == {"n1": 1, "n2": 1}


def horizon(*running: tuple[float, int]) -> Horizon:
    """A node of 8 cores at the time 100 with running jobs, by the end of their limits and their cores."""
    jobs = [job(cores, limit_s=end - 50, start_s=50.0, placed={"n": cores}) for end, cores in running]
    return Horizon(State(now=100.0, waiting=[], running=jobs, nodes=[Node("n", 8, 8 - sum(c for _, c in running), "mixed")]))


def test_the_first_fit_is_at_an_end() -> None:
    ahead = horizon((120, 4), (150, 3))
    assert ahead.first_fit(job(1)) == (100.0, {"n": 1})
    assert ahead.first_fit(job(5)) == (120.0, {"n": 5})
    assert ahead.first_fit(job(8)) == (150.0, {"n": 8})
    assert ahead.first_fit(job(9)) is None


def test_a_reservation_takes_cores_for_its_time() -> None:
    ahead = horizon((120, 4))
    ahead.reserve({"n": 8}, 120.0, 30.0)
    assert ahead.first_fit(job(4, limit_s=20)) == (100.0, {"n": 4})
    assert ahead.first_fit(job(4, limit_s=21)) == (150.0, {"n": 4})
    assert ahead.free_during(100.0, inf) == {"n": 0}


def test_a_job_beyond_its_limit_keeps_its_cores_for_now() -> None:
    assert horizon((90, 8)).first_fit(job(1)) == (101.0, {"n": 1})
