"""The core by itself: turns that begin and end without Python, and what a hostile process may write meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Thread

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rsg_server._native import ffi, lib

from rsg_server.process.actor import Actor, State
from rsg_server.protocol import Op, Wait, Wake
from rsg_server.shared.clock import LATEST_NS
from rsg_server.turn.loop import Outcome
from tests.unit.rsg_server.fakes import Fake, fake

ANSWERED = lib.SLOT_ANSWERED
PATIENCE_S = 10.0


class Sleepers:
    """A thread in the place of processes: whoever gets the turn sleeps on, until each has slept as often as it wants to."""

    def __init__(self, world: Fake, actors: Sequence[Actor], sleeps_ns: Sequence[list[int]]) -> None:
        self._world, self._left = world, {actor.slot: list(sleeps) for actor, sleeps in zip(actors, sleeps_ns, strict=True)}
        slots = ffi.cast("char *", world.shim.address) + lib.SIMUNIX_SLOTS_OFFSET
        self._slots = ffi.cast("struct simunix_slot *", slots)
        self.wakes: list[int] = []

    def play(self) -> None:
        """Answer each turn but the last one."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            slot = next((slot for slot in self._left if self._slots[slot].word == ANSWERED), 0)
            if not slot:
                time.sleep(0.0001)
                continue
            self._slots[slot].word = lib.SLOT_WAITS
            self.wakes.append(self._slots[slot].wake)
            if not self._left[slot]:
                return
            page = self._world.shim.page
            self._world.shim.leave_park(slot, int(Wait.TIME), page.now_ns + self._left[slot].pop(0), 0, 0)
            page.doorbell += 1


@contextmanager
def asleep(world: Fake, count: int) -> Iterator[list[Actor]]:
    """Actors that sleep until the first nanosecond."""
    actors = [world.born() for _ in range(count)]
    for actor in actors:
        world.park_at_slot(actor, Wait.TIME, deadline_ns=1)
    yield actors


def model(numbers: Sequence[int], sleeps_ns: Sequence[list[int]]) -> list[tuple[int, int]]:
    """Moment and number of each turn until one does not sleep any more."""
    due, left, turns, sequence = [], [list(sleeps) for sleeps in sleeps_ns], [], len(numbers)
    due = [(1, order, who) for order, who in enumerate(range(len(numbers)))]
    while True:
        now_ns, _, who = min(due)
        due.remove(min(due))
        turns.append((now_ns, numbers[who]))
        if not left[who]:
            return turns
        sequence += 1
        due.append((now_ns + left[who].pop(0), sequence, who))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(st.integers(1, 4), max_size=6), min_size=1, max_size=4))
def test_sleepers_have_their_turns_in_the_order_of_deadlines_then_of_asking(sleeps_ns: list[list[int]]) -> None:
    with fake() as world, asleep(world, len(sleeps_ns)) as actors:
        turns: list[tuple[int, int]] = []
        world.kernel.log.watch_turns(lambda now_ns, actor, wake: turns.append((now_ns, actor)))
        sleepers = Sleepers(world, actors, sleeps_ns)
        thread = Thread(target=sleepers.play)
        thread.start()
        outcome = world.loop.run(PATIENCE_S)
        thread.join()
        assert outcome is Outcome.COMPUTING  # the last one has the turn, and is silent
        assert turns == model([actor.number for actor in actors], sleeps_ns)
        assert set(sleepers.wakes) == {Wake.TIMEOUT}
        assert world.kernel.log.turns == len(turns)


def test_a_wait_that_the_core_has_begun_is_shown_as_an_object() -> None:
    with fake() as world, asleep(world, 1) as (actor,):
        parked = actor.parked
        assert parked is not None and (parked.deadline_ns, parked.siblings_may_wake, parked.syscall) == (1, True, 230)
        assert parked.describe(actor, world.describer()) == "the clock" and actor.parked is not parked


def test_an_alarm_that_a_process_has_made_up_ends_the_deadline_that_the_server_keeps() -> None:
    with fake() as world:
        actor = world.park(world.born(), Wait.FD, deadline_ns=5_000)
        lib.timer_queue_add(world.shim.address, actor.slot, 100)
        world.pass_time(200)
        assert actor.state is State.READY and world.kernel.timeline.next_ns is None
        world.kernel.threads.end(actor)
        world.pass_time(9_000)
        assert not world.kernel.run_queue


def test_a_clock_that_was_written_over_with_what_no_clock_says_is_not_believed() -> None:
    with fake() as world:
        world.shim.page.now_ns = 1_000
        assert world.kernel.now_ns == 1_000
        for nonsense in (LATEST_NS + 1, 1 << 63, (1 << 64) - 1):
            world.shim.page.now_ns = nonsense
            assert world.kernel.now_ns == 1_000
            world.set_lookahead()
            assert world.loop.core.struct.known_ns <= 1_000


def test_a_sleep_of_more_than_146_years_never_ends() -> None:
    with fake() as world:
        world.park(world.born(), Wait.FD, deadline_ns=LATEST_NS + 1)
        assert world.kernel.timeline.next_ns is None
        world.shim.page.due_ns = LATEST_NS + 1
        assert world.kernel.timeline.next_ns is None
        world.park(world.born(), Wait.FD, deadline_ns=LATEST_NS)
        assert world.kernel.timeline.next_ns == LATEST_NS


def test_a_tie_that_a_process_has_written_away_meanwhile_is_settled() -> None:
    with fake() as world:
        timeline, parking = world.kernel.timeline, world.kernel.parking.core
        timeline.settle_tie()
        lib.due_settle(timeline.core, world.shim.address, parking, True)
        assert timeline.next_ns is None and len(timeline) == 0


@pytest.mark.parametrize("wait", [Wait.COMPUTE, Wait.STORAGE])
def test_who_waits_for_more_than_can_be_told_is_ended(wait: Wait) -> None:
    with fake() as world:
        actor = world.born()
        world.send(actor, msgpack.packb([int(Op.PARK), int(wait), 0, -1, 0, (1 << 63) - 1, (1 << 63) - 1, 0]))
        assert actor.process.dead


def test_the_server_says_that_it_sleeps_only_while_it_does() -> None:
    with fake() as world:
        page = world.shim.page
        seen: list[int] = []
        thread = Thread(target=lambda: (time.sleep(0.05), seen.append(page.listens)))
        thread.start()
        lib.doorbell_wait(world.shim.address, page.doorbell, 200_000_000)
        thread.join()
        assert seen == [1] and page.listens == 0
        lib.doorbell_wait(world.shim.address, page.doorbell + 1, 10**15)  # it was rung meanwhile: nobody waits for days
