"""Interval timers, POSIX timers (signals that the server sends) and timerfds (eventfds that it writes)."""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, failed
from rsg_server.process import native_signal
from rsg_server.process.process import Timer
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.handlers.needs import TimerKernel
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process
    from rsg_server.process.timerfds import TimerFd

REAL_TIMER = 0
"""The number of ITIMER_REAL; POSIX timers have the numbers from 1 on."""
TIMER_IDS = 1 << 31
"""One above the highest number of a timer (timer_t is an int for the kernel)."""
SIGNAL_MAX = 64
OVERRUNS_MAX = (1 << 31) - 1
"""DELAYTIMER_MAX of Linux (timer_getoverrun(2))."""
EXPIRATIONS_MAX = 1 << 62
"""How many expirations are written to a timerfd at once: an eventfd holds less than 2**64."""


def _left(kernel: TimerKernel, next_ns: int) -> int:
    """Nanoseconds until a timer expires; 0 if it is disarmed, so 1 at least if it is armed (timer_gettime(2))."""
    return max(next_ns - kernel.now_ns, 1) if next_ns else 0


def _next_period(kernel: TimerKernel, last_ns: int, interval_ns: int) -> int:
    """The first expiration after now: periods that were missed are counted, and do not expire one by one."""
    return last_ns + interval_ns * max(1, (kernel.now_ns - last_ns) // interval_ns + 1)


def timer_set(kernel: TimerKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[id, first, interval, signal, tid, value] -> [0, left, interval] of before; first 0 disarms."""
    number, first, interval, signal_number, tid, value = arguments
    if not 0 <= number < TIMER_IDS:
        return failed(errno.EINVAL)
    process = actor.process
    timer = process.timers.setdefault(number, Timer())
    timer.overruns = timer.overruns_taken = 0
    before = (0, _left(kernel, timer.next_ns), timer.interval_ns)
    if timer.event is not None:
        timer.event.cancel()
    timer.next_ns, timer.interval_ns = first, interval
    timer.signal, timer.tid, timer.value, timer.event = signal_number, tid, value, None
    if timer.next_ns > 0:
        timer.event = kernel.timeline.add(timer.next_ns, lambda: _expire(kernel, process, number, timer))
    return Reply(before)


def _expire(kernel: TimerKernel, process: Process, number: int, timer: Timer) -> None:
    """Let a timer expire: arm it for its next period, and send its signal unless an earlier one is pending."""
    timer.event = None
    expired = 1
    if timer.interval_ns > 0:
        last_ns = timer.next_ns
        timer.next_ns = _next_period(kernel, last_ns, timer.interval_ns)
        timer.event = kernel.timeline.add(timer.next_ns, lambda: _expire(kernel, process, number, timer))
        expired = (timer.next_ns - last_ns) // timer.interval_ns
    else:
        timer.next_ns = 0
    if process.dead or not 1 <= timer.signal <= SIGNAL_MAX:
        return
    if number == REAL_TIMER:
        kernel.signals.send(process, timer.signal)
    elif _is_pending(process, timer):
        timer.overruns += expired  # timer_getoverrun(2): one signal is queued, the others are counted
        return
    else:
        timer.overruns_taken, timer.overruns = timer.overruns, expired - 1
        timer.was_sent = True
        _send(process, number, timer)
    kernel.signals.notice(process, timer.signal, timer.tid)


def _send(process: Process, number: int, timer: Timer) -> None:
    """Send the signal of a POSIX timer, with its value, to the process, or to the thread that it names if that still runs."""
    thread = native_signal.global_tid(process.global_pid, timer.tid) if timer.tid else 0
    if timer.tid and not thread:
        return
    native_signal.send_timer_signal(process, timer.signal, number - 1, timer.value, thread)


def _is_pending(process: Process, timer: Timer) -> bool:
    """Whether the signal of an earlier expiration is still pending."""
    return timer.was_sent and native_signal.is_pending(process.global_pid, timer.signal, timer.tid)


def timer_get(kernel: TimerKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[id] -> [0, left, interval, overruns]; zeros if there is no such timer."""
    timer = actor.process.timers.get(arguments[0], Timer())
    overruns = timer.overruns_taken if _is_pending(actor.process, timer) else timer.overruns
    return Reply((0, _left(kernel, timer.next_ns), timer.interval_ns, min(overruns, OVERRUNS_MAX)))


def timer_delete(kernel: TimerKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[id] -> [0]"""
    timer = actor.process.timers.pop(arguments[0], None)
    if timer is not None and timer.event is not None:
        timer.event.cancel()
    return OK


def timerfd_create(kernel: TimerKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[1 if of CLOCK_REALTIME] -> [0] + an eventfd, which the server writes when the timer expires."""
    kernel.timerfds.sweep(kernel.processes.values())
    timer = kernel.timerfds.create(bool(arguments[0]))
    return Reply(fds=(timer.fd,), close=False)


def _on_timerfd(run: Callable[[TimerKernel, TimerFd, Sequence[Any]], Reply]) -> Callable[..., Reply]:
    """Make a handler whose first argument is a descriptor of the caller, and which is run for the timerfd behind it."""

    def handler(kernel: TimerKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
        try:
            timer = kernel.timerfds.of(actor.process, arguments[0])
        except (FileNotFoundError, ProcessLookupError):
            return failed(errno.EBADF)
        return failed(errno.EINVAL) if timer is None else run(kernel, timer, arguments[1:])

    return handler


def timerfd_set(kernel: TimerKernel, timer: TimerFd, arguments: Sequence[Any]) -> Reply:
    """[value, interval, 1 if absolute] -> [0, left, interval] of before; value 0 disarms."""
    value, interval, absolute = arguments
    before = (0, _left(kernel, timer.next_ns), timer.interval_ns)
    if timer.event is not None:
        timer.event.cancel()
        timer.event = None
    poller = select.poll()
    poller.register(timer.fd, select.POLLIN)
    if poller.poll(0):  # the description is shared with emulated processes, which may have made reads wait
        os.eventfd_read(timer.fd)
    timer.interval_ns = interval
    timer.next_ns = _first_ns(kernel, timer, value, bool(absolute)) if value > 0 else 0
    if timer.next_ns > 0:
        timer.event = kernel.timeline.add(timer.next_ns, lambda: _ring(kernel, timer))
    return Reply(before)


def _first_ns(kernel: TimerKernel, timer: TimerFd, value: int, absolute: bool) -> int:
    """The moment of the first expiration, at least 1; a moment that is past is due at once."""
    if not absolute:
        return kernel.now_ns + value
    return max(value - (kernel.options.epoch_ns if timer.is_real else kernel.options.uptime_ns), 1)


def _ring(kernel: TimerKernel, timer: TimerFd) -> None:
    """Let a timerfd expire: arm it for its next period, and write the number of expirations to its eventfd."""
    expired = 1
    timer.event = None
    if timer.interval_ns > 0:
        last_ns = timer.next_ns
        timer.next_ns = _next_period(kernel, last_ns, timer.interval_ns)
        timer.event = kernel.timeline.add(timer.next_ns, lambda: _ring(kernel, timer))
        expired = (timer.next_ns - last_ns) // timer.interval_ns
    else:
        timer.next_ns = 0
    poller = select.poll()
    poller.register(timer.fd, select.POLLOUT)
    if poller.poll(0):  # a process may have written the eventfd full, and made writes to the shared description wait
        os.eventfd_write(timer.fd, min(expired, EXPIRATIONS_MAX))
    kernel.readiness.changed()


def timerfd_get(kernel: TimerKernel, timer: TimerFd, arguments: Sequence[Any]) -> Reply:
    """[] -> [0, left, interval]"""
    return Reply((0, _left(kernel, timer.next_ns), timer.interval_ns))


HANDLERS: dict[int, Handler] = {
    int(Op.TIMER_SET): Handler("iiiiii", timer_set),
    int(Op.TIMER_GET): Handler("i", timer_get),
    int(Op.TIMER_DELETE): Handler("i", timer_delete),
    int(Op.TIMERFD): Handler("i", timerfd_create, makes_descriptors=True),
    int(Op.TIMERFD_SET): Handler("iiii", _on_timerfd(timerfd_set)),
    int(Op.TIMERFD_GET): Handler("i", _on_timerfd(timerfd_get)),
}
