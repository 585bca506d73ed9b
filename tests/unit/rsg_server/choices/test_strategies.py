"""Strategies take what exists, take the same again, and are repeated by the list of what they have taken."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rsg_server.choices.places import (
    CUT,
    CUTS,
    DELAY,
    DELAYS_NS,
    LONGEST_SLICE,
    LOSE,
    LOST,
    PAUSE,
    PAUSES_NS,
    PLACES,
    SLICE,
    TIE,
    TURN,
    WAKE,
)
from rsg_server.choices.source import Choice, Choices, Strategy
from rsg_server.choices.strategies import Baseline, DelayBounded, Pct, Random, Recorded, Reseeded

ASKED = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([TURN, WAKE]), st.lists(st.integers(1, 9), min_size=2, max_size=6, unique=True)),
        st.tuples(st.sampled_from([SLICE, PAUSE, TIE]), st.lists(st.integers(1, 9), min_size=1, max_size=1)),
        st.tuples(st.sampled_from([DELAY, CUT, LOSE]), st.just([])),
    ),
    max_size=60,
)
Asked = list[tuple[str, list[int]]]


def made(kind: str, seed: int) -> Strategy:
    """A strategy by its name."""
    if kind == "random":
        return Random(seed, 100)
    return Pct(seed, 3, 20) if kind == "pct" else DelayBounded(seed, 4, 40)


def alternatives(place: str, actors: list[int]) -> int:
    counts = {SLICE: LONGEST_SLICE + 1, PAUSE: len(PAUSES_NS), DELAY: len(DELAYS_NS), CUT: len(CUTS), TIE: 2, LOSE: LOST}
    return counts.get(place, len(actors))


def ask(strategy: Strategy, asked: Asked) -> tuple[list[int], list[Choice]]:
    """What a strategy takes, and the list that is kept of it."""
    choices = Choices(strategy, frozenset(PLACES))
    taken = []
    for place, actors in asked:
        count = alternatives(place, actors)
        taken.append(choices.choose(place, count, actors))
        if taken[-1]:
            choices.note(place, count, taken[-1], "")
    return taken, choices.taken


@given(ASKED, st.sampled_from(["random", "pct", "delay"]), st.integers(0, 1000))
def test_takes_what_exists_and_the_same_again(asked: Asked, kind: str, seed: int) -> None:
    taken, _ = ask(made(kind, seed), asked)
    assert all(0 <= one < alternatives(place, actors) for one, (place, actors) in zip(taken, asked, strict=True))
    assert ask(made(kind, seed), asked)[0] == taken


@given(ASKED, st.sampled_from(["random", "pct", "delay"]), st.integers(0, 1000))
def test_the_list_repeats_the_run(asked: Asked, kind: str, seed: int) -> None:
    taken, kept = ask(made(kind, seed), asked)
    again = Recorded(kept)
    assert ask(again, asked)[0] == taken
    assert again.departure is None


@given(ASKED)
def test_the_baseline_takes_nothing(asked: Asked) -> None:
    assert ask(Baseline(), asked) == ([0] * len(asked), [])


def test_a_choice_that_does_not_fit_is_told_and_not_taken() -> None:
    wrong_place, too_many = Choice(0, SLICE, 5, 1), Choice(1, TURN, 9, 8)
    strategy = Recorded([wrong_place, too_many])
    assert strategy.take(0, TURN, 2, [1, 2]) == 0
    assert strategy.take(1, TURN, 3, [1, 2, 3]) == 0
    assert strategy.departure is wrong_place


def test_pct_runs_the_highest_priority_until_it_changes() -> None:
    strategy = Pct(1, 1, 10)
    first = [strategy.take(number, TURN, 3, [1, 2, 3]) for number in range(10)]
    assert len(set(first)) == 1, "without a change the same actor runs as long as it is ready"
    changing = Pct(1, 2, 1)
    before = [1, 2, 3][changing.take(0, TURN, 3, [1, 2, 3])]
    assert changing.take(1, SLICE, LONGEST_SLICE + 1, [before]) > 0, "the only turn of the run is where priorities change"
    assert [1, 2, 3][changing.take(2, TURN, 3, [1, 2, 3])] != before


def test_delay_bounded_departs_at_most_so_often() -> None:
    for seed in range(50):
        taken = [DelayBounded(seed, 3, 100).take(number, TURN, 2, [1, 2]) for number in range(100)]
        assert sum(taken) <= 3


def test_pct_may_put_off_whom_it_has_interrupted_and_nobody_else() -> None:
    pauses = set()
    for seed in range(100):
        strategy = Pct(seed, 2, 1)
        assert strategy.take(0, PAUSE, len(PAUSES_NS), [1]) == 0
        strategy.take(1, SLICE, LONGEST_SLICE + 1, [1])
        pauses.add(strategy.take(2, PAUSE, len(PAUSES_NS), [1]))
        assert strategy.take(3, PAUSE, len(PAUSES_NS), [1]) == 0
    assert pauses == set(range(len(PAUSES_NS)))


def test_random_takes_every_delay_and_every_pause() -> None:
    for place, count in ((DELAY, len(DELAYS_NS)), (PAUSE, len(PAUSES_NS))):
        taken = {strategy.take(n, place, count, [1]) for strategy in (Random(s, 100) for s in range(200)) for n in range(50)}
        assert taken == set(range(count))


def test_each_seed_draws_how_often_it_departs() -> None:
    assert len({tuple(Random(seed, 100).rates.values()) for seed in range(40)}) > 10


def test_a_reseeded_run_leaves_the_recorded_one_at_the_moment() -> None:
    recorded = Recorded([Choice(number, TURN, 9, 8) for number in range(10)])
    strategy = Reseeded(recorded, Baseline(), 5)
    taken = []
    for number in range(10):
        strategy.now_ns = lambda number=number: number  # type: ignore[misc]
        taken.append(strategy.take(number, TURN, 9, list(range(9))))
    assert taken == [8] * 5 + [0] * 5
