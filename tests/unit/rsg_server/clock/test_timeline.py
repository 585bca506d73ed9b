"""The timeline against a sorted list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from rsg_server.clock.timeline import Event, Timeline

moments = st.integers(0, 12)


class TimelineAgainstList(RuleBasedStateMachine):
    """The model keeps (moment, number in order of adding); numbers also name the events."""

    def __init__(self) -> None:
        super().__init__()
        self.timeline = Timeline()
        self.model: list[tuple[int, int]] = []
        self.events: list[Event] = []
        self.happened: list[int] = []

    @rule(at_ns=moments)
    def add(self, at_ns: int) -> None:
        number = len(self.events)
        self.events.append(self.timeline.add(at_ns, lambda: self.happened.append(number)))
        self.model.append((at_ns, number))

    @rule(data=st.data())
    def cancel(self, data: Any) -> None:
        if self.events:
            number = data.draw(st.integers(0, len(self.events) - 1))
            self.events[number].cancel()  # again, or after it has happened: nothing
            self.model = [entry for entry in self.model if entry[1] != number]

    @rule(now_ns=moments)
    def run_due(self, now_ns: int) -> None:
        before = len(self.happened)
        self.timeline.run_due(now_ns)
        due = sorted(entry for entry in self.model if entry[0] <= now_ns)
        self.model = [entry for entry in self.model if entry[0] > now_ns]
        assert self.happened[before:] == [number for _, number in due]

    @invariant()
    def agrees(self) -> None:
        assert len(self.timeline) == len(self.model)
        assert self.timeline.next_ns == (min(self.model)[0] if self.model else None)


TestTimeline = TimelineAgainstList.TestCase


def test_what_an_event_adds_for_the_present_happens_in_the_same_run() -> None:
    timeline, seen = Timeline(), list[str]()

    def first() -> None:
        seen.append("first")
        timeline.add(5, lambda: seen.append("child"))
        timeline.add(6, lambda: seen.append("too late"))

    timeline.add(5, first)
    timeline.add(5, lambda: seen.append("second"))
    timeline.run_due(5)
    assert seen == ["first", "second", "child"]
    assert timeline.next_ns == 6


def test_an_event_may_cancel_another_of_the_same_moment() -> None:
    timeline, seen = Timeline(), list[str]()
    doomed: list[Event] = []
    timeline.add(1, lambda: doomed[0].cancel())
    doomed.append(timeline.add(1, lambda: seen.append("doomed")))
    timeline.run_due(1)
    assert seen == [] and len(timeline) == 0


def test_an_event_that_cancels_itself_is_counted_once() -> None:
    timeline = Timeline()
    own: list[Event] = []
    own.append(timeline.add(1, lambda: own[0].cancel()))
    timeline.add(2, lambda: None)
    timeline.run_due(1)
    assert len(timeline) == 1 and timeline.next_ns == 2


def test_cancelled_events_do_not_pile_up() -> None:
    timeline = Timeline()
    kept = timeline.add(10**9, lambda: None)
    for moment in range(5000):
        timeline.add(moment, lambda: None).cancel()
    assert len(timeline) == 1
    assert timeline.core.handles < 10  # the same ones again
    kept.cancel()
    assert timeline.next_ns is None


@given(st.lists(moments, max_size=30))
def test_events_of_one_moment_keep_the_order_of_adding(at: list[int]) -> None:
    timeline, seen = Timeline(), list[tuple[int, int]]()

    def note(entry: tuple[int, int]) -> Callable[[], None]:
        return lambda: seen.append(entry)

    for number, moment in enumerate(at):
        timeline.add(moment, note((moment, number)))
    timeline.run_due(max(at, default=0))
    assert seen == sorted(seen) and len(seen) == len(at)
