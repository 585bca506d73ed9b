"""What each kind of wait begins and ends, who may end it, and which messages ask for a wait that does not exist."""

from __future__ import annotations

import errno
from typing import Any

import msgpack
import pytest

from rsg_server.process.actor import Actor, State
from rsg_server.process.wait import HAS_SIGNALFD, ActorWait
from rsg_server.protocol import NEVER, Op, Space, Wait, Wake
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import SocketState
from rsg_server.storage.storages import STORAGE_AS_SAID
from rsg_server.waits.descriptors import DescriptorWait
from rsg_server.waits.rsg import OperationWait
from rsg_server.waits.time import PreemptedWait
from tests.unit.rsg_server.fakes import Fake

USR1 = 1 << 9
ANY = 0xFFFFFFFF
BY_MESSAGE = [wait for wait in Wait if wait is not Wait.RSG]


def ask(world: Fake, actor: Actor, wait: int, a: int = 0, b: int = 0, c: int = 0, deadline_ns: int = NEVER) -> Any:
    """Park the actor by a message; returns the values of the reply, None if it has given the turn back or is dead."""
    return world.send(actor, msgpack.packb([int(Op.PARK), int(wait), 35, deadline_ns, 0, a, b, c]))


def wait_of(actor: Actor) -> ActorWait:
    assert actor.parked is not None
    return actor.parked


# All kinds


def test_a_message_may_ask_for_every_kind_but_that_of_remote_simgrid(world: Fake) -> None:
    for kind in BY_MESSAGE:
        wait = world.kernel.waits.make(int(kind), 35, 7, USR1, 0, 0, 0, 5, True)
        assert (wait.syscall, wait.deadline_ns, wait.blocked, wait.since_ns) == (35, 7, USR1, 5)
        assert wait.siblings_may_wake
    for unknown in (int(Wait.RSG), -1, 1 << 40, max(Wait) + 1):
        with pytest.raises(ValueError, match=f"wait {unknown}: no such kind"):
            world.kernel.waits.make(unknown, 35, NEVER, 0, 0, 0, 0, 0)


@pytest.mark.parametrize("kind", [int(kind) for kind in (Wait.RSG, max(Wait) + 1)])
def test_a_process_that_asks_for_no_kind_is_killed(world: Fake, kind: int) -> None:
    actor = world.born()
    assert ask(world, actor, kind) is None and actor.state is State.DEAD


def test_a_deadline_that_has_passed_ends_all_but_waits_for_descriptors(world: Fake) -> None:
    world.kernel.shared.clock.advance_to(10)
    over = {kind for kind in BY_MESSAGE if world.kernel.waits.make(int(kind), 0, 10, 0, 0, 0, 0, 10).over() == Wake.TIMEOUT}
    assert over == set(BY_MESSAGE) - {Wait.FD, Wait.YIELD, Wait.PREEMPTED}
    assert all(world.kernel.waits.make(int(kind), 0, 11, 0, 0, 0, 0, 10).over() is None for kind in over)


def test_only_what_computes_or_lets_others_go_first_counts_as_running(world: Fake) -> None:
    running = {kind for kind in BY_MESSAGE if world.kernel.waits.make(int(kind), 0, NEVER, 0, 0, 0, 0, 0).computes()}
    assert running == {Wait.YIELD, Wait.PREEMPTED, Wait.COMPUTE, Wait.CHARGE, Wait.CHARGE_REST}


def test_every_kind_that_parks_is_described(world: Fake) -> None:
    for kind in set(BY_MESSAGE) - {Wait.STORAGE}:  # no host has a storage here
        actor = world.born()
        wait = world.kernel.waits.make(int(kind), 0, NEVER, 0, 0, 0, 0, 0)
        assert wait.describe(actor, world.describer()) != ActorWait().describe(actor, world.describer())


# Who may end a wait


def test_neither_tracees_nor_storages_heed_signals(world: Fake) -> None:
    deaf = {kind for kind in BY_MESSAGE if not world.kernel.waits.make(int(kind), 0, NEVER, 0, 0, 0, 0, 0).takes(USR1, True)}
    assert deaf == {Wait.TRACED, Wait.STORAGE}


def test_a_blocked_signal_is_heeded_for_all_threads_by_a_signalfd_or_by_sigwait(world: Fake) -> None:
    def takes(blocked: int, is_for_all: bool = False, wait: Wait = Wait.TIME, wanted: int = 0) -> bool:
        return world.kernel.waits.make(int(wait), 0, NEVER, blocked, wanted, 0, 0, 0).takes(USR1, is_for_all)

    assert takes(0) and not takes(USR1)
    assert takes(USR1, is_for_all=True) and takes(USR1 | HAS_SIGNALFD)
    assert takes(USR1, wait=Wait.SIGNAL, wanted=USR1) and not takes(USR1, wait=Wait.SIGNAL, wanted=USR1 << 1)


