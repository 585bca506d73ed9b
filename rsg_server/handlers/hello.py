"""Handles HELLO, the first message of an actor (thread), and of a process after an exec."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import OK, Handler, Reply, handled
from rsg_server.process.life.births import seed_of_image
from rsg_server.process.life.orphans import enter_namespace
from rsg_server.process.native_signal import is_of_interval
from rsg_server.processor.policies import FREE, MODELLED
from rsg_server.protocol import COST_ROW_SHIFT, FLAG_CALIBRATES, FLAG_CHARGED, FLAG_MODELLED, Hello, Op, Resume, Space

_IMAGE_CHARGE = struct.Struct("=5q")
"""The layout of struct simunix_image_charge (csrc/shared/wire/cpu_protocol.h), which ends the reply to HELLO."""

if TYPE_CHECKING:
    from rsg_server.cgroups.cgroups import Cgroups
    from rsg_server.diagnosis.debugger import Debugger
    from rsg_server.diagnosis.traces import Traces
    from rsg_server.process.actor import Actor
    from rsg_server.process.channel_pool import ChannelPool
    from rsg_server.process.cpu_timers import CpuTimers
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.life.threads import Threads
    from rsg_server.process.life.vforks import Vforks
    from rsg_server.process.process import Process
    from rsg_server.process.tracees import Tracees
    from rsg_server.processor.charges import Charges


class Images:
    """Ends the other threads and the POSIX timers of a process that has called execve(2), as Linux does."""

    def __init__(
        self, threads: Threads, vforks: Vforks, channel_pool: ChannelPool, futexes: FutexTable, traces: Traces | None
    ) -> None:
        self._threads, self._vforks = threads, vforks
        self._channel_pool, self._futexes, self._traces = channel_pool, futexes, traces

    def begin(self, actor: Actor) -> None:
        """After an execve(2), end the process's other threads and its POSIX timers; let a parent that waits in vfork(2)
        go on.
        """
        process = actor.process
        for other in list(process.actors):
            if other is not actor:
                self._threads.end(other)
        if self._traces is not None:
            self._traces.forget(actor)
        for number in [number for number in process.timers if not is_of_interval(number)]:
            timer = process.timers.pop(number)
            if timer.event is not None:
                timer.event.cancel()
        self._channel_pool.close(process)
        self._futexes.wake_space(Space.LOCKS)  # the exec has closed descriptors (O_CLOEXEC) that may have held locks
        self._vforks.release(process)


class ImageCharging:
    """Tells a process, at its start and after each exec, how its computing is charged (its CPU policy)."""

    def __init__(self, charges: Charges | None, cpu_timers: CpuTimers) -> None:
        self._charges, self._cpu_timers = charges, cpu_timers

    def told(self, actor: Actor) -> tuple[int, bytes]:
        """Return what a new program must know of its CPU policy: the flags, and the bytes that end the reply to HELLO.

        The first program with the policy `charged` in a run is told to measure what system calls cost under simunix.
        """
        charges, process = self._charges, actor.process
        if charges is None:
            return 0, b""
        self._cpu_timers.begin_image(process)
        policy = charges.policy_of(process.program, process.cpu_policy, process.host.name)
        clock_ns = charges.take_clock_ns(actor.number)
        if policy == FREE:
            return 0, b""
        scale = charges.scale(process.host.host)
        told = _IMAGE_CHARGE.pack(clock_ns, charges.next_of(actor.number), scale, process.cpu_ns, actor.cpu_ns)
        row = charges.table.row(process.program, charges.has_prices(policy)) + 1 << COST_ROW_SHIFT
        if policy == MODELLED:
            return FLAG_MODELLED | row, told
        is_first, charges.has_calibrated = not charges.has_calibrated, True
        return FLAG_CHARGED | row | (FLAG_CALIBRATES if is_first else 0), told


class HelloHandlers:
    """Handles HELLO.

    `watch` makes the server notice the end of a process. `shared_fd` is the descriptor of the shared memory. Programs
    that a scenario starts get it with the reply; all other programs inherit it.
    """

    def __init__(
        self,
        images: Images,
        charging: ImageCharging,
        cgroups: Cgroups,
        tracees: Tracees,
        traces: Traces | None,
        debugger: Debugger[Reply] | None,
        watch: Callable[[Process], None],
        shared_fd: int,
    ) -> None:
        self._images, self._charging = images, charging
        self._cgroups, self._tracees, self._traces, self._debugger = cgroups, tracees, traces, debugger
        self._watch, self._shared_fd = watch, shared_fd

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.HELLO: self.hello,
            }
        )

    def hello(self, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
        """Handle an actor's first message, or a process's after an exec: [kind, pid, tid, program] -> see messages.def."""
        asked, pid, tid, program = arguments
        reaper, kind = divmod(asked, Hello.REAPER)
        process = actor.process
        actor.tid = tid
        if kind == Hello.THREAD:
            return OK
        other = process.host.processes.get(pid)
        if other is not None and other is not process:
            raise ValueError(f"pid {pid} belongs to another process")
        self._known(process, pid, reaper)
        if kind != Hello.NEW_IMAGE or process.images == 0:
            process.host.latest_pid = pid
        if kind == Hello.FORKED:
            return Reply((0, process.seed))
        if kind == Hello.LATE:
            return None
        process.program = str(program)
        process.host.programs.add(process.program)
        process.images += 1
        self._images.begin(actor)
        host = process.host
        flags = host.flags | (self._traces.flags(process) if self._traces is not None else 0)
        policy_flags, charging = self._charging.told(actor)
        flags |= policy_flags
        seed, shape = seed_of_image(process), host.host
        soft, hard = process.nofile
        first = (actor.affinity & -actor.affinity).bit_length() - 1 if actor.affinity else 0
        values = (0, seed, soft, shape.cores, shape.memory_bytes, flags, host.name, host.files, actor.slot)
        fds = (self._shared_fd,) if process.started and process.images == 1 else ()  # all other programs inherit it
        tracee = self._tracees.all.get(actor)
        traced: tuple[int, ...] = (1 | tracee.resume & Resume.SYSCALL,) if tracee is not None else ()
        last = (*(traced or (0,)), charging) if charging else traced
        reply = Reply(
            (*values, hard, process.descriptor_floor, first, self._cgroups.told(process), *last), fds=fds, close=False
        )
        if self._debugger is not None and self._debugger.holds(actor, reply):
            return None
        return reply

    def _known(self, process: Process, pid: int, reaper: int) -> None:
        """Record the pid of a process, and watch for the end of the process.

        `reaper` is the pid of the first process (init) of the process's own PID namespace within its host; 0 if it has
        none.
        """
        process.pid, process.is_traced = pid, False
        process.host.processes[pid] = process
        if reaper:
            enter_namespace(process, reaper)
        if process.pidfd >= 0:
            self._watch(process)
