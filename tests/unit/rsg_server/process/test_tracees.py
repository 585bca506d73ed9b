"""Stops of traced threads are reported to the tracer in their order, and only the tracer lets a stopped thread go on."""

from __future__ import annotations

import errno
import signal

import msgpack
import pytest

from rsg_server.process.actor import Actor, State
from rsg_server.process.tracees import Tracee
from rsg_server.protocol import PTRACE_STOPPED_BY_SIGNAL, Fork, Op, Resume, Stop, Wait, Wake
from tests.unit.rsg_server.fakes import Fake

CONT, SYSCALL, DETACH, SET_OPTIONS, GET_REGISTERS, SEIZE = 7, 24, 17, 0x4200, 12, 0x4206
SYSGOOD, TRACE_FORK, TRACE_EXEC = 1, 2, 16
ADDRESS = 0x7FFF0000


@pytest.fixture
def tracer(world: Fake) -> Actor:
    return world.born()


@pytest.fixture
def tracee(world: Fake, tracer: Actor) -> Tracee:
    actor = world.born()
    actor.process.parent = tracer.process
    tracer.process.children.append(actor.process)
    assert world.send(actor, msgpack.packb([Op.PTRACE, 0, 0, 0])) == (0,)
    return world.kernel.tracees.all[actor]


def stop(world: Fake, actor: Actor, kind: int, value: int = 0, message: int = 0) -> tuple[object, ...] | None:
    return world.send(actor, msgpack.packb([Op.TRACEE_STOPS, int(kind), value, message, ADDRESS]))


def ask(world: Fake, tracer: Actor, request: int, tid: int, data: int = 0) -> tuple[object, ...] | None:
    return world.send(tracer, msgpack.packb([Op.PTRACE, request, tid, data]))


def wait(world: Fake, tracer: Actor, pid: int = -1) -> tuple[object, ...] | None:
    return world.send(tracer, msgpack.packb([Op.TRACEE_WAIT, pid, 0]))


def test_a_stop_is_told_once_and_ended_by_the_tracer_alone(world: Fake, tracer: Actor, tracee: Tracee) -> None:
    actor = tracee.actor
    assert wait(world, tracer) == (0, 0) and ask(world, tracer, CONT, actor.tid) == (-errno.ESRCH,)
    waiting = world.park(tracer, Wait.CHILD)
    assert stop(world, actor, Stop.SIGNAL, signal.SIGUSR1) is None
    assert (actor.state, waiting.state) == (State.PARKED, State.READY)
    world.kernel.signals.notice(actor.process, signal.SIGTERM)
    assert actor.state is State.PARKED
    assert wait(world, tracer) == (actor.tid, signal.SIGUSR1 << 8 | 0x7F) and wait(world, tracer) == (0, 0)
    assert wait(world, tracer, 9999) == (-errno.ECHILD, 0)
    assert ask(world, tracer, GET_REGISTERS, actor.tid) == (0, ADDRESS, actor.process.pid, 0)
    assert ask(world, world.born(), CONT, actor.tid) == (-errno.ESRCH,)
    assert ask(world, tracer, SEIZE, actor.tid) == (-errno.EIO,) and ask(world, tracer, CONT, actor.tid, 65) == (-errno.EIO,)
    assert ask(world, tracer, SYSCALL, actor.tid, signal.SIGUSR1) == (0,)
    assert actor.state is State.READY and actor.reply == (int(Wake.READY), Resume.SYSCALL | signal.SIGUSR1)


@pytest.mark.parametrize(
    ("options", "kind", "value", "status"),
    [
        (0, Stop.ENTRY, 0, signal.SIGTRAP),
        (SYSGOOD, Stop.EXIT, 0, signal.SIGTRAP | 0x80),
        (0, Stop.EVENT, 1, None),
        (TRACE_FORK, Stop.EVENT, 1, signal.SIGTRAP | 1 << 8),
        (0, Stop.EXEC, 0, signal.SIGTRAP),
        (TRACE_EXEC, Stop.EXEC, 0, signal.SIGTRAP | 4 << 8),
    ],
)
def test_the_options_say_what_a_stop_is(
    world: Fake, tracer: Actor, tracee: Tracee, options: int, kind: Stop, value: int, status: int | None
) -> None:
    stop(world, tracee.actor, Stop.SIGNAL, signal.SIGSTOP)
    wait(world, tracer)
    assert ask(world, tracer, SET_OPTIONS, tracee.actor.tid, 1 << 30) == (-errno.EINVAL,)
    assert ask(world, tracer, SET_OPTIONS, tracee.actor.tid, options) == (0,)
    ask(world, tracer, CONT, tracee.actor.tid)
    if status is None:
        assert stop(world, tracee.actor, kind, value) == (0, 0)
    else:
        assert stop(world, tracee.actor, kind, value) is None
        assert wait(world, tracer) == (tracee.actor.tid, status << 8 | 0x7F)