def test_signals_from_outside_reach_what_is_not_blocked_but_no_parent_of_a_vfork(world: Fake) -> None:
    def open_to(kind: Wait) -> int:
        return world.kernel.waits.make(int(kind), 0, NEVER, USR1 | 1, USR1, 0, 0, 0).open_to()

    assert open_to(Wait.VFORK) == 0
    assert open_to(Wait.SIGNAL) & (USR1 | 1 | 2) == USR1 | 2
    assert open_to(Wait.TIME) & (USR1 | 1 | 2) == 2


def test_each_event_ends_the_waits_of_its_own_kind_only(world: Fake) -> None:
    made = {kind: world.kernel.waits.make(int(kind), 0, NEVER, 0, 7, 0, 0, 0) for kind in BY_MESSAGE}
    assert [kind for kind, wait in made.items() if wait.is_for_children()] == [Wait.CHILD]
    assert [kind for kind, wait in made.items() if wait.is_for_vfork()] == [Wait.VFORK]
    assert [kind for kind, wait in made.items() if wait.is_for_connect(7)] == [Wait.CONNECT]
    assert [kind for kind, wait in made.items() if wait.is_for_connect(8)] == []
    assert [kind for kind, wait in made.items() if wait.wants(1)] == [Wait.SIGNAL]


# Yields


def test_an_actor_that_yields_is_ready_behind_the_others(world: Fake) -> None:
    first, second = world.born(), world.born()
    world.kernel.parking.make_ready(first)
    assert ask(world, second, Wait.YIELD) is None
    assert list(world.kernel.run_queue) == [first, second] and second.reply == (Wake.READY, 0)


