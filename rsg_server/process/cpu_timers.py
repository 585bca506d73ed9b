"""Lets timers and limits of CPU time expire, if computing is charged or modelled: by the CPU time that was charged.

A thread's charge is the CPU time for which it waits after it has computed. If a timer expires within a charge, only the
time until the expiry passes first (`begin`). Then the signals are sent, and the thread is woken with the rest of the
charge (WAKE_REST). The thread lets that rest pass before it goes on (PARK_CHARGE_REST). If threads of a process compute
at one time, each charge is counted from its beginning. The limit of CPU time in the real kernel would count CPU time of
the real computer, so the server removes this limit from processes whose computing is charged.

If the signal is for the process, the thread whose charge reaches the expiry takes it, as in Linux since 6.4, unless
another thread waits for the signal in sigwait(3).
"""

from __future__ import annotations

import contextlib
import resource
import signal
from typing import TYPE_CHECKING

from rsg_server.process.native_signal import next_period, notify_expiry
from rsg_server.processor.charges import MOST_NS
from rsg_server.processor.policies import CHARGED, FREE
from rsg_server.protocol import WAKE_READY, WAKE_REST

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.process import Process, Timer
    from rsg_server.process.signals import Signals
    from rsg_server.processor.charges import Charges

NS = 10**9
NO_LIMIT = -1
"""The value "no limit" (RLIM_INFINITY) as Python's module resource has it."""
_NONE = (NO_LIMIT, NO_LIMIT)


