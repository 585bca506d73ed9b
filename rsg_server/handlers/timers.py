"""Handles the timers of processes: interval timers, POSIX timers, and timerfds.

The server sends the signals of the first two. A timerfd is an eventfd in the real kernel, to which the server writes.
"""

from __future__ import annotations

import errno
import os
import select
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.process.cpu_timers import NO_LIMIT
from rsg_server.process.native_signal import is_timer_pending, next_period, notify_expiry
from rsg_server.process.process import Timer
from rsg_server.protocol import Op

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu_timers import CpuTimers
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.process.timerfds import TimerFd, TimerFds
    from rsg_server.shared.clock import Clock
    from rsg_server.shared.wall_clocks import WallClocks

TIMER_IDS = 1 << 31
"""One more than the highest number of a timer: for the kernel, timer_t is an int."""
OVERRUNS_MAX = (1 << 31) - 1
"""The most overruns that are reported: DELAYTIMER_MAX of Linux (timer_getoverrun(2))."""
EXPIRATIONS_MAX = 1 << 62
"""The most expirations that are written to a timerfd at once: an eventfd holds less than 2**64."""


def _left(now_ns: int, next_ns: int) -> int:
    """Return the nanoseconds until a timer expires, at least 1; 0 if the timer is not armed (timer_gettime(2))."""
    return max(next_ns - now_ns, 1) if next_ns else 0


