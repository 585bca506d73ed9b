"""What each part of the turn needs of the kernel that composes the server (rsg_server.kernel), as protocols.

The turn stands above the handlers, below the kernel and the edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.cgroups.cgroups import Cgroups
    from rsg_server.clock.timeline import Timeline
    from rsg_server.diagnosis.debugger import Debugger
    from rsg_server.diagnosis.disturbances import Disturbances
    from rsg_server.event_log import EventLog
    from rsg_server.handlers.table import Reply
    from rsg_server.options import KernelOptions
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu_timers import CpuTimers
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.parking import Parking
    from rsg_server.process.process import Process
    from rsg_server.process.run_queue import RunQueue
    from rsg_server.process.signals import Signals
    from rsg_server.process.slots import Slots
    from rsg_server.process.timerfds import TimerFds
    from rsg_server.rsg.room import Rsg
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.sockets.table import SocketTable
    from rsg_server.turn.preemption import Preemption
    from rsg_server.turn.readiness import Readiness
    from rsg_server.warner import Warner


class ListenerKernel(Protocol):
    """Which actor has the turn, as the shims say."""

    @property
    def shared(self) -> SharedMemory: ...
    @property
    def slots(self) -> Slots: ...
    @property
    def debugger(self) -> Debugger[Reply] | None: ...


class AllowanceKernel(Protocol):
    """What is due, and which actors are ready."""

    @property
    def solo_limit_ns(self) -> int:
        """How far, in virtual time, an actor that is alone may advance the clock; 0: every turn is the server's."""

    @property
    def now_ns(self) -> int: ...
    @property
    def shared(self) -> SharedMemory: ...
    @property
    def timeline(self) -> Timeline: ...
    @property
    def run_queue(self) -> RunQueue: ...
    @property
    def rsg(self) -> Rsg: ...


class PreemptionKernel(Protocol):
    """What is due, which actors are ready, and the way to the user."""

    @property
    def shared(self) -> SharedMemory: ...
    @property
    def timeline(self) -> Timeline: ...
    @property
    def run_queue(self) -> RunQueue: ...
    @property
    def debugger(self) -> Debugger[Reply] | None: ...
    @property
    def cpu_timers(self) -> CpuTimers: ...
    @property
    def warner(self) -> Warner: ...


class BirthKernel(Protocol):
    """The end of a process that dies before its first message, and the slot where it has left its pid."""

    @property
    def shared(self) -> SharedMemory: ...

    @property
    def deaths(self) -> Deaths: ...


class FailureKernel(Protocol):
    """The end of a process that breaks the protocol, and the way to the user."""

    @property
    def warner(self) -> Warner: ...
    @property
    def deaths(self) -> Deaths: ...


class GuardKernel(Protocol):
    """The clock, what is due, and the end of a process that has written over the clock."""

    @property
    def shared(self) -> SharedMemory: ...
    @property
    def timeline(self) -> Timeline: ...
    @property
    def disturbances(self) -> Disturbances: ...
    @property
    def deaths(self) -> Deaths: ...
    @property
    def options(self) -> KernelOptions: ...


class WakeupKernel(Protocol):
    """What may have become ready, and what is woken by that."""

    @property
    def parking(self) -> Parking: ...
    @property
    def at_terminals(self) -> dict[int, Actor]:
        """By number, the actors that wait for the master of a terminal."""

    @property
    def shared(self) -> SharedMemory: ...
    @property
    def run_queue(self) -> RunQueue: ...
    @property
    def readiness(self) -> Readiness: ...
    @property
    def signals(self) -> Signals: ...
    @property
    def sockets(self) -> SocketTable: ...
    @property
    def deaths(self) -> Deaths: ...


class TurnKernel(Protocol):
    """What the loop itself notes of a turn and of a message, and what it sweeps between turns."""

    @property
    def log(self) -> EventLog: ...
    @property
    def futexes(self) -> FutexTable: ...
    @property
    def cgroups(self) -> Cgroups: ...
    @property
    def timerfds(self) -> TimerFds: ...
    @property
    def processes(self) -> dict[int, Process]: ...


class LoopKernel(
    ListenerKernel,
    GuardKernel,
    AllowanceKernel,
    PreemptionKernel,
    BirthKernel,
    FailureKernel,
    TurnKernel,
    WakeupKernel,
    Protocol,
):
    """The needs of all parts of the turn."""

    @property
    def readiness(self) -> Readiness: ...
    @property
    def preemption(self) -> Preemption: ...