def test_a_turn_that_was_taken_back_is_accounted_for(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    actor, told = world.born(), []

    class Preemption:
        def gave_back(self, actor: Actor) -> None:
            told.append(actor)

    wait = PreemptedWait(Preemption())
    assert wait.prepare(actor) is None and wait.over() == Wake.READY
    assert told == [actor]


# Descriptors


def descriptor_wait(world: Fake, a: int = 0, b: int = 0, c: int = 0) -> DescriptorWait:
    wait = world.kernel.waits.make(int(Wait.FD), 0, NEVER, 0, a, b, c, 0)
    assert isinstance(wait, DescriptorWait)
    return wait


@pytest.mark.parametrize("place", range(5))
def test_each_flag_of_a_wait_for_descriptors_has_a_field(world: Fake, place: int) -> None:
    wait = descriptor_wait(world, 3, 4, 9 << 8 | 1 << place)
    flags = [wait.has_terminal, wait.is_exclusive, wait.has_looked, wait.is_file, wait.is_chosen]
    assert flags == [flag == place for flag in range(5)]
    assert (wait.first_fd, wait.watched, wait.epoll_fd) == (3, 4, 9)


@pytest.mark.parametrize("flags", [-1, 1 << 39, 1 << 63])
def test_a_private_epoll_has_the_number_of_a_descriptor(world: Fake, flags: int) -> None:
    actor = world.born()
    with pytest.raises(ValueError, match="no such descriptor"):
        world.kernel.waits.make(int(Wait.FD), 0, NEVER, 0, 0, 0, flags, 0)
    assert ask(world, actor, Wait.FD, c=flags) is None and actor.state is State.DEAD


def test_a_wait_for_descriptors_has_the_kernel_asked_anew(world: Fake) -> None:
    world.kernel.readiness.may_have_changed = False
    actor = world.park(world.born(), Wait.FD)
    assert world.kernel.readiness.may_have_changed and not world.kernel.at_terminals
    assert actor.epoll_info() is None
    watcher = world.park(world.born(), Wait.FD, c=9 << 8 | 1)
    assert world.kernel.at_terminals == {watcher.number: watcher}
    assert wait_of(watcher).watches_terminal() and not wait_of(actor).watches_terminal()
    assert watcher.epoll_info() == f"/proc/{watcher.process.global_pid}/fdinfo/9"


# Futexes


def waiting(world: Fake, space: int, word: int) -> int:
    key = (space, word)
    return len(world.kernel.futexes.queues().get(key, ()))


@pytest.mark.parametrize("reason", [Wake.READY, Wake.TIMEOUT])
def test_an_actor_that_is_woken_leaves_its_futex(world: Fake, reason: Wake) -> None:
    actor = world.park(world.born(), Wait.FUTEX, a=7, b=64, c=ANY)
    assert waiting(world, 7, 64) == 1
    world.kernel.parking.wake(actor, reason)
    assert waiting(world, 7, 64) == 0


def test_after_a_signal_a_futex_may_still_wake_the_actor_until_its_turn(world: Fake) -> None:
    actor = world.park(world.born(), Wait.FUTEX, a=7, b=64, c=ANY)
    world.kernel.parking.wake(actor, Wake.SIGNAL)
    assert waiting(world, 7, 64) == 1
    world.kernel.parking.leave(actor)
    world.kernel.parking.leave(actor)
    assert waiting(world, 7, 64) == 0


def test_several_words_are_waited_for_at_once(world: Fake) -> None:
    actor = world.born()
    actor.words = ((7, 64), (7, 65))
    world.park(actor, Wait.FUTEX, a=Space.MANY)
    assert (waiting(world, 7, 64), waiting(world, 7, 65)) == (1, 1)
    world.kernel.parking.wake(actor, Wake.READY, 1)
    assert (waiting(world, 7, 64), waiting(world, 7, 65), actor.reply) == (0, 0, (Wake.READY, 1))


def test_a_space_below_0_is_no_space(world: Fake) -> None:
    actor = world.born()
    assert ask(world, actor, Wait.FUTEX, a=-2, b=64, c=ANY) is None and actor.state is State.DEAD
    assert not world.kernel.futexes.queues()


# Processes


def test_the_parent_of_a_vfork_waits_for_its_own_child_only(world: Fake) -> None:
    parent, child = world.born(), world.born()
    assert ask(world, parent, Wait.VFORK, a=child.number) == (Wake.READY, 0)
    assert ask(world, parent, Wait.VFORK, a=1 << 40) == (Wake.READY, 0)
    child.process.parent = parent.process
    assert ask(world, parent, Wait.VFORK, a=child.number) is None
    assert parent.state is State.PARKED and child.process.vfork_parent is parent
    world.kernel.vforks.release(child.process)
    assert parent.reply == (Wake.READY, 0)
    parent.state = State.RUNNING
    assert ask(world, parent, Wait.VFORK, a=child.number) == (Wake.READY, 0)  # it has exec'd by now


# Connect


@pytest.mark.parametrize("number", [0, -1, 1 << 62])
def test_a_connect_of_a_socket_that_is_not_the_actors_fails(world: Fake, number: int) -> None:
    assert ask(world, world.born(), Wait.CONNECT, a=number) == (Wake.READY, -errno.EBADF)


def test_the_outcome_of_a_connect_is_told_at_once_or_ends_the_wait(world: Fake) -> None:
    actor = world.born()
    number = world.send(actor, msgpack.packb([int(Op.SOCKET), 4, 1, 0]))[0]  # type: ignore[index]
    assert isinstance(number, int)
    which = world.kernel.sockets.all[number]
    assert isinstance(which, StreamSocket)
    which.attempt.outcome = -errno.ECONNREFUSED
    assert ask(world, actor, Wait.CONNECT, a=number) == (Wake.READY, -errno.ECONNREFUSED)
    which.state = SocketState.CONNECTING
    assert ask(world, actor, Wait.CONNECT, a=number) is None and actor.state is State.PARKED
    world.kernel.sockets.handshake._tell(which, 0)
    assert actor.reply == (Wake.READY, 0) and which.attempt.outcome is None


# Computing


def test_computing_ends_with_the_flops_that_are_left(world: Fake) -> None:
    actor = world.park(world.born(), Wait.COMPUTE, a=10**9)
    assert actor.number in world.kernel.cpu._executions
    world.kernel.parking.wake(actor, Wake.SIGNAL)
    assert actor.reply == (Wake.SIGNAL, 10**9) and not world.kernel.cpu._executions


def test_an_actor_that_dies_or_has_the_turn_computes_no_more(world: Fake) -> None:
    dead, runner = (world.park(world.born(), Wait.COMPUTE, a=10**9) for _ in range(2))
    world.kernel.threads.end(dead)
    world.kernel.parking.unpark(runner)
    assert not world.kernel.cpu._executions


@pytest.mark.parametrize("kind", [Wait.CHARGE, Wait.CHARGE_REST])
def test_no_charge_is_made_where_computing_is_free(world: Fake, kind: Wait) -> None:
    actor = world.born()
    with pytest.raises(ValueError, match="a charge under the CPU policy free"):
        world.kernel.waits.make(int(kind), 0, NEVER, 0, 0, 0, 0, 0).prepare(actor)
    assert ask(world, actor, kind) is None and actor.state is State.DEAD


# Storages


@pytest.mark.parametrize(("storage", "size_bytes", "direction"), [(0, 1, 0), (-1, 1, 1), (0, -1, 0), (0, 0, STORAGE_AS_SAID)])
def test_a_storage_that_the_host_does_not_have_ends_the_process(
    world: Fake, storage: int, size_bytes: int, direction: int
) -> None:
    actor = world.born()
    assert ask(world, actor, Wait.STORAGE, storage, size_bytes, direction) is None and actor.state is State.DEAD


# Remote SimGrid


def test_an_operation_is_described_by_the_room_of_operations(world: Fake) -> None:
    class Operations:
        def words(self, thread: Actor) -> str:
            return f"operation of {thread.number}"

    actor = world.born()
    assert OperationWait(Operations()).describe(actor, world.describer()) == f"operation of {actor.number}"
