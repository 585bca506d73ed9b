"""The max-min solver in C: what makes a sharing right, on random systems, and against the plain model."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.network.solver import MaxMin
from tests.unit.rsg_server.network.maxmin_model import INFINITE, Pipe, Use, share

CLOSE = 1e-9
System = tuple[list[Pipe], list[Use]]


@st.composite
def systems(draw: st.DrawFn) -> System:
    """Up to ten variables over up to six links, with odd capacities, weights like cross-traffic's, penalties and bounds."""
    pipes = draw(st.lists(st.builds(Pipe, st.floats(1e3, 1e11), st.sampled_from([False, False, True])), min_size=1, max_size=6))
    weights = st.sampled_from([1.0, 0.05, 1.05, 2.0])
    uses = st.builds(
        Use,
        st.dictionaries(st.integers(0, len(pipes) - 1), weights, min_size=1, max_size=4).map(
            lambda chosen: tuple(chosen.items())
        ),
        st.floats(1e-5, 10.0),
        st.one_of(st.just(INFINITE), st.floats(1e2, 1e11)),
    )
    return pipes, draw(st.lists(uses, max_size=10))


def built(pipes: Sequence[Pipe], uses: Sequence[Use]) -> tuple[MaxMin, list[int]]:
    """The system in C, not solved yet, and the numbers of its variables."""
    system = MaxMin()
    for pipe in pipes:
        system.add_link(pipe.capacity, pipe.is_fat)
    return system, [system.add(use.weights, use.penalty, use.bound) for use in uses]


def solved(pipes: Sequence[Pipe], uses: Sequence[Use]) -> list[float]:
    system, numbers = built(pipes, uses)
    system.solve()
    return [system.rate(number) for number in numbers]


def close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=CLOSE)


@given(systems())
def test_agrees_with_the_plain_model(system: System) -> None:
    for ours, model in zip(solved(*system), share(*system), strict=True):
        assert close(ours, model)


@given(systems())
def test_no_link_carries_more_than_its_capacity(system: System) -> None:
    pipes, uses = system
    rates = solved(pipes, uses)
    for link, pipe in enumerate(pipes):
        parts = [rate * dict(use.weights)[link] for rate, use in zip(rates, uses, strict=True) if link in dict(use.weights)]
        assert (max(parts, default=0.0) if pipe.is_fat else sum(parts)) <= pipe.capacity * (1 + CLOSE)


def has_reason(number: int, pipes: Sequence[Pipe], uses: Sequence[Use], rates: Sequence[float]) -> bool:
    """At its bound, or on a full link on which nobody has reached a higher level."""
    use, rate = uses[number], rates[number]
    if close(rate, use.bound):
        return True
    for link, weight in use.weights:
        if pipes[link].is_fat:
            if close(rate * weight, pipes[link].capacity):
                return True
            continue
        users = [other for other in range(len(uses)) if link in dict(uses[other].weights)]
        is_full = sum(rates[other] * dict(uses[other].weights)[link] for other in users) >= pipes[link].capacity * (1 - CLOSE)
        if is_full and max(rates[other] * uses[other].penalty for other in users) <= rate * use.penalty * (1 + CLOSE):
            return True
    return False


@given(systems())
def test_every_rate_has_its_reason(system: System) -> None:
    rates = solved(*system)
    for number in range(len(rates)):
        assert rates[number] > 0
        assert has_reason(number, *system, rates)


@given(systems(), st.integers(0, 5), st.floats(1, 10))
def test_more_capacity_never_slows_the_slowest(system: System, which: int, times: float) -> None:
    pipes, uses = system
    wider = list(pipes)
    wider[which % len(pipes)] = Pipe(pipes[which % len(pipes)].capacity * times, pipes[which % len(pipes)].is_fat)
    before = [rate * use.penalty for rate, use in zip(solved(pipes, uses), uses, strict=True)]
    after = [rate * use.penalty for rate, use in zip(solved(wider, uses), uses, strict=True)]
    assert min(after, default=0) >= min(before, default=0) * (1 - CLOSE)


@given(systems(), st.randoms(use_true_random=False))
def test_the_order_does_not_matter(system: System, chance: random.Random) -> None:
    pipes, uses = system
    order = chance.sample(range(len(uses)), len(uses))
    rates = solved(pipes, uses)
    shuffled = solved(pipes, [uses[number] for number in order])
    for place, number in enumerate(order):
        assert math.isclose(shuffled[place], rates[number], rel_tol=1e-12)


