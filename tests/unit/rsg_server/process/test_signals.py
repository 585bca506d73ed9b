"""A signal wakes the actor that may take it; stopped processes have no turns."""

from __future__ import annotations

import os
import signal

import pytest

from rsg_server.process.actor import Actor, State
from rsg_server.process.wait import HAS_SIGNALFD
from rsg_server.protocol import Wait, Wake
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import real_process

USR1 = 1 << (signal.SIGUSR1 - 1)
READ, POLL, NANOSLEEP, SEMOP, EPOLL_WAIT = 0, 7, 35, 65, 232  # numbers of system calls


def thread_of(world: Fake, actor: Actor) -> Actor:
    """Another thread of a process."""
    made, theirs = world.kernel.threads.new(actor.process)
    os.close(theirs)
    made.tid, made.state, made.owes_message = made.number + 1000, State.RUNNING, False
    return made


def test_the_main_thread_is_woken_first(world: Fake) -> None:
    main = world.park(world.born(), Wait.TIME)
    thread = world.park(thread_of(world, main), Wait.TIME)
    world.kernel.signals.notice(main.process, signal.SIGUSR1)
    assert (main.state, thread.state) == (State.READY, State.PARKED)
    assert main.reply[0] == Wake.SIGNAL


def test_a_thread_that_blocks_the_signal_is_passed_over(world: Fake) -> None:
    main = world.park(world.born(), Wait.TIME, blocked=USR1)
    thread = world.park(thread_of(world, main), Wait.TIME)
    world.kernel.signals.notice(main.process, signal.SIGUSR1)
    assert (main.state, thread.state) == (State.PARKED, State.READY)


def test_a_blocked_signal_wakes_threads_that_ask_for_it(world: Fake) -> None:
    by_sigwait = world.park(world.born(), Wait.SIGNAL, a=USR1, blocked=USR1)
    by_signalfd = world.park(world.born(), Wait.FD, blocked=USR1 | HAS_SIGNALFD)
    for actor in (by_sigwait, by_signalfd):
        world.kernel.signals.notice(actor.process, signal.SIGUSR1)
    assert (by_sigwait.state, by_signalfd.state) == (State.READY, State.READY)


def test_a_signal_to_one_thread_or_to_all(world: Fake) -> None:
    main = world.park(world.born(), Wait.TIME)
    threads = [world.park(thread_of(world, main), Wait.TIME) for _ in range(2)]
    world.kernel.signals.notice(main.process, signal.SIGUSR1, tid=threads[0].tid)
    assert list(world.kernel.run_queue) == threads[:1]
    world.kernel.signals.notice(main.process, signal.SIGTERM, every_thread=True)
    assert list(world.kernel.run_queue) == [threads[0], main, threads[1]]


def test_a_stopped_process_is_ready_only_once_it_is_continued(world: Fake) -> None:
    first = world.park(world.born(), Wait.TIME)
    second = world.park(thread_of(world, first), Wait.TIME)
    world.kernel.parking.wake(second, Wake.READY)
    world.kernel.signals.stop(first.process)
    assert not world.kernel.run_queue
    world.kernel.parking.wake(first, Wake.READY)
    assert not world.kernel.run_queue and first.state is State.READY
    world.kernel.signals.resume(first.process)
    world.kernel.signals.resume(first.process)  # a second SIGCONT changes nothing
    assert list(world.kernel.run_queue) == [first, second], "in the order of their birth"


def test_a_deadline_comes_while_the_process_is_stopped(world: Fake) -> None:
    actor = world.born()
    world.kernel.parking.park(actor, world.kernel.waits.make(int(Wait.TIME), NANOSLEEP, 1000, 0, 0, 0, 0, 0, True))
    world.kernel.signals.stop(actor.process)
    world.pass_time(2000)
    assert actor.state is State.READY and actor.reply[0] == Wake.TIMEOUT
    assert not world.kernel.run_queue


@pytest.mark.parametrize(
    ("syscall", "deadline_ns", "is_ended"),
    [
        (EPOLL_WAIT, 1000, True),
        (EPOLL_WAIT, -1, True),
        (SEMOP, -1, True),
        (READ, 1000, True),
        (READ, -1, False),
        (POLL, 1000, False),
    ],
)
def test_a_stop_ends_the_calls_that_signal_7_names(world: Fake, syscall: int, deadline_ns: int, is_ended: bool) -> None:
    actor = world.born()
    wait = world.kernel.waits.make(int(Wait.TIME), syscall, deadline_ns, 0, 0, 0, 0, 0, True)
    world.kernel.parking.park(actor, wait)
    world.kernel.signals.stop(actor.process)
    assert (actor.state is State.READY) == is_ended and not world.kernel.run_queue
    assert not is_ended or actor.reply == (Wake.SIGNAL, 1)
    world.kernel.signals.resume(actor.process)
    assert list(world.kernel.run_queue) == [actor] * is_ended


def test_a_parent_that_waits_for_a_child_looks_when_the_child_stops_and_continues(world: Fake) -> None:
    parent, child = world.born(), world.born()
    child.process.parent = parent.process
    for change in (world.kernel.signals.stop, world.kernel.signals.resume):
        parent.state = State.RUNNING
        world.park(parent, Wait.CHILD)
        change(child.process)
        assert parent.state is State.READY and parent.reply[0] == Wake.READY


def test_signals_of_the_kernel_are_looked_for_where_they_may_come(world: Fake) -> None:
    with real_process(world, blocked=signal.SIGUSR1) as actor:
        os.kill(actor.process.global_pid, signal.SIGUSR1)
        world.park(actor, Wait.SIGNAL, a=USR1)
        world.kernel.signals.look()
        assert actor.state is State.PARKED, "nobody said that the kernel may send it signals"
        world.kernel.signals.listen_to_kernel(actor.process, is_at_terminal=False)
        world.kernel.signals.look()
        assert actor.state is State.READY and actor.reply[0] == Wake.SIGNAL
        assert actor.process.new_pending() == [], "each signal is noticed once"


def test_only_a_terminal_has_characters_that_come_later(world: Fake) -> None:
    signals = world.kernel.signals
    signals.listen_to_kernel(world.born().process, is_at_terminal=False)
    assert not signals.is_at_terminal
    signals.listen_to_kernel(world.born().process, is_at_terminal=True)
    signals.listen_to_kernel(world.born().process, is_at_terminal=False)
    assert signals.is_at_terminal