def test_a_thread_that_is_to_stop_learns_so_in_its_next_turn(world: Fake, tracer: Actor) -> None:
    actor = world.park(world.born(), Wait.TIME)
    world.kernel.tracees.demand_stop(world.kernel.tracees.attach(actor, tracer.process))
    assert actor.state is State.READY and world.shim.page.trace_news == 1
    other = world.born()
    assert world.send(other, msgpack.packb([Op.TRACEE_LOOK])) == (0, 0)
    assert world.send(actor, msgpack.packb([Op.TRACEE_LOOK])) == (0, 1)
    assert world.shim.page.trace_news == 0


def test_a_stop_that_is_asked_for_while_it_is_stopped_comes_next(world: Fake, tracer: Actor, tracee: Tracee) -> None:
    stop(world, tracee.actor, Stop.SIGNAL, signal.SIGTRAP)
    assert ask(world, tracer, PTRACE_STOPPED_BY_SIGNAL, tracee.actor.tid) == (0,)
    assert ask(world, tracer, PTRACE_STOPPED_BY_SIGNAL, tracer.tid) == (-errno.ESRCH,)
    ask(world, tracer, CONT, tracee.actor.tid)
    assert tracee.actor.reply[1] == Resume.STOPS_AGAIN and world.shim.page.trace_news == 0


def test_a_child_of_a_tracee_may_be_traced_from_its_birth(world: Fake, tracer: Actor, tracee: Tracee) -> None:
    tracee.options = TRACE_FORK
    born = [world.send(tracee.actor, msgpack.packb([Op.FORK, Fork.PROCESS + Fork.EVENT * event])) for event in (0, 1, 2)]
    assert [reply is not None and reply[4:] for reply in born] == [(), (1,), ()]
    assert world.shim.page.tracees == 2


def test_the_end_of_a_tracee_is_told_if_the_kernel_does_not(world: Fake, tracer: Actor, tracee: Tracee) -> None:
    stranger = world.born()
    attached = world.kernel.tracees.attach(stranger, tracer.process)
    stranger.process.exit_status = 3
    world.kernel.deaths.reap(stranger.process)
    world.kernel.deaths.reap(tracee.actor.process)
    assert attached.actor not in world.kernel.tracees.all and world.shim.page.tracees == 1
    assert wait(world, tracer) == (stranger.tid, 3 << 8)
    assert wait(world, tracer) == (-errno.ECHILD, 0) and world.shim.page.tracees == 0


def test_tracees_of_a_dead_tracer_go_on(world: Fake, tracer: Actor, tracee: Tracee) -> None:
    stop(world, tracee.actor, Stop.SIGNAL, signal.SIGSTOP)
    running = world.born()
    world.kernel.tracees.attach(running, tracer.process)
    world.kernel.deaths.reap(tracer.process)
    assert tracee.actor.state is State.READY and tracee.actor.reply[1] == Resume.DETACHED
    assert stop(world, running, Stop.SIGNAL, signal.SIGUSR1) == (0, Resume.DETACHED | signal.SIGUSR1)
    assert world.shim.page.tracees == 0


def test_nobody_traces_itself_or_what_is_traced(world: Fake, tracer: Actor, tracee: Tracee) -> None:
    assert ask(world, tracer, 16, tracer.tid) == (-errno.EPERM,)
    assert ask(world, world.born(), 16, tracee.actor.tid) == (-errno.EPERM,)
    assert ask(world, tracer, 16, 4242) == (-errno.ESRCH,)
    assert ask(world, tracee.actor, 0, 0) == (-errno.EPERM,) and ask(world, tracer, 0, 0) == (-errno.EPERM,)
