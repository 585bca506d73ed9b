"""How much of a run's work could be done at one time: by hand, and what must hold of any run."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from simunix_bench.parallel.critical_path import Message, Turn, causal, conservative, most_of_a_host, total, windowed

HOSTS = ("a", "b", "c", "d")
LEAST_NS = 5
"""The least latency of the messages that are drawn: bounds with a lookahead up to it hold."""


@st.composite
def runs(draw: st.DrawFn) -> list[Turn]:
    steps = draw(st.lists(st.tuples(st.integers(0, 8), st.sampled_from(HOSTS), st.integers(0, 50)), max_size=40))
    times = accumulate(step for step, _, _ in steps)
    return [Turn(time_ns, host, cost) for time_ns, (_, host, cost) in zip(times, steps, strict=True)]


@st.composite
def traffic(draw: st.DrawFn, turns: list[Turn]) -> list[Message]:
    if not turns:
        return []
    pieces = st.tuples(st.sampled_from(turns), st.integers(0, 3), st.integers(LEAST_NS, 30), st.sampled_from(HOSTS))
    return [
        Message(turn.time_ns + late, turn.time_ns + late + takes, turn.host, to)
        for turn, late, takes, to in draw(st.lists(pieces, max_size=20))
    ]


@given(st.data(), st.integers(1, LEAST_NS))
def test_the_bounds_are_ordered(data: st.DataObject, lookahead_ns: int) -> None:
    turns = data.draw(runs())
    messages = data.draw(traffic(turns))
    found = (
        most_of_a_host(turns),
        causal(turns, []),
        causal(turns, messages),
        conservative(turns, lookahead_ns),
        windowed(turns, lookahead_ns).critical_ns,
        total(turns),
    )
    assert found == tuple(sorted(found))


@given(runs(), st.integers(1, 60), st.integers(0, 60))
def test_a_longer_lookahead_makes_the_asynchronous_path_no_longer(turns: list[Turn], lookahead_ns: int, more_ns: int) -> None:
    assert conservative(turns, lookahead_ns + more_ns) <= conservative(turns, lookahead_ns)


@given(runs(), st.integers(1, 60))
def test_cores_lie_between_one_and_all(turns: list[Turn], lookahead_ns: int) -> None:
    found = windowed(turns, lookahead_ns, (1, 2, 3, len(HOSTS)))
    times = [found.on_cores_ns[cores] for cores in (1, 2, 3, len(HOSTS))]
    assert times == sorted(times, reverse=True)
    assert times[0] == total(turns) and times[-1] == found.critical_ns


@given(runs())
def test_with_a_lookahead_beyond_the_run_only_the_busiest_host_counts(turns: list[Turn]) -> None:
    beyond = 1 + (turns[-1].time_ns if turns else 0)
    assert windowed(turns, beyond).critical_ns == conservative(turns, beyond) == most_of_a_host(turns) == causal(turns, [])


@given(runs())
def test_without_lookahead_only_turns_of_one_moment_overlap(turns: list[Turn]) -> None:
    moments: dict[int, list[Turn]] = {}
    for turn in turns:
        moments.setdefault(turn.time_ns, []).append(turn)
    assert windowed(turns, 1).critical_ns == sum(most_of_a_host(each) for each in moments.values())


def test_a_request_and_its_answer_lie_on_the_critical_path() -> None:
    turns = [Turn(0, "a", 10), Turn(0, "b", 7), Turn(100, "b", 20), Turn(200, "a", 30), Turn(200, "c", 60)]
    messages = [Message(0, 100, "a", "b"), Message(100, 200, "b", "a")]
    assert causal(turns, messages) == 10 + 20 + 30
    assert causal(turns, []) == 60
    assert conservative(turns, 100) == 10 + 20 + 60
    assert windowed(turns, 100, (2,)).on_cores_ns == {2: 10 + 20 + 60}
    assert windowed(turns, 101).critical_ns == 27 + 60


def test_windows_of_a_longer_lookahead_may_be_cut_less_luckily() -> None:
    turns = [Turn(0, "a", 1), Turn(10, "a", 10), Turn(19, "b", 10)]
    assert windowed(turns, 10).critical_ns == 11 < windowed(turns, 15).critical_ns == 21


def test_a_message_counts_only_for_turns_after_its_arrival() -> None:
    turns = [Turn(0, "a", 50), Turn(9, "b", 1), Turn(10, "b", 1), Turn(11, "a", 5)]
    assert causal(turns, [Message(0, 10, "a", "b")]) == 55
    assert causal([*turns, Turn(12, "b", 9)], [Message(0, 10, "a", "b")]) == 60