class CpuTimers:
    """Counts the CPU time that is charged, and lets timers and limits of CPU time expire."""

    def __init__(self, charges: Charges | None, cpu: Cpu, signals: Signals, deaths: Deaths) -> None:
        self._charges, self._cpu, self._signals, self._deaths = charges, cpu, signals, deaths
        self._rests: dict[int, int] = {}  # the part (ns) of an actor's charge that comes after an expiry, by the actor's number

    def counts(self, process: Process) -> bool:
        """Return whether the computing of a process is charged or modelled."""
        return self._policy(process) != FREE

    def _policy(self, process: Process) -> str:
        charges = self._charges
        return FREE if charges is None else charges.policy_of(process.program, process.cpu_policy, process.host.name)

    # Charges of computing

    def count_prices(self, actor: Actor, cpu_ns: int) -> None:
        """Count CPU time (ns) that has passed for the prices of an actor's calls.

        Raises ValueError for an impossible number.
        """
        if not 0 <= cpu_ns <= MOST_NS:
            raise ValueError(f"prices of {cpu_ns} ns")
        actor.cpu_ns += cpu_ns
        actor.process.cpu_ns += cpu_ns

    def begin(self, actor: Actor, cpu_ns: int) -> int:
        """Count the part (ns) of a charge that passes before the next expiry of a timer or limit, and return it."""
        process = actor.process
        if process.cpu_limit is not None or process.has_cpu_timers:
            until_ns = self._until_ns(actor)
            if until_ns is not None and until_ns <= cpu_ns:
                part_ns = max(until_ns, 0)
                self._rests[actor.number] = cpu_ns - part_ns
                cpu_ns = part_ns
        actor.cpu_ns += cpu_ns
        process.cpu_ns += cpu_ns
        return cpu_ns

    def take_rest(self, actor: Actor) -> int:
        """Return the rest (ns) of a charge that an expiry has interrupted, and forget it; 0 if there is none."""
        return self._rests.pop(actor.number, 0)

    def ended(self, actor: Actor, reason: int, left: int) -> tuple[int, int]:
        """Return the reason and the value with which an actor is woken after a charge.

        `left` is the number of flops that were not computed because a signal came.
        """
        charges = self._charges
        assert charges is not None
        rest_ns = self._rests.get(actor.number)
        if rest_ns is None:
            return reason, self._told(actor, left)
        if reason != WAKE_READY:  # the actor was woken before the expiry; the timer expires at the actor's next charge
            del self._rests[actor.number]
            actor.cpu_ns += rest_ns
            actor.process.cpu_ns += rest_ns
            return reason, self._told(actor, left + charges.flops(actor.number, rest_ns, actor.process.host.host))
        self._expire(actor)
        if rest_ns or actor.process.dead:
            return WAKE_REST, rest_ns
        del self._rests[actor.number]
        return reason, self._told(actor, left)

    def _told(self, actor: Actor, left: int) -> int:
        """Return the value for an actor at the end of its charge: the next recorded charge, or minus the ns it may compute."""
        charges, process = self._charges, actor.process
        assert charges is not None
        next_charge = charges.ended(actor.number, left)
        if charges.replays and not charges.has_departed and self._policy(process) == CHARGED:
            return next_charge
        return -self._cpu.slice_ns(process.host.host)

    def forget(self, actor: Actor) -> None:
        """Forget the charge of an actor that has ended."""
        self._rests.pop(actor.number, None)

    def _until_ns(self, actor: Actor) -> int | None:
        """Return the CPU time (ns) that an actor may use until a timer or limit that counts it expires; None if there
        is none.
        """
        process, found = actor.process, []
        if process.cpu_limit is not None and process.cpu_limit[0] != NO_LIMIT:
            found.append(process.cpu_limit[0] * NS - process.cpu_ns)
        for timer in process.timers.values():
            if timer.next_ns and timer.cpu_of in (actor, process):
                found.append(timer.next_ns - timer.cpu_of.cpu_ns)
        return min(found, default=None)

    def due_ns(self, actor: Actor) -> int | None:
        """Return after how many ns without a call an actor must be charged, so that a timer or limit expires in time;
        None: never. The result is None also in a replay, where the recorded charges are used instead, and for a
        modelled process, whose computing is not measured.
        """
        process, charges = actor.process, self._charges
        if charges is None or (process.cpu_limit is None and not process.has_cpu_timers):
            return None
        if self._policy(process) != CHARGED or (charges.replays and not charges.is_preempted_next(actor.number)):
            return None
        return 0 if actor.number in self._rests else self._until_ns(actor)

    # Expiry of timers and limits

    def _expire(self, actor: Actor) -> None:
        process = actor.process
        for number, timer in list(process.timers.items()):
            if timer.next_ns and timer.cpu_of is not None and timer.cpu_of.cpu_ns >= timer.next_ns:
                self._expire_timer(process, number, timer, timer.cpu_of.cpu_ns)
        if process.cpu_limit is None:
            return
        soft, hard = process.cpu_limit
        if soft == NO_LIMIT or process.cpu_ns < soft * NS:
            return
        if hard != NO_LIMIT and process.cpu_ns >= hard * NS:
            process.told |= 1 << signal.SIGKILL - 1
            self._signals.send(process, signal.SIGKILL)
            self._deaths.await_deaths([process])
            return
        process.cpu_limit = (soft + 1, hard)  # as in Linux, the next SIGXCPU comes a second later
        self._signals.send(process, signal.SIGXCPU)
        self._tell(process, signal.SIGXCPU, 0)

    def _expire_timer(self, process: Process, number: int, timer: Timer, now_ns: int) -> None:
        expired, last_ns = 1, timer.next_ns
        timer.next_ns = 0
        if timer.interval_ns > 0:
            timer.next_ns = next_period(last_ns, timer.interval_ns, now_ns)
            expired = (timer.next_ns - last_ns) // timer.interval_ns
        if notify_expiry(self._signals, process, number, timer, expired):
            self._tell(process, timer.signal, timer.tid)

    def _tell(self, process: Process, number: int, tid: int) -> None:
        """Wake the thread that takes a signal, unless this thread is woken now anyway."""
        bit = 1 << number - 1
        process.told |= bit
        if tid or any(other.parked is not None and other.parked.wants(bit) for other in process.actors):
            self._signals.notice(process, number, tid)

    # Limits of CPU time

    def begin_image(self, process: Process) -> None:
        """At an exec, remove the real kernel's RLIMIT_CPU from a program whose computing is charged, or restore the
        limit for a program whose computing is not charged.
        """
        if process.global_pid <= 0:  # the process has no pid yet, and the pid 0 would mean the server itself
            return
        with contextlib.suppress(OSError, ValueError):  # the process has died, or the server may not set its limits
            if not self.counts(process):
                if process.cpu_limit is not None:
                    resource.prlimit(process.global_pid, resource.RLIMIT_CPU, process.cpu_limit)
                    process.cpu_limit = None
            elif (limits := resource.prlimit(process.global_pid, resource.RLIMIT_CPU)) != _NONE:
                process.cpu_limit = limits
                resource.prlimit(process.global_pid, resource.RLIMIT_CPU, _NONE)
