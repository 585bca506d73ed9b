"""The timer queue: a heap in shared memory that says what a sorted list would, whatever is added and taken back."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from rsg_server.clock.timeline import Timeline
from rsg_server.clock.timer_queue import TimerQueue
from rsg_server.shared.clock import FOREVER_NS
from rsg_server.shared.memory import SharedMemory
from rsg_server.shared.prices import Costs
from tests.unit.rsg_server.shim import Shim

SLOTS = st.integers(1, 12)
DEEDS = st.one_of(
    st.tuples(st.just("add"), SLOTS, st.integers(0, 6)),
    st.tuples(st.just("remove"), SLOTS, st.just(0)),
    st.tuples(st.just("pop"), st.just(0), st.just(0)),
)


def make_shared() -> SharedMemory:
    return SharedMemory(0, 0, Costs())


def timer_queue_of(shared: SharedMemory, ring: Callable[[int], object]) -> TimerQueue:
    """A timer queue that rings for each deadline."""
    made = TimerQueue(shared.deadlines)
    made.on_alarm.connect(ring)
    return made


@given(st.lists(DEEDS, max_size=60))
def test_the_earliest_comes_first_and_of_one_moment_who_came_first(deeds: list[tuple[str, int, int]]) -> None:
    shared, rung = make_shared(), list[int]()
    timer_queue = timer_queue_of(shared, rung.append)
    model: dict[int, tuple[int, int]] = {}
    for count, (deed, slot, at_ns) in enumerate(deeds):
        if deed == "add":
            timer_queue.add(slot, at_ns)
            model[slot] = (at_ns, count)
        elif deed == "remove":
            timer_queue.alarm(slot).cancel()
            model.pop(slot, None)
        elif model:
            timer_queue.run_next()
            first = min(model, key=model.__getitem__)
            del model[first]
            assert rung[-1] == first
        assert timer_queue.next_ns == (min(model.values())[0] if model else FOREVER_NS)
    shared.close()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=30))
def test_timer_queue_and_timeline_are_one_order(events: list[tuple[bool, int]]) -> None:
    shared, seen = make_shared(), list[int]()
    timeline = Timeline(timer_queue := timer_queue_of(shared, seen.append))
    for number, (in_timer_queue, at_ns) in enumerate(events, 1):
        if in_timer_queue:
            timer_queue.add(number, at_ns)
        else:
            timeline.add(at_ns, lambda number=number: seen.append(number))  # type: ignore[misc]
    assert timeline.next_ns == min(at_ns for _, at_ns in events)
    timeline.run_due(9)
    assert seen == sorted(range(1, len(events) + 1), key=lambda number: (events[number - 1][1], number))
    shared.close()


def test_what_never_comes_is_not_on_it() -> None:
    shared = make_shared()
    timer_queue = timer_queue_of(shared, lambda slot: None)
    timer_queue.add(1, FOREVER_NS)
    timer_queue.add(2, -1)
    assert timer_queue.next_ns == FOREVER_NS
    timer_queue.run_next()
    shared.close()


def test_who_writes_that_something_is_due_holds_nobody_up() -> None:
    shared, rung = make_shared(), list[int]()
    timeline = Timeline(timer_queue_of(shared, rung.append))
    shim = Shim(shared)
    shim.page.due_ns = 1
    shim.close()
    timeline.run_due(5)
    assert rung == [0] and timeline.next_ns is None
    shared.close()


def test_nonsense_in_it_stays_within_it() -> None:
    shared, rung = make_shared(), list[int]()
    timer_queue = timer_queue_of(shared, rung.append)
    for slot in range(1, 6):
        timer_queue.add(slot, slot)
    shim = Shim(shared)
    raw = shim.timer_queue
    raw.count = 2**32 - 1
    raw.places[3] = 2**32 - 1
    raw.alarms[1].slot = 2**32 - 1
    raw.alarms[2].deadline = -(2**62)
    timer_queue.alarm(3).cancel()
    timer_queue.add(7, 1)
    for _ in range(10):
        timer_queue.run_next()
    assert all(0 <= slot < 65536 for slot in rung)
    shim.close()
    shared.close()
