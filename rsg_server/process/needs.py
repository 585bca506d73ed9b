"""What processes and actors need of the kernel that composes them (rsg_server.kernel), as protocols.

Processes stand above clock, network, platform and fd_store, and below sockets, handlers and the turn, which they do not import.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.fd_store.store import FdStore
    from rsg_server.options import KernelOptions
    from rsg_server.process.actor import Actor
    from rsg_server.process.channel_pool import ChannelPool
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.cpu_timers import CpuTimers
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.host_state import HostState, Launcher
    from rsg_server.process.lifecycle import Lifecycle
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.process.slots import Slots
    from rsg_server.process.tracees import Tracees
    from rsg_server.process.wait import ActorWait
    from rsg_server.processor.charges import Charges
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.storage.storages import Storages


class Readiness(Protocol):
    """The epoll that tells of deaths of processes and of descriptors that actors wait for (rsg_server.turn.readiness)."""

    def __contains__(self, target: Actor | Process) -> bool: ...

    def watch(self, descriptor: int, target: Actor | Process) -> None:
        """Watch a descriptor on behalf of an actor or a process."""

    def unwatch(self, descriptor: int, target: Process) -> None:
        """Watch a descriptor no longer; nothing happens if it is not watched."""

    def forget(self, actor: Actor) -> None:
        """Watch the private epoll of an actor that has ended no longer."""

    def take_over(self, actor: Actor) -> None:
        """Watch the private epoll of an ended actor on behalf of `actor` from now on."""

    def changed(self) -> None:
        """Say that something may have become ready, so that the turn loop asks the kernel before it gives the next turn."""


class Preemption(Protocol):
    """The preemption of actors that do not give their turn back (rsg_server.turn.preemption)."""

    streak: int


class Debugger(Protocol):
    """The program that is held for a debugger (rsg_server.diagnosis.debugger)."""

    def await_release(self, process: Process) -> None:
        """Wait until a debugger has seen the end of a dead process."""


class Traces(Protocol):
    """The files with the system calls of threads (rsg_server.diagnosis.traces)."""

    def process_ended(self, process: Process, moment_ns: int) -> None:
        """Write the last line of each thread of a dying process."""


class Disturbances(Protocol):
    """Why the run cannot be repeated to the byte (rsg_server.diagnosis.disturbances)."""

    def note(self, reason: str) -> None:
        """Note why the run cannot be repeated to the byte."""

    def look_at_death(self, process: Process, moment_ns: int, in_turn: bool) -> None:
        """Note the death of a process that has not announced its end, if its killer is not known."""

    def look_at_stillbirth(self, process: Process, status: int) -> None:
        """Note the death of a started process before its first message, if by a signal; `status` is as wait(2) gives it."""


class Waker(Protocol):
    """The way to end the wait of an actor."""

    def wake(self, actor: Actor, reason: int, value: int = 0) -> bool:
        """Put an actor that waits at the end of the run queue; False if it does not wait."""


class Clock(Waker, Protocol):
    """Virtual time, and the timeline of what is due."""

    @property
    def now_ns(self) -> int:
        """Virtual time, nanoseconds since the start."""

    @property
    def timeline(self) -> Timeline: ...


class Warner(Protocol):
    """The way to the user."""

    def warn(self, text: str, about: str | None = None) -> None:
        """Show the user a warning once; of several warnings with one `about`, show the first."""


class RunQueue(Protocol):
    """The actors that are to have a turn, in order (rsg_server.turn.run_queue)."""

    def first(self, actor: Actor) -> None:
        """Put an actor that has become ready in front of all others, as the child of a vfork."""

    def withdraw(self, actor: Actor) -> None:
        """Take an actor out that ends; nothing happens if it is not there."""

    def stop(self, process: Process) -> list[Actor]:
        """Take the actors of a process that is held from now on out, and return them."""

    def resume(self, process: Process) -> None:
        """Put the ready actors of a process that is held no longer at the end, in the order of their birth."""


class TurnKernel(Clock, Protocol):
    """The actors that are to have a turn, in order, and what puts them there."""

    @property
    def run_queue(self) -> RunQueue: ...
    @property
    def cpu(self) -> Cpu: ...
    @property
    def preemption(self) -> Preemption: ...

    def make_ready(self, actor: Actor) -> None:
        """Put an actor at the end of the run queue, unless its process is stopped."""

    def time_out(self, actor: Actor) -> None:
        """Wake an actor whose deadline has come."""


class SignalSender(Warner, Protocol):
    """Processes, and the signals that are sent to them."""

    @property
    def processes(self) -> dict[int, Process]: ...
    @property
    def signals(self) -> Signals: ...
    @property
    def readiness(self) -> Readiness: ...


class CpuTimerKernel(Protocol):
    """What is charged, and the processes that signals reach and end."""

    @property
    def charges(self) -> Charges | None: ...
    @property
    def cpu(self) -> Cpu: ...
    @property
    def lifecycle(self) -> Lifecycle: ...
    @property
    def signals(self) -> Signals: ...


class Waits(Protocol):
    """The kinds of waits (rsg_server.waits.table)."""

    def make(self, kind: int, syscall: int, deadline_ns: int, blocked: int, a: int, b: int, c: int, since_ns: int) -> ActorWait:
        """The wait of a PARK message, whose values are in this order."""


class Kernel(TurnKernel, SignalSender, CpuTimerKernel, Protocol):
    """Everything that births and deaths change."""

    @property
    def cpu_timers(self) -> CpuTimers: ...

    @property
    def options(self) -> KernelOptions: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def launcher(self) -> Launcher: ...
    @property
    def shared(self) -> SharedMemory: ...
    @property
    def hosts(self) -> dict[str, HostState]: ...
    @property
    def actors(self) -> dict[int, Actor]: ...
    @property
    def slots(self) -> Slots: ...
    @property
    def channel_pool(self) -> ChannelPool: ...
    @property
    def fd_store(self) -> FdStore: ...
    @property
    def futexes(self) -> FutexTable: ...
    @property
    def traces(self) -> Traces | None: ...
    @property
    def storages(self) -> Storages: ...
    @property
    def waits(self) -> Waits: ...
    @property
    def tracees(self) -> Tracees: ...
    @property
    def debugger(self) -> Debugger | None: ...
    @property
    def disturbances(self) -> Disturbances: ...

    def park(self, actor: Actor, wait: ActorWait, is_in_timer_queue: bool = False) -> None:
        """Take the turn from an actor until its wait ends."""

    def is_off(self, host_name: str) -> bool:
        """Whether a host has no power."""
