"""What each family of handlers needs of the kernel that composes the server (rsg_server.kernel), as protocols.

Handlers stand above processes, sockets, faults and diagnosis, which they import, and below the turn, which they do not.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from rsg_server.process.needs import Clock, Waker, Warner
from rsg_server.sockets import needs as sockets

if TYPE_CHECKING:
    from rsg_server.cgroups.cgroups import Cgroups
    from rsg_server.devices.table import Devices
    from rsg_server.diagnosis.debugger import Debugger
    from rsg_server.diagnosis.disturbances import Disturbances
    from rsg_server.diagnosis.traces import Traces
    from rsg_server.energy.energy import Energy
    from rsg_server.event_log import EventLog
    from rsg_server.faults.faults import Faults
    from rsg_server.handlers.kernel_objects.system_bus import SystemBuses
    from rsg_server.handlers.table import Reply, Turns
    from rsg_server.options import KernelOptions
    from rsg_server.platform.platform import Platform
    from rsg_server.power_files.files import PowerFiles
    from rsg_server.power_files.governors import Governors
    from rsg_server.process.actor import Actor
    from rsg_server.process.channel_pool import ChannelPool
    from rsg_server.process.cpu import Cpu
    from rsg_server.process.cpu_timers import CpuTimers
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.host_state import Launcher
    from rsg_server.process.lifecycle import Lifecycle
    from rsg_server.process.process import Process
    from rsg_server.process.signals import Signals
    from rsg_server.process.slots import Slots
    from rsg_server.process.timerfds import TimerFds
    from rsg_server.process.tracees import Tracees
    from rsg_server.process.wait import ActorWait
    from rsg_server.processor.charges import Charges
    from rsg_server.rsg.room import Rsg
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.sockets.interfaces import InterfaceTable
    from rsg_server.sockets.netlink.netlink import Netlink
    from rsg_server.sockets.pair import SimulatedSocket
    from rsg_server.sockets.table import SocketTable
    from rsg_server.storage.run_disk import RunDisk
    from rsg_server.storage.storages import Storages
    from rsg_server.waits.table import Waits


class Readiness(Protocol):
    """The epoll in which the server watches actors and processes (rsg_server.turn.readiness)."""

    def __contains__(self, target: Actor | Process) -> bool: ...
    def watch(self, descriptor: int, target: Actor | Process) -> None:
        """Have a descriptor reported as an actor or a process."""

    def changed(self) -> None:
        """Say that something may have become ready, so that the turn loop asks the kernel before it gives the next turn."""


class AnyReadiness(Readiness, sockets.Readiness, Protocol):
    """The epoll in which the server also watches its ends of sockets."""

    def watch(self, descriptor: int, target: Actor | Process | SimulatedSocket, events: int = ...) -> None:
        """Have a descriptor reported as an actor, a process or a socket."""


class RunQueue(Clock, Protocol):
    """Virtual time, and the actors that are to have a turn."""

    def make_ready(self, actor: Actor) -> None:
        """Put an actor at the end of the run queue, unless its process is stopped."""


class Parking(RunQueue, Protocol):
    """What begins the wait of an actor."""

    @property
    def waits(self) -> Waits: ...

    def park(self, actor: Actor, wait: ActorWait, is_in_timer_queue: bool = False) -> None:
        """Take the turn from an actor until its wait ends."""


class WaitKernel(Parking, Protocol):
    """PARK: what may be waited for, and what may be ready already."""

    @property
    def turns(self) -> Turns: ...
    @property
    def readiness(self) -> Readiness: ...


class HandoffKernel(Parking, Protocol):
    """HANDED_OFF: which actors wait, and which one has the turn."""

    @property
    def turns(self) -> Turns: ...
    @property
    def shared(self) -> SharedMemory: ...
    @property
    def slots(self) -> Slots: ...
    @property
    def log(self) -> EventLog: ...

    def unpark(self, actor: Actor) -> None:
        """Forget what an actor waits for."""


class FutexKernel(Waker, Protocol):
    """WAKE and its relatives: the queues of waiters."""

    @property
    def futexes(self) -> FutexTable: ...


class ProcessKernel(RunQueue, Protocol):
    """HELLO, FORK, EXEC, EXIT: births, new images and deaths."""

    @property
    def turns(self) -> Turns: ...
    @property
    def actors(self) -> dict[int, Actor]: ...
    @property
    def cgroups(self) -> Cgroups: ...
    @property
    def charges(self) -> Charges | None: ...
    @property
    def cpu_timers(self) -> CpuTimers: ...
    @property
    def launcher(self) -> Launcher: ...
    @property
    def lifecycle(self) -> Lifecycle: ...
    @property
    def channel_pool(self) -> ChannelPool: ...
    @property
    def futexes(self) -> FutexTable: ...
    @property
    def shared(self) -> SharedMemory: ...
    @property
    def readiness(self) -> Readiness: ...
    @property
    def traces(self) -> Traces | None: ...
    @property
    def tracees(self) -> Tracees: ...
    @property
    def debugger(self) -> Debugger[Reply] | None: ...


class SignalKernel(RunQueue, Protocol):
    """SIGNAL: the processes that signals end, stop and wake."""

    @property
    def lifecycle(self) -> Lifecycle: ...
    @property
    def signals(self) -> Signals: ...
    @property
    def log(self) -> EventLog: ...


class TraceeKernel(SignalKernel, Protocol):
    """PTRACE: who traces whom."""

    @property
    def tracees(self) -> Tracees: ...


class TimerKernel(Clock, Protocol):
    """TIMER_SET, TIMERFD: what becomes due, and whom a timer tells."""

    @property
    def cpu_timers(self) -> CpuTimers: ...
    @property
    def options(self) -> KernelOptions: ...
    @property
    def processes(self) -> dict[int, Process]: ...
    @property
    def readiness(self) -> Readiness: ...
    @property
    def signals(self) -> Signals: ...
    @property
    def timerfds(self) -> TimerFds: ...


class QueueKernel(Protocol):
    """QUEUE_NOTIFY: the processes that want a signal from a POSIX message queue."""

    @property
    def shared(self) -> SharedMemory: ...
    @property
    def queue_notifies(self) -> dict[int, tuple[Process, int]]: ...
    @property
    def signals(self) -> Signals: ...


class IdentityKernel(Warner, Protocol):
    """WARN: the user, and the counts that a run ends with."""

    @property
    def cgroups(self) -> Cgroups: ...
    @property
    def calls_by_warning(self) -> dict[int, Counter[str]]: ...
    @property
    def cpu(self) -> Cpu: ...
    @property
    def disturbances(self) -> Disturbances: ...
    @property
    def options(self) -> KernelOptions: ...


class HostKernel(Clock, Protocol):
    """HOST: the seed of a host's random numbers, its sockets, and what its programs compute."""

    @property
    def cpu(self) -> Cpu: ...
    @property
    def charges(self) -> Charges | None: ...
    @property
    def lifecycle(self) -> Lifecycle: ...
    @property
    def sockets(self) -> SocketTable: ...
    @property
    def storages(self) -> Storages: ...
    @property
    def run_disk(self) -> RunDisk: ...