@given(systems(), st.data())
def test_solving_again_after_changes_is_solving_from_scratch(system: System, data: st.DataObject) -> None:
    pipes, uses = list(system[0]), list(system[1])
    there, numbers = built(pipes, [])[0], []
    present: list[Use] = []
    for use in uses:
        numbers.append(there.add(use.weights, use.penalty, use.bound))
        present.append(use)
        match data.draw(st.sampled_from(["solve", "go on", "remove", "capacity", "terms"])):
            case "solve":
                there.solve()
            case "remove":
                leaving = data.draw(st.integers(0, len(present) - 1))
                there.remove(numbers.pop(leaving))
                del present[leaving]
            case "capacity":
                link, capacity = data.draw(st.integers(0, len(pipes) - 1)), data.draw(st.floats(1e3, 1e11))
                there.set_capacity(link, capacity)
                pipes[link] = Pipe(capacity, pipes[link].is_fat)
            case "terms":
                changing = data.draw(st.integers(0, len(present) - 1))
                present[changing] = Use(
                    present[changing].weights, data.draw(st.floats(1e-5, 10.0)), data.draw(st.floats(1e2, 1e11))
                )
                there.set_terms(numbers[changing], present[changing].penalty, present[changing].bound)
            case _:
                pass
    there.solve()
    for number, scratch in zip(numbers, solved(pipes, present), strict=True):
        assert close(there.rate(number), scratch)


def test_one_bottleneck_after_another() -> None:
    """A long flow shares 100 with one and 60 with two others: 20 each there, so that 80 are left here."""
    system, (long, here, *there) = built(
        [Pipe(100), Pipe(60)], [Use(((0, 1), (1, 1))), Use(((0, 1),)), Use(((1, 1),)), Use(((1, 1),))]
    )
    assert system.solve() == [long, here, *there]
    assert [system.rate(number) for number in (long, here, *there)] == pytest.approx([20, 80, 20, 20])
    assert [system.load(0), system.load(1)] == pytest.approx([100, 60])


def test_penalties_share_inversely_and_bounds_leave_the_rest_to_others() -> None:
    rates = solved([Pipe(90)], [Use(((0, 1),), penalty=2), Use(((0, 1),), penalty=1), Use(((0, 1),), bound=30)])
    assert rates == pytest.approx([20, 40, 30])


def test_what_is_not_connected_is_not_solved_again() -> None:
    system, _ = built([Pipe(10), Pipe(10)], [Use(((0, 1),)), Use(((0, 1),)), Use(((1, 1),)), Use(((1, 1),))])
    system.solve()
    before = system.work
    fifth = system.add([(1, 1.0)])
    assert sorted(system.solve()) == [2, 3, fifth]
    assert system.work - before == 3


def test_a_link_that_can_never_be_full_connects_nobody() -> None:
    """Three pairs of variables, each pair on a link of its own, and all on one that is wide enough for all of them."""
    system, _ = built([Pipe(10), Pipe(10), Pipe(10), Pipe(1000)], [Use(((number // 2, 1), (3, 1))) for number in range(6)])
    system.solve()
    before = system.work
    system.remove(0)
    assert system.solve() == [1]
    assert system.work - before == 1


def test_a_fat_pipe_gives_each_user_all_of_it() -> None:
    assert solved([Pipe(10, True)], [Use(((0, 1),)), Use(((0, 1),)), Use(((0, 2),))]) == [10, 10, 5]


def test_a_link_without_capacity_stops_its_users_only() -> None:
    assert solved([Pipe(0), Pipe(8)], [Use(((0, 1), (1, 1))), Use(((1, 1),))]) == [0, 8]


def test_as_many_at_a_time_as_the_link_takes() -> None:
    """First come, first served; acknowledgements (weight below 1) are not counted."""
    system = MaxMin()
    link = system.add_link(12, concurrency=2)
    first, second, third = (system.add([(link, 1.0)]) for _ in range(3))
    system.add([(link, 0.05)], bound=1)
    system.solve()
    assert [system.rate(number) for number in (first, second, third)] == pytest.approx([5.975, 5.975, 0])
    system.remove(first)
    system.solve()
    assert [system.rate(number) for number in (second, third)] == pytest.approx([5.975, 5.975])


def test_numbers_far_apart_keep_their_digits() -> None:
    """What is left for the last is a millionth of the link, and its penalty a billion times the others'."""
    uses = [Use(((0, 1),), penalty=1e-6, bound=(1e9 - 1e3) / 1000)] * 1000 + [Use(((0, 1),), penalty=1e3)] * 2
    rates = solved([Pipe(1e9)], uses)
    assert rates[-2:] == pytest.approx([500, 500], rel=1e-6)
