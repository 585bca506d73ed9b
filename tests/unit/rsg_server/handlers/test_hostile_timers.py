"""Timers and timerfds that processes set to what cannot be, or break: the server goes on."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess

import pytest

from rsg_server.process.actor import Actor
from rsg_server.process.timerfds import FIRST_SWEEP, TimerFd
from rsg_server.protocol import Op, Wait
from rsg_server.turn.loop import Outcome
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.forms import interpreted_only
from tests.unit.rsg_server.handlers.test_hostile_messages import LOOPBACK, MAX64, ask, go_on, open_socket


def timerfd(world: Fake, actor: Actor) -> TimerFd:
    """A timerfd; its descriptor is the same for the server and the process, which both are this test."""
    actor.process.global_pid = os.getpid()
    ask(world, actor, Op.TIMERFD, 0)
    return list(world.kernel.timerfds.all.values())[-1]


def test_a_timer_whose_next_time_does_not_fit_64_bits(world: Fake) -> None:
    actor = world.born()
    ask(world, actor, Op.TIMER_SET, 0, 1, MAX64, 0, 0, 0)
    go_on(world, 1)


def test_a_timerfd_whose_next_time_does_not_fit_64_bits(world: Fake) -> None:
    actor = world.born()
    ask(world, actor, Op.TIMERFD_SET, timerfd(world, actor).fd, 1, MAX64, 0)
    go_on(world, 1)


def test_a_posix_timer_whose_number_does_not_fit_32_bits(world: Fake) -> None:
    with subprocess.Popen(["sleep", "100"]) as real:
        actor = world.born()
        actor.process.open_pidfd(real.pid)
        ask(world, actor, Op.TIMER_SET, 2**40, 1, 0, int(signal.SIGTERM), 0, 0)
        try:
            go_on(world, 1)
        finally:
            real.kill()


def test_a_timerfd_may_have_a_high_descriptor_number(world: Fake) -> None:
    """select(2) ends at 1024; a server of many hosts has more descriptors."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2048:
        pytest.skip("the limit of open files is too low")
    actor = world.born()
    timer = timerfd(world, actor)
    high = fcntl.fcntl(timer.fd, fcntl.F_DUPFD_CLOEXEC, 1500)
    os.close(timer.fd)
    timer.fd = high
    assert ask(world, actor, Op.TIMERFD_SET, high, 1000, 0, 0) == (0, 0, 0)
    assert not actor.process.dead


@interpreted_only
def test_a_timer_that_is_late_by_many_periods_catches_up_at_once(world: Fake) -> None:
    """Linux counts the overruns; one event for each would take hours."""
    actor = world.born()
    world.kernel.clock.advance_to(10**6)
    ask(world, actor, Op.TIMER_SET, 0, 1, 1, 0, 0, 0)
    happened, expire = 0, world.kernel.timeline.add

    def counted(at_ns: int, action: object) -> object:
        nonlocal happened
        happened += 1
        if happened > 1000:
            raise AssertionError("one event per missed period")
        return expire(at_ns, action)  # type: ignore[arg-type]

    world.kernel.timeline.add = counted  # type: ignore[method-assign, assignment]
    world.kernel.timeline.run_due(world.kernel.now_ns)


def test_the_end_of_time_written_into_the_clock_page(world: Fake) -> None:
    """Every emulated process can write there; what is due after it no longer fits."""
    actor = world.born()
    number, app = open_socket(world, actor, 4, 1)
    with app:
        world.shim.page.now_ns = MAX64
        ask(world, actor, Op.CONNECT, number, 4, LOOPBACK, 80, 0)
        world.set_lookahead()


def test_a_late_timerfd_counts_all_expirations(world: Fake) -> None:
    actor = world.born()
    timer = timerfd(world, actor)
    ask(world, actor, Op.TIMERFD_SET, timer.fd, 100, 100, 0)
    world.kernel.clock.advance_to(1050)
    world.kernel.timeline.run_due(1050)
    assert os.eventfd_read(timer.fd) == 10
    assert world.kernel.timeline.next_ns == 1100


def test_a_timerfd_that_its_holder_has_written_full(world: Fake) -> None:
    """The eventfd blocks whoever writes more: the server must not."""
    actor = world.born()
    timer = timerfd(world, actor)
    os.eventfd_write(timer.fd, MAX64 - 1)
    ask(world, actor, Op.TIMERFD_SET, timer.fd, 1, 0, 0)
    os.eventfd_write(timer.fd, MAX64 - 1)
    go_on(world, 1)
    assert timer.event is None, "it has expired"


def test_what_lies_beyond_the_end_of_time_never_happens(world: Fake) -> None:
    """It made the loop believe for ever that it had reached the limit of its pace."""
    actor = world.born()
    ask(world, actor, Op.PARK, int(Wait.TIME), 35, 2**63 + 5, 0, 0, 0, 0)
    assert world.loop._advance(world.kernel.timeline.next_ns) is Outcome.IDLE


def test_a_timer_of_a_process_that_may_not_be_sent_signals(world: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with subprocess.Popen(["sleep", "100"]) as real:
        actor = world.born()
        actor.process.open_pidfd(real.pid)
        ask(world, actor, Op.TIMER_SET, 0, 1, 0, int(signal.SIGALRM), 0, 0)
        with monkeypatch.context() as patch:
            patch.setattr(signal, "pidfd_send_signal", refuse)
            go_on(world, 1)
        real.kill()


def test_timerfds_that_nobody_has_open_are_closed(world: Fake) -> None:
    """A program that makes one for each of its waits runs for months."""
    before = len(os.listdir("/proc/self/fd"))
    with subprocess.Popen(["sleep", "100"]) as real:
        actor = world.born()
        actor.process.open_pidfd(real.pid)
        for _ in range(3 * FIRST_SWEEP):
            ask(world, actor, Op.TIMERFD, 0)
        real.kill()
    assert len(world.kernel.timerfds.all) <= FIRST_SWEEP
    assert len(os.listdir("/proc/self/fd")) <= before + FIRST_SWEEP + 4


def test_timerfds_that_somebody_has_open_are_kept(world: Fake) -> None:
    actor = world.born()
    kept = timerfd(world, actor)
    actor.process.pidfd = os.pidfd_open(os.getpid())
    for _ in range(2 * FIRST_SWEEP):
        world.kernel.timerfds.create(False)
    world.kernel.timerfds.sweep(world.kernel.processes.values())
    assert kept in world.kernel.timerfds.all.values()
    os.close(actor.process.pidfd)
    actor.process.pidfd = -1
