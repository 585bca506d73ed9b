"""Hand-offs: what the server believes when the turn has gone on without it."""

from __future__ import annotations

import pytest
from rsg_server._native import ffi, lib

from rsg_server.process.actor import Actor, State
from rsg_server.process.slots import Slots
from rsg_server.protocol import HANDOFF_MAX, Wait, Wake
from tests.unit.rsg_server.fakes import Fake, fake


def entry(actor: Actor, ready: int = 0, wait: int = Wait.TIME, deadline_ns: int = 5_000, word: int = 0) -> bytes:
    """One struct simunix_handoff."""
    made = ffi.new("struct simunix_handoff *")
    made.slot, made.is_ready, made.wait, made.deadline, made.word, made.bitset = (
        actor.slot,
        ready,
        wait,
        deadline_ns,
        word,
        2**32 - 1,
    )
    made.syscall, made.wake = 230, Wake.TIMEOUT
    return bytes(ffi.buffer(made))


def siblings(world: Fake, count: int) -> list[Actor]:
    """Threads of one process; the first has the turn, the others wait for a futex of theirs, their tid."""
    first = world.born()
    for tid in range(1, count):
        actor, theirs = world.kernel.threads.new(first.process)
        world.descriptors.append(theirs)
        actor.tid, actor.owes_message, actor.state = first.process.pid + tid, False, State.RUNNING
        park(world, actor, Wait.FUTEX, -1, tid)
    return list(first.process.actors)


def park(world: Fake, actor: Actor, wait: int, deadline_ns: int, word: int = 0) -> None:
    world.park_at_slot(actor, Wait(wait), deadline_ns=deadline_ns, word=word, bitset=2**32 - 1)
    assert actor.state is State.PARKED


def step(world: Fake, runner: Actor, *entries: bytes) -> None:
    assert world.hand_off(runner, 7, b"".join(entries))


def note(world: Fake, actor: Actor, **fields: int) -> None:
    """A process leaves word in the journal and sets the deadline, as the shim does."""
    timer_queue = world.shim.timer_queue
    timer_queue.journal[timer_queue.journal_count] = ffi.from_buffer("struct simunix_handoff[]", entry(actor, **fields))[0]
    timer_queue.journal_count += 1


def set_alarm(world: Fake, actor: Actor, deadline_ns: int) -> None:
    """The shim's part of a step: it keeps the timer queue, the server only reads it."""
    lib.timer_queue_add(world.shim.address, actor.slot, deadline_ns)


def test_the_turn_is_whose_the_process_says() -> None:
    with fake() as world:
        first, second, third = siblings(world, 3)
        set_alarm(world, first, 9_000)
        step(world, second, entry(first, deadline_ns=9_000), entry(third, ready=1))
        assert second.state is State.RUNNING and second.parked is None
        assert first.state is State.PARKED and world.kernel.timeline.next_ns == 9_000
        assert third.state is State.READY and third.reply == (Wake.TIMEOUT, 0)
        assert list(world.kernel.run_queue) == [third]
        assert world.kernel.futexes.wake((-first.process.number, 1), 9, 1) == 0


def test_who_waits_at_a_futex_again_is_found_there() -> None:
    with fake() as world:
        first, second = siblings(world, 2)
        step(world, second, entry(first, wait=Wait.FUTEX, deadline_ns=-1, word=64))
        assert world.kernel.futexes.wake((-first.process.number, 64), 9, 1) == 1
        assert first.state is State.READY


def wait_again(world: Fake, actor: Actor, deadline_ns: int) -> None:
    """Have a sibling wait at word 64, up to a deadline, in place of what it waits for."""
    world.kernel.parking.unpark(actor)
    actor.state = State.RUNNING
    park(world, actor, Wait.FUTEX, deadline_ns, 64)


def test_who_waits_on_for_the_same_alone_keeps_its_wait_and_among_others_has_come_again() -> None:
    with fake() as world:
        first, second, third = siblings(world, 3)
        wait_again(world, second, 3_000)
        step(world, first, entry(second, wait=Wait.FUTEX, deadline_ns=8_000, word=64))
        assert second.parked is not None and second.parked.deadline_ns == 8_000
        wait_again(world, third, 3_000)
        step(world, first, entry(second, wait=Wait.FUTEX, deadline_ns=9_000, word=64))
        waiters = world.kernel.futexes.queues()[(-first.process.number, 64)]
        assert [actor for actor, _, _ in waiters] == [third, second]


