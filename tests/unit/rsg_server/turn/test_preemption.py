"""An actor that computes without a call gives the turn back; time moves on only once all that can run spin."""

from __future__ import annotations

import msgpack
import pytest

from rsg_server.process import native_signal
from rsg_server.process.actor import Actor, State
from rsg_server.protocol import Op, Wait
from rsg_server.turn.preemption import KNOWN_ROUNDS, ROUNDS, ROUNDS_TOGETHER, SHORTEST_NS
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.forms import interpreted_only

BACK = msgpack.packb([int(Op.PARK), int(Wait.PREEMPTED), 24, -1, 0, 0, 0, 0])
AFTER_NS = 200_000_000


def spinning(world: Fake, count: int = 1) -> list[Actor]:
    """Actors that have been preempted once each, before somebody made a call."""
    world.kernel.preemption.after_ns = AFTER_NS
    found = [world.born() for _ in range(count)]
    for actor in found:
        actor.state = State.PARKED
        world.kernel.parking.make_ready(actor)
    for actor in found:
        world.kernel.run_queue.withdraw(actor)
        give_back(world, actor)
    world.shim.page.traps += 1
    return found


def give_back(world: Fake, actor: Actor) -> None:
    actor.state = State.RUNNING
    world.loop._handle(actor, BACK)
    assert actor.state is State.READY and [*world.kernel.run_queue][-1] is actor


def turns_until_all_spin(world: Fake, most: int) -> int:
    """How many turns are taken back before time may move on."""
    for count in range(most):
        if world.kernel.preemption.all_spin():
            return count
        actor = world.kernel.run_queue.pick()
        assert actor.spinner is not None
        world.kernel.preemption.begins(actor, actor.spinner)
        give_back(world, actor)
    pytest.fail(f"time does not move on after {most} turns")


def test_a_stranger_alone_is_given_all_its_patiences_in_one_turn() -> None:
    with fake() as world:
        (actor,) = spinning(world)
        assert actor.spinner is not None and actor.spinner.patience_ns == AFTER_NS // 2
        assert turns_until_all_spin(world, ROUNDS) == 1


@interpreted_only
@pytest.mark.parametrize(("due_ns", "enough_ns"), [(AFTER_NS, AFTER_NS // 2), (1, SHORTEST_NS), (10**12, ROUNDS * AFTER_NS)])
def test_a_thread_that_computes_on_alone_takes_half_of_the_time_until_the_next_event(
    monkeypatch: pytest.MonkeyPatch, due_ns: int, enough_ns: int
) -> None:
    """It was preempted before, so the run is not deterministic anyhow; each event used to take a second of real time."""
    with fake() as world:
        (actor,) = spinning(world)
        world.kernel.run_queue.withdraw(actor)
        assert actor.spinner is not None
        cpu_ns = 0
        monkeypatch.setattr(native_signal, "process_cpu_ns", lambda pid: cpu_ns)
        world.kernel.preemption.begins(actor, actor.spinner)
        world.kernel.timeline.add(world.kernel.now_ns + due_ns, lambda: None)
        cpu_ns = enough_ns - 1
        assert not world.kernel.preemption._is_time(actor)
        cpu_ns = enough_ns
        assert world.kernel.preemption._is_time(actor)


def test_the_second_patience_is_half_of_the_first() -> None:
    with fake() as world:
        world.kernel.preemption.after_ns = 2_000_000_000
        actor, other = world.born(), world.born()
        other.state = State.PARKED
        world.kernel.parking.make_ready(other)
        give_back(world, actor)
        assert actor.spinner is not None and actor.spinner.patience_ns == 1_000_000_000


def test_a_known_spinner_is_left_for_the_next_event_soon() -> None:
    with fake() as world:
        (actor,) = spinning(world)
        assert actor.spinner is not None
        actor.spinner.is_known, actor.spinner.patience_ns = True, SHORTEST_NS
        assert world.kernel.preemption._rounds(actor.spinner) == KNOWN_ROUNDS
        assert turns_until_all_spin(world, KNOWN_ROUNDS) == 1


def test_several_may_serve_each_other() -> None:
    with fake() as world:
        for actor in spinning(world, 2):
            assert actor.spinner is not None
            actor.spinner.is_known, actor.spinner.patience_ns = True, SHORTEST_NS
        assert turns_until_all_spin(world, 3 * ROUNDS_TOGETHER) == 2 * ROUNDS_TOGETHER


def test_several_that_never_make_a_call_wait_for_half_of_the_time_until_the_next_event() -> None:
    """Each of them used to be given a second of CPU time for each event of another process."""
    with fake() as world:
        for actor in spinning(world, 2):
            assert actor.spinner is not None
            actor.spinner.patience_ns = SHORTEST_NS
        world.kernel.timeline.add(world.kernel.now_ns + 40 * SHORTEST_NS, lambda: None)
        assert turns_until_all_spin(world, 100) == 20


def test_several_have_a_few_turns_each_however_soon_the_next_event_is() -> None:
    with fake() as world:
        for actor in spinning(world, 2):
            assert actor.spinner is not None
            actor.spinner.patience_ns = SHORTEST_NS
        world.kernel.timeline.add(world.kernel.now_ns + 1, lambda: None)
        assert turns_until_all_spin(world, 100) == 2 * ROUNDS


def test_a_call_of_anybody_begins_the_count_anew() -> None:
    with fake() as world:
        spinning(world)
        turns_until_all_spin(world, ROUNDS)
        world.shim.page.traps += 1
        assert not world.kernel.preemption.all_spin()


def test_who_can_run_and_does_not_spin_comes_first() -> None:
    with fake() as world:
        spinning(world)
        turns_until_all_spin(world, ROUNDS)
        other = world.born()
        other.state = State.PARKED
        world.kernel.parking.make_ready(other)
        assert not world.kernel.preemption.all_spin()
        world.kernel.preemption.time_moves(1)
        assert next(iter(world.kernel.run_queue)) is other


def test_patience_is_halved_while_others_can_run_and_turns_leave_no_trace() -> None:
    with fake() as world:
        actors = spinning(world, 2)
        turns = world.kernel.log.turns
        turns_until_all_spin(world, 10_000)
        assert all(actor.spinner is not None and actor.spinner.patience_ns == SHORTEST_NS for actor in actors)
        assert world.kernel.log.turns == turns
        assert len(world.kernel.warner.counts) <= 1
