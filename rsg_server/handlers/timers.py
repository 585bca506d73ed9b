"""Interval timers, POSIX timers (signals that the server sends) and timerfds (eventfds that it writes)."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rsg_server import native_signal
from rsg_server.handlers.table import OK, Handler, Reply, failed
from rsg_server.process import Timer
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.actor import Actor
    from rsg_server.kernel import Kernel
    from rsg_server.process import Process
    from rsg_server.timeline import Event

EINVAL = 22
TIMER_IDS = 1 << 31


def _left(kernel: Kernel, next_ns: int) -> int:
    return max(next_ns - kernel.now_ns, 1) if next_ns else 0


def _next_period(kernel: Kernel, last_ns: int, interval_ns: int) -> int:
    """The first multiple of the interval after now: periods that were missed are not made up for."""
    return last_ns + interval_ns * max(1, (kernel.now_ns - last_ns) // interval_ns + 1)


def timer_set(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[id, first, interval, signal, tid, value] -> [0, left, interval] of before; first 0 disarms."""
    number, first, interval, signal_number, tid, value = arguments
    if not 0 <= number < TIMER_IDS:
        return failed(EINVAL)
    process = actor.process
    timer = process.timers.setdefault(number, Timer())
    before = (0, _left(kernel, timer.next_ns), timer.interval_ns)
    if timer.event is not None:
        timer.event.cancel()
    timer.next_ns, timer.interval_ns = first, interval
    timer.signal, timer.tid, timer.value, timer.event = signal_number, tid, value, None
    if timer.next_ns > 0:
        timer.event = kernel.timeline.add(timer.next_ns, lambda: _expire(kernel, process, number, timer))
    return Reply(before)


def _expire(kernel: Kernel, process: Process, number: int, timer: Timer) -> None:
    timer.event = None
    if timer.interval_ns > 0:
        timer.next_ns = _next_period(kernel, timer.next_ns, timer.interval_ns)
        timer.event = kernel.timeline.add(timer.next_ns, lambda: _expire(kernel, process, number, timer))
    else:
        timer.next_ns = 0
    if process.dead or not 1 <= timer.signal <= 64:
        return
    with contextlib.suppress(ProcessLookupError):
        thread = native_signal.global_tid(process.global_pid, timer.tid) if timer.tid else 0
        posix = number != 0
        native_signal.send_timer_signal(process.global_pid, timer.signal, number - 1, timer.value, posix, thread)
    kernel.notice_signal(process, timer.signal, timer.tid)


def timer_get(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[id] -> [0, left, interval]"""
    timer = actor.process.timers.get(arguments[0], Timer())
    return Reply((0, _left(kernel, timer.next_ns), timer.interval_ns))


def timer_delete(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[id] -> [0]"""
    timer = actor.process.timers.pop(arguments[0], None)
    if timer is not None and timer.event is not None:
        timer.event.cancel()
    return OK


@dataclass(eq=False, slots=True)
class TimerFd:
    """The server's copy of an eventfd that an application takes for a timerfd."""

    fd: int
    next_ns: int = 0
    interval_ns: int = 0
    event: Event | None = None


def timerfd_create(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[] -> [0] + eventfd. The kernel's number of the eventfd names the timer from now on."""
    fd = os.eventfd(0, os.EFD_CLOEXEC)
    try:
        number = _eventfd_id(fd)
    except OSError:
        os.close(fd)
        raise
    kernel.timerfds[number] = TimerFd(fd)
    return Reply(fds=(fd,), close=False)


def _eventfd_id(fd: int) -> int:
    with open(f"/proc/self/fdinfo/{fd}") as fields:
        for line in fields:
            if line.startswith("eventfd-id:"):
                return int(line.split()[1])
    return -1


def timerfd_set(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[eventfd id, first, interval] -> [0, left, interval] of before"""
    number, first, interval = arguments
    timer = kernel.timerfds.get(number)
    if not isinstance(timer, TimerFd):
        return failed(EINVAL)
    before = (0, _left(kernel, timer.next_ns), timer.interval_ns)
    if timer.event is not None:
        timer.event.cancel()
        timer.event = None
    poller = select.poll()
    poller.register(timer.fd, select.POLLIN)
    if poller.poll(0):  # the description is shared, so it may be a waiting one
        os.eventfd_read(timer.fd)
    timer.next_ns, timer.interval_ns = first, interval
    if timer.next_ns > 0:
        timer.event = kernel.timeline.add(timer.next_ns, lambda: _ring(kernel, timer))
    return Reply(before)


def _ring(kernel: Kernel, timer: TimerFd) -> None:
    os.eventfd_write(timer.fd, 1)
    kernel.must_poll = True
    timer.event = None
    if timer.interval_ns > 0:
        timer.next_ns = _next_period(kernel, timer.next_ns, timer.interval_ns)
        timer.event = kernel.timeline.add(timer.next_ns, lambda: _ring(kernel, timer))
    else:
        timer.next_ns = 0


def timerfd_get(kernel: Kernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[eventfd id] -> [0, left, interval]"""
    timer = kernel.timerfds.get(arguments[0])
    if not isinstance(timer, TimerFd):
        return failed(EINVAL)
    return Reply((0, _left(kernel, timer.next_ns), timer.interval_ns))


HANDLERS: dict[int, Handler] = {
    int(Op.TIMER_SET): Handler("iiiiii", timer_set),
    int(Op.TIMER_GET): Handler("i", timer_get),
    int(Op.TIMER_DELETE): Handler("i", timer_delete),
    int(Op.TIMERFD): Handler("", timerfd_create, makes_descriptors=True),
    int(Op.TIMERFD_SET): Handler("iii", timerfd_set),
    int(Op.TIMERFD_GET): Handler("i", timerfd_get),
}