@pytest.mark.parametrize("case", ["stranger", "nobody", "twice", "kept", "running", "wait", "many"])
def test_steps_that_cannot_be_end_the_process(case: str) -> None:
    with fake() as world:
        first, second, third = siblings(world, 3)
        stranger = world.born()
        third.state = State.READY if case == "running" else third.state
        entries = {
            "stranger": [entry(first), entry(stranger)],
            "nobody": [entry(first).replace(bytes([first.slot]), b"\xff", 1)],
            "twice": [entry(first), entry(first)],
            "kept": [entry(third)],
            "running": [entry(first), entry(third)],
            "wait": [entry(first, wait=Wait.CHILD)],
            "many": [entry(first)] * (HANDOFF_MAX + 1),
        }[case]
        assert not world.hand_off(second, 7, b"".join(entries))
        assert first.process.dead and not stranger.process.dead


def test_the_turn_comes_to_another_process() -> None:
    with fake() as world:
        first, stranger = world.born(), world.born()
        park(world, stranger, Wait.TIME, 4_000)
        set_alarm(world, first, 9_000)
        note(world, first, deadline_ns=9_000)
        lib.timer_queue_remove(world.shim.address, stranger.slot)
        step(world, stranger)
        assert stranger.state is State.RUNNING
        assert first.state is State.PARKED and world.kernel.timeline.next_ns == 9_000
        world.kernel.timeline.run_due(9_000)
        assert list(world.kernel.run_queue) == [first] and first.reply == (Wake.TIMEOUT, 0)


def test_of_several_words_in_the_journal_the_last_counts() -> None:
    with fake() as world:
        first, stranger = world.born(), world.born()
        park(world, stranger, Wait.TIME, 4_000)
        note(world, first, wait=Wait.FUTEX, deadline_ns=-1, word=64)
        note(world, stranger, deadline_ns=7_000)
        note(world, first, wait=Wait.FUTEX, deadline_ns=-1, word=128)
        step(world, stranger)
        for word, woken in ((64, 0), (128, 1)):
            assert world.kernel.futexes.wake((-first.process.number, word), 9, 1) == woken
        assert stranger.state is State.RUNNING


def test_a_journal_of_nonsense_ends_only_its_reader() -> None:
    with fake() as world:
        first, stranger = world.born(), world.born()
        park(world, stranger, Wait.TIME, 4_000)
        timer_queue = world.shim.timer_queue
        timer_queue.journal_count = 2**32 - 1
        assert not world.hand_off(stranger, 7, b"")
        assert stranger.process.dead and not first.process.dead and timer_queue.journal_count == 0


def test_who_is_stopped_gets_no_turn_from_others() -> None:
    with fake() as world:
        first, stranger = world.born(), world.born()
        park(world, stranger, Wait.TIME, 4_000)
        assert world.kernel.timer_queue.next_ns == 4_000
        world.kernel.signals.stop(stranger.process)
        assert world.kernel.timer_queue.next_ns > 4_000 and world.kernel.timeline.next_ns == 4_000
        world.kernel.timeline.run_due(4_000)
        assert stranger.state is State.READY and first.state is State.RUNNING and not world.kernel.run_queue


def test_horizon_is_what_nobody_but_the_server_may_let_happen() -> None:
    with fake() as world:
        first, second = siblings(world, 2)
        world.loop.holder = first
        world.kernel.parking.unpark(second)
        second.state = State.RUNNING
        park(world, second, Wait.TIME, 2_000)
        world.set_lookahead()
        page = world.shim.page
        assert page.lookahead_ns > 7_000 and page.event_ns == 2_000
        world.kernel.timeline.add(7_000, lambda: None)
        world.set_lookahead()
        assert page.lookahead_ns == 7_000


def test_slots_are_handed_out_again() -> None:
    with fake() as world:
        slots = Slots()
        first, second = world.born(), world.born()
        for actor in (first, second):
            slots.take(actor)
        assert (first.slot, second.slot) == (1, 2) and slots[2] is second and slots.get(3) is None
        slots.release(first)
        slots.take(first)
        assert first.slot == 1
        world.kernel.slots.take(first)
        world.kernel.slots.take(second)


def test_a_sibling_that_a_signal_has_made_ready_keeps_its_place_when_it_is_woken_as_well() -> None:
    with fake() as world:
        first, second, third = siblings(world, 3)
        world.kernel.parking.wake(second, Wake.SIGNAL)
        step(world, first, entry(third, ready=1), entry(second, ready=1))
        assert list(world.kernel.run_queue) == [second, third]
        assert second.reply == (Wake.TIMEOUT, 0)  # what the entry says
        assert world.kernel.futexes.wake((-first.process.number, 1), 9, 1) == 0