class TimerHandlers:
    """Handles TIMER_SET and the other messages about timers that send signals, and about limits of CPU time."""

    def __init__(self, timeline: Timeline, clock: Clock, signals: Signals, cpu_timers: CpuTimers) -> None:
        self._timeline, self._clock, self._signals, self._cpu_timers = timeline, clock, signals, cpu_timers

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.TIMER_SET: self.timer_set,
                Op.CPU_TIMER_SET: self.cpu_timer_set,
                Op.CPU_LIMIT: self.cpu_limit,
                Op.TIMER_GET: self.timer_get,
                Op.TIMER_DELETE: self.timer_delete,
            }
        )

    def _left_of(self, timer: Timer) -> int:
        return _left(self._clock.now_ns if timer.cpu_of is None else timer.cpu_of.cpu_ns, timer.next_ns)

    def timer_set(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Arm a timer of virtual time, which sends a signal.

        [id, ns until the first expiration, interval in ns, signal, tid or 0, value] -> [0, ns left before, interval
        before]. 0 ns disarm it.
        """
        number, first, interval, signal_number, tid, value = arguments
        if not 0 <= number < TIMER_IDS:
            return failed(errno.EINVAL)
        process = actor.process
        timer = process.timers.setdefault(number, Timer())
        timer.overruns = timer.overruns_taken = 0
        before = (0, self._left_of(timer), timer.interval_ns)
        if timer.event is not None:
            timer.event.cancel()
        timer.next_ns, timer.interval_ns, timer.cpu_of = first, interval, None
        timer.signal, timer.tid, timer.value, timer.event = signal_number, tid, value, None
        if timer.next_ns > 0:
            timer.event = self._timeline.add(timer.next_ns, lambda: self._expire(process, number, timer))
        return Reply(before)

    def _expire(self, process: Process, number: int, timer: Timer) -> None:
        """Let a timer expire: arm it for its next period, and send its signal, unless an earlier signal of it is pending."""
        timer.event = None
        expired = 1
        if timer.interval_ns > 0:
            last_ns = timer.next_ns
            timer.next_ns = next_period(last_ns, timer.interval_ns, self._clock.now_ns)
            timer.event = self._timeline.add(timer.next_ns, lambda: self._expire(process, number, timer))
            expired = (timer.next_ns - last_ns) // timer.interval_ns
        else:
            timer.next_ns = 0
        if notify_expiry(self._signals, process, number, timer, expired):
            self._signals.notice(process, timer.signal, timer.tid)

    def cpu_timer_set(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Arm a timer of charged CPU time: that of one thread, or with tid 0 of the whole process.

        [id, tid whose CPU time counts, ns until the first expiration, interval, signal, tid or 0, value, 1 if absolute]
        -> [0, ns left before, interval before].
        """
        number, clock_tid, first, interval, signal_number, tid, value, absolute = arguments
        process = actor.process
        clock = next((other for other in process.actors if other.tid == clock_tid), None) if clock_tid else process
        if not 0 <= number < TIMER_IDS or clock is None:
            return failed(errno.EINVAL)
        before = self.timer_set(actor, (number, 0, interval, signal_number, tid, value))
        timer = process.timers[number]
        timer.cpu_of, timer.next_ns = clock, first
        if first > 0 and not absolute:
            timer.next_ns += clock.cpu_ns
        process.has_cpu_timers = True
        return before

    def cpu_limit(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Set or read a process's limit of CPU time (RLIMIT_CPU).

        [pid, 1 to set, soft, hard] -> [0, soft and hard of before], in seconds, -1: no limit; [1] if the real kernel
        keeps this limit.
        """
        pid, sets, soft, hard = arguments
        process = actor.process.host.processes.get(pid) if pid else actor.process
        if process is None or not self._cpu_timers.counts(process):
            return Reply((1,))
        before = process.cpu_limit or (NO_LIMIT, NO_LIMIT)
        if sets:
            process.cpu_limit = (soft, hard) if (soft, hard) != (NO_LIMIT, NO_LIMIT) else None
        return Reply((0, *before))

    def timer_get(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Read a timer.

        [id] -> [0, ns left, interval in ns, overruns]; all are 0 if there is no such timer.
        """
        timer = actor.process.timers.get(arguments[0], Timer())
        overruns = timer.overruns_taken if is_timer_pending(actor.process, timer) else timer.overruns
        return Reply((0, self._left_of(timer), timer.interval_ns, min(overruns, OVERRUNS_MAX)))

    def timer_delete(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Delete a timer.

        [id] -> [0].
        """
        timer = actor.process.timers.pop(arguments[0], None)
        if timer is not None and timer.event is not None:
            timer.event.cancel()
        return OK


class TimerFdHandlers:
    """Handles TIMERFD, TIMERFD_SET and TIMERFD_GET.

    `epochs` are the values of CLOCK_REALTIME and CLOCK_MONOTONIC at the start of the run.
    """

    def __init__(
        self,
        timerfds: TimerFds,
        processes: dict[int, Process],
        timeline: Timeline,
        clock: Clock,
        readiness_changed: Callable[[], None],
        epochs: tuple[WallClocks, int],
    ) -> None:
        self._timerfds, self._processes, self._timeline, self._clock = timerfds, processes, timeline, clock
        self._readiness_changed, (self._wall_clocks, self._uptime_ns) = readiness_changed, epochs

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.TIMERFD: self.timerfd_create,
                Op.TIMERFD_SET: self._on_timerfd(self.timerfd_set),
                Op.TIMERFD_GET: self._on_timerfd(self.timerfd_get),
            },
            makes_descriptors=(Op.TIMERFD,),
        )

    def _on_timerfd(self, run: Callable[[TimerFd, Sequence[Any]], Reply]) -> Callable[[Actor, Sequence[Any]], Reply]:
        """Return a message handler for a function about a timerfd; the first argument of its message is the caller's
        descriptor.
        """

        def handler(actor: Actor, arguments: Sequence[Any]) -> Reply:
            try:
                timer = self._timerfds.of(actor.process, arguments[0])
            except (FileNotFoundError, ProcessLookupError):
                return failed(errno.EBADF)
            return failed(errno.EINVAL) if timer is None else run(timer, arguments[1:])

        return handler

    def timerfd_create(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Make a timerfd: an eventfd, to which the server writes at each expiration.

        [1 if of CLOCK_REALTIME] -> [0] + the eventfd.
        """
        self._timerfds.sweep(self._processes.values())
        timer = self._timerfds.create(bool(arguments[0]))
        return Reply(fds=(timer.fd,), close=False)

    def timerfd_set(self, timer: TimerFd, arguments: Sequence[Any]) -> Reply:
        """Arm a timerfd.

        [ns until the first expiration, interval in ns, 1 if absolute] -> [0, ns left before, interval before]. 0 ns
        disarm it.
        """
        value, interval, absolute = arguments
        before = (0, _left(self._clock.now_ns, timer.next_ns), timer.interval_ns)
        if timer.event is not None:
            timer.event.cancel()
            timer.event = None
        poller = select.poll()
        poller.register(timer.fd, select.POLLIN)
        if poller.poll(0):  # emulated processes share this open file, and may have cleared O_NONBLOCK
            os.eventfd_read(timer.fd)
        timer.interval_ns = interval
        timer.next_ns = self._first_ns(timer, value, bool(absolute)) if value > 0 else 0
        if timer.next_ns > 0:
            timer.event = self._timeline.add(timer.next_ns, lambda: self._ring(timer))
        return Reply(before)

    def _first_ns(self, timer: TimerFd, value: int, absolute: bool) -> int:
        """Return the virtual time (ns) of a timerfd's first expiration, at least 1. A moment in the past is due at once."""
        if not absolute:
            return self._clock.now_ns + value
        return max(value - (self._wall_clocks.shown_epoch_ns if timer.is_real else self._uptime_ns), 1)

    def _ring(self, timer: TimerFd) -> None:
        """Let a timerfd expire: arm it for its next period, and write the number of expirations to its eventfd."""
        expired = 1
        timer.event = None
        if timer.interval_ns > 0:
            last_ns = timer.next_ns
            timer.next_ns = next_period(last_ns, timer.interval_ns, self._clock.now_ns)
            timer.event = self._timeline.add(timer.next_ns, lambda: self._ring(timer))
            expired = (timer.next_ns - last_ns) // timer.interval_ns
        else:
            timer.next_ns = 0
        poller = select.poll()
        poller.register(timer.fd, select.POLLOUT)
        if poller.poll(0):  # a process may have filled the eventfd's counter and cleared O_NONBLOCK, so that writes would block
            os.eventfd_write(timer.fd, min(expired, EXPIRATIONS_MAX))
        self._readiness_changed()

    def timerfd_get(self, timer: TimerFd, arguments: Sequence[Any]) -> Reply:
        """Read a timerfd.

        [] -> [0, ns left, interval in ns].
        """
        return Reply((0, _left(self._clock.now_ns, timer.next_ns), timer.interval_ns))