class CgroupKernel(RunQueue, Protocol):
    """CGROUP_READ and its relatives: the groups of hosts."""

    @property
    def cgroups(self) -> Cgroups: ...


class PowerKernel(Protocol):
    """POWER_FILE: what files about power say."""

    @property
    def power_files(self) -> PowerFiles: ...


class DeviceKernel(Protocol):
    """DEVICE, DEVICE_PROGRAM: the files that stand for devices, and who may open them."""

    @property
    def cgroups(self) -> Cgroups: ...
    @property
    def devices(self) -> Devices: ...
    @property
    def launcher(self) -> Launcher: ...


class SocketKernel(sockets.Kernel, Protocol):
    """SOCKET and its relatives: everything that sockets need, and the keepalive probes, which belong to faults."""

    @property
    def faults(self) -> Faults: ...


class InterfaceKernel(Protocol):
    """NETLINK, INTERFACE: the network interfaces of hosts."""

    @property
    def interfaces(self) -> InterfaceTable: ...
    @property
    def netlink(self) -> Netlink: ...
    @property
    def sockets(self) -> SocketTable: ...


class MachinesKernel(Protocol):
    """MACHINES: hosts that are switched, and what they draw."""

    @property
    def now_ns(self) -> int: ...
    @property
    def platform(self) -> Platform: ...
    @property
    def faults(self) -> Faults: ...
    @property
    def energy(self) -> Energy: ...
    @property
    def governors(self) -> Governors: ...


class BusKernel(Protocol):
    """BUS: the system buses of the hosts."""

    @property
    def buses(self) -> SystemBuses: ...


class RsgKernel(Protocol):
    """RSG: Remote SimGrid."""

    @property
    def shared(self) -> SharedMemory: ...
    @property
    def rsg(self) -> Rsg: ...


class TraceKernel(Protocol):
    """TRACE: the files with the system calls of threads."""

    @property
    def traces(self) -> Traces | None: ...


class Kernel(
    WaitKernel,
    HandoffKernel,
    FutexKernel,
    ProcessKernel,
    TraceeKernel,
    SignalKernel,
    TimerKernel,
    QueueKernel,
    IdentityKernel,
    HostKernel,
    PowerKernel,
    DeviceKernel,
    SocketKernel,
    InterfaceKernel,
    MachinesKernel,
    BusKernel,
    RsgKernel,
    TraceKernel,
    Protocol,
):
    """Everything that a message may ask for."""

    @property
    def readiness(self) -> AnyReadiness: ...
    def warn(self, text: str, about: str | None = None) -> None:
        """Show the user a warning, once (or once of all that are about the same)."""
