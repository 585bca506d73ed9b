"""Activities that begin after others: when they do, what is refused, and that nothing is kept of what has ended."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rsg_server._native import lib

from rsg_server.rsg.errors import Code
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.rsg.driver import HOST, SPEED, Program


@pytest.fixture
def kernel() -> Iterator[Fake]:
    with fake(hosts=(HOST,)) as made:
        yield made


class Graph(NamedTuple):
    """How long each activity takes, and which earlier ones it begins after."""

    seconds: list[float]
    before: list[list[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs without cycles; seconds in eighths, so that ends coincide."""
    seconds = [eighths / 8 for eighths in draw(st.lists(st.integers(0, 24), min_size=1, max_size=12))]
    before = [sorted(draw(st.sets(st.integers(0, one - 1), max_size=4))) if one else [] for one in range(len(seconds))]
    return Graph(seconds, before)


def built(program: Program, graph: Graph) -> list[int]:
    """The graph's activities, the last one started first."""
    made = [program.made(seconds) for seconds in graph.seconds]
    for one, before in enumerate(graph.before):
        for other in before:
            assert program.relate(made[other], made[one]) is Code.NONE
    for activity in reversed(made):
        assert program.start(activity) is Code.NONE
    return made


@settings(max_examples=30, deadline=None)
@given(graphs())
def test_who_waits_for_whatever_ends_first_sees_the_longest_paths(graph: Graph) -> None:
    with fake(hosts=(HOST,)) as made:
        program = Program(made)
        pending = dict(enumerate(built(program, graph)))
        ends: dict[int, float] = {}
        while pending:
            numbers = list(pending.values())
            place = program.number(lib.RSG_WAIT_ANY, "d", -1.0, text=struct.pack(f"<{len(numbers)}q", *numbers))
            one = list(pending)[place]
            assert program.wait(pending.pop(one)) is Code.NONE
            ends[one] = program.date_s
    for one, seconds in enumerate(graph.seconds):
        longest = max((ends[other] for other in graph.before[one]), default=0.0)
        assert ends[one] == pytest.approx(longest + seconds, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(graphs())
def test_a_dependency_is_solved_when_somebody_is_told(graph: Graph) -> None:
    """The closed form of waits one after the other: told = max(told before, end), start = the latest of what it waits for."""
    with fake(hosts=(HOST,)) as made:
        program = Program(made)
        activities = built(program, graph)
        told: list[float] = []
        now_s = 0.0
        for one, seconds in enumerate(graph.seconds):
            now_s = max(now_s, max((told[other] for other in graph.before[one]), default=0.0) + seconds)
            assert program.dependencies(activities[one]) == []
            assert program.wait(activities[one]) is Code.NONE
            assert program.date_s == pytest.approx(now_s, abs=1e-9)
            told.append(now_s)


def test_a_wait_starts_what_was_not_started_and_a_successor_begins_by_itself(kernel: Fake) -> None:
    program = Program(kernel)
    first, second = program.made(1), program.made(2)
    program.relate(first, second)
    assert (program.state(first), program.state(second)) == (lib.RSG_MADE, lib.RSG_MADE)
    assert program.wait(second, 0.5) is Code.TIMEOUT
    assert program.state(second) == lib.RSG_VETOED and program.dependencies(second) == [first]
    assert program.wait(first) is Code.NONE and program.date_s == 1.5
    assert program.state(second) == lib.RSG_STARTED
    assert program.wait(second) is Code.NONE and program.date_s == 3.5


def test_what_makes_no_sense_is_refused(kernel: Fake) -> None:
    program = Program(kernel)
    first, second, third = (program.made(1) for _ in range(3))
    assert program.relate(first, second) is program.relate(second, third) is Code.NONE
    assert program.relate(first, first) is program.relate(third, first) is Code.CYCLE
    assert program.relate(first, second) is Code.DEPENDENCY
    assert program.relate(first, third, is_new=False) is Code.DEPENDENCY
    assert program.relate(first, 4711) is program.relate(4711, first) is Code.UNKNOWN_ACTIVITY
    running = program.made(1, lib.RSG_ASYNC)
    assert program.relate(first, running) is Code.HAS_BEGUN
    assert program.ask(lib.RSG_SET_TERM, "qqd", running, lib.RSG_AMOUNT, 1.0)[0] is Code.HAS_BEGUN
    assert program.ask(lib.RSG_SET_TERM, "qqd", first, lib.RSG_RATE, 1.0)[0] is Code.BAD_VALUE
    assert program.ask(lib.RSG_SET_TERM, "qqd", first, lib.RSG_WHERE, 7.0)[0] is Code.UNKNOWN_HOST
    assert program.ask(lib.RSG_SET_TERM, "qqd", first, lib.RSG_WEIGHT, 0.0)[0] is Code.NEGATIVE
    assert program.start(first, lib.RSG_DETACHED) is Code.BAD_VALUE
    program.wait(running)
    assert program.relate(first, running) is Code.WAITED_TWICE


def test_a_predecessor_that_is_cancelled_lets_nothing_begin(kernel: Fake) -> None:
    program = Program(kernel)
    first, second, third = (program.made(1) for _ in range(3))
    program.relate(first, second)
    program.relate(second, third)
    for activity in (first, second, third):
        program.start(activity)
    assert program.ask(lib.RSG_CANCEL, "q", second)[0] is Code.NONE
    assert program.wait(first) is Code.NONE
    assert program.state(second) == lib.RSG_CANCELLED and program.wait(second) is Code.CANCELED
    assert program.wait(third, 5) is Code.TIMEOUT and program.state(third) == lib.RSG_VETOED


def test_the_report_of_a_deadlock_names_what_is_waited_for(kernel: Fake) -> None:
    program = Program(kernel)
    seen, cancelled, last = (program.made(1) for _ in range(3))
    program.relate(seen, last)
    program.relate(cancelled, last)
    program.start(seen)
    program.ask(lib.RSG_CANCEL, "q", cancelled)
    program.ask(lib.RSG_SLEEP, "d", 2.0)
    with pytest.raises(AssertionError) as told:
        program.wait(last)
    assert str(told.value).startswith(
        "an execution on host h0, which begins after an execution on host h0 (done, of which nobody has been told), "
        "an execution on host h0 (cancelled) (actor actor(1)@h0)"
    )


def test_what_nobody_can_be_told_of_solves_its_dependencies_by_its_end(kernel: Fake) -> None:
    program = Program(kernel)
    first, over, second = program.made(1), program.made(0.5), program.made(1)
    program.relate(first, second)
    program.relate(over, second)
    for activity in (first, over, second):
        program.start(activity)
    program.ask(lib.RSG_FORGET, "q", first)
    program.ask(lib.RSG_SLEEP, "d", 0.75)
    program.ask(lib.RSG_FORGET, "q", over)
    assert program.wait(second) is Code.NONE and program.date_s == 2.0


def test_a_detached_put_begins_after_its_predecessor_even_if_its_actor_has_ended(kernel: Fake) -> None:
    putter, getter = Program(kernel), Program(kernel, "getter")
    box = getter.number(lib.RSG_MAILBOX, text=b"box")
    first = getter.made(1)
    put = putter.number(lib.RSG_PUT, "qqddd", box, lib.RSG_LATER, 0.0, -1.0, -1.0, text=b"hello")
    assert getter.relate(first, put) is Code.NONE
    assert putter.start(put, lib.RSG_DETACHED) is Code.NONE
    putter.room.lives.end(putter.room.by_thread[putter.thread.number])
    getter.wait(first)
    code, data = getter.ask(lib.RSG_GET, "qqdd", box, 0, -1.0, -1.0)
    assert code is Code.NONE and data[16:] == b"hello"


def test_nothing_is_kept_of_an_actor_that_ends(kernel: Fake) -> None:
    program, other = Program(kernel), Program(kernel, "other")
    box = program.number(lib.RSG_MAILBOX, text=b"box")
    theirs = other.made(SPEED)
    made = [
        program.made(1),
        program.number(lib.RSG_PUT, "qqddd", box, lib.RSG_LATER, 1e6, -1.0, -1.0, text=b"x" * 3000),
        program.number(lib.RSG_GET, "qqdd", box, lib.RSG_LATER, -1.0, -1.0),
        program.number(lib.RSG_SENDTO, "qqqdd", 0, 0, lib.RSG_LATER, 1e6, -1.0),
    ]
    for one, activity in enumerate(made):
        assert program.relate(theirs, activity) is Code.NONE
        for before in made[:one]:
            assert program.relate(before, activity) is Code.NONE
    unstarted, dropped = program.made(1), program.made(1)
    for activity in (theirs, *made):
        program.start(activity)
    program.ask(lib.RSG_FORGET, "q", dropped)
    room = program.room
    who = room.by_thread[program.thread.number]
    assert len(who.activities) == len(made) + 1 and unstarted in who.handles
    room.lives.kill(who)
    assert not who.activities and not who.handles
    assert room.comms.data_bytes == 0 and list(room.handles) == [theirs]
    assert not room.handles[theirs].before and room.dependencies._count == 0
