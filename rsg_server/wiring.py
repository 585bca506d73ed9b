"""Makes the turn loop and the message handlers of a run, and gives each the objects of the kernel that it uses."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from rsg_server.checks.invariants import Checks, are_wanted
from rsg_server.handlers.futex import FutexHandlers
from rsg_server.handlers.hello import HelloHandlers, ImageCharging, Images
from rsg_server.handlers.host import HostHandlers, StorageHandlers
from rsg_server.handlers.identity import IdentityHandlers
from rsg_server.handlers.interfaces import InterfaceHandlers
from rsg_server.handlers.kernel_objects.cgroups import CgroupHandlers
from rsg_server.handlers.kernel_objects.devices import DeviceHandlers
from rsg_server.handlers.kernel_objects.system_bus import BusHandlers
from rsg_server.handlers.machines import MachineHandlers
from rsg_server.handlers.mqueue import QueueHandlers
from rsg_server.handlers.power import PowerHandlers
from rsg_server.handlers.process import EndHandlers, ExecHandlers, ForkDoneHandlers, ForkHandlers
from rsg_server.handlers.ptrace import TraceeHandlers
from rsg_server.handlers.readiness import ReadinessHandlers
from rsg_server.handlers.rsg import RsgHandlers
from rsg_server.handlers.signals import SignalEffects, SignalHandlers
from rsg_server.handlers.sockets import OptionHandlers, SocketHandlers
from rsg_server.handlers.timers import TimerFdHandlers, TimerHandlers
from rsg_server.handlers.trace import TraceHandlers
from rsg_server.handlers.wait import ParkHandlers
from rsg_server.process.external_signals import ExternalSignals
from rsg_server.sockets import options
from rsg_server.turn.births import FirstMessages
from rsg_server.turn.clock_guard import ClockGuard
from rsg_server.turn.failures import Failures
from rsg_server.turn.listener import Listener
from rsg_server.turn.loop import TurnLoop
from rsg_server.turn.parts import Parts
from rsg_server.turn.wakeups import Wakeups

if TYPE_CHECKING:
    from rsg_server.handlers.table import Handler
    from rsg_server.kernel import Kernel

Table = dict[int, "Handler"]


def turns_of(kernel: Kernel) -> TurnLoop:
    """Return a new turn loop for a kernel, with the handlers of all messages; with SIMUNIX_CHECK=1 it checks the invariants."""
    parks = ParkHandlers(kernel.waits, kernel.clock, kernel.parking)
    parts = parts_of(kernel)
    turns = TurnLoop(parts, {**handlers_of(kernel), **looks_of(kernel, parts.wakeups), **parks.table()}, parks)
    if are_wanted():
        turns.check = checks_of(kernel).given
    return turns


def checks_of(k: Kernel) -> Checks:
    """Return the checks of the invariants (docs/internals/invariants.md) for a kernel."""
    return Checks(k.shared, k.timeline, k.run_queue, k.actors, k.slots, k.futexes)


def external_signals_of(k: Kernel) -> ExternalSignals:
    """Return the object that finds signals which processes get from outside of the emulation."""
    return ExternalSignals(k.processes, k.signals, k.readiness.changed, k.warner)


def surroundings_of(k: Kernel) -> options.Surroundings:
    """Return the objects on which the values of socket options depend: interfaces, datagrams, and the wire."""
    return options.Surroundings(k.interfaces, k.datagrams, k.wire)


def effects_of(kernel: Kernel) -> SignalEffects:
    """Return the object that lets a signal take effect which one process has sent another by the real kernel."""
    return SignalEffects(kernel.deaths, kernel.signals, kernel.log, kernel.clock, kernel.timeline)


def wakeups_of(k: Kernel) -> Wakeups:
    """Return the object that wakes the actors whose descriptors have become ready."""
    return Wakeups(k.parking, k.readiness, k.signals, k.sockets, k.deaths, k.at_terminals)


def parts_of(k: Kernel) -> Parts:
    """Return the objects that the turn loop of a kernel uses."""
    return Parts(
        core=k.core,
        shared=k.shared,
        timeline=k.timeline,
        parking=k.parking,
        moments=k.rsg.moments,
        wakeups=wakeups_of(k),
        preemption=k.preemption,
        listener=Listener(k.core, k.slots, k.shared),
        first_messages=FirstMessages(k.deaths, k.shared.slots),
        clock_guard=ClockGuard(k.clock, k.timeline, k.options.costs, k.disturbances, k.deaths),
        failures=Failures(k.warner, k.deaths),
        deaths=k.deaths,
        cgroups=k.cgroups,
        timerfds=k.timerfds,
        processes=k.processes,
        log=k.log,
        warner=k.warner,
        chosen=k.chosen,
    )


def looks_of(k: Kernel, wakeups: Wakeups) -> Table:
    """Return the handlers of the messages about ready descriptors, by the message's number."""
    return ReadinessHandlers(k.readiness.watch, wakeups.wake_ready).table()


def handlers_of(kernel: Kernel) -> Table:
    """Return the handlers of all messages but PARK and those about ready descriptors, by the message's number."""
    return {**_turn(kernel), **_processes(kernel), **_kernel_objects(kernel), **_hosts(kernel), **_network(kernel)}


def _turn(k: Kernel) -> Table:
    """Return the handlers of messages by which an actor gives the turn back or wakes other actors."""
    return {
        **FutexHandlers(k.futexes).table(),
        **RsgHandlers(k.rsg, k.shared.boxes).table(),
    }


def _processes(k: Kernel) -> Table:
    """Return the handlers of messages about begins and ends of processes, and about signals and tracing between processes."""
    images = Images(k.threads, k.vforks, k.channel_pool, k.futexes, k.traces)
    charging = ImageCharging(k.charges, k.cpu_timers)
    told = (k.cgroups, k.tracees, k.traces, k.debugger)
    effects = effects_of(k)
    return {
        **HelloHandlers(images, charging, *told, k.readiness.watch_end, k.shared.fd).table(),
        **ForkHandlers(k.births, k.threads, k.vforks, k.cgroups, k.tracees, k.charges, k.parking).table(),
        **ForkDoneHandlers(k.threads, k.deaths).table(),
        **ExecHandlers(k.launcher).table(),
        **EndHandlers(k.threads, k.deaths, k.cgroups, k.futexes, k.traces, k.clock).table(),
        **SignalHandlers(effects, k.deaths, k.signals, k.log, k.clock, k.parking.make_ready).table(),
        **TraceeHandlers(k.tracees, k.deaths, effects).table(),
    }


def _kernel_objects(k: Kernel) -> Table:
    """Return the handlers of messages about objects that Linux keeps for processes: timers, queues, cgroups, devices."""
    epochs = (k.shared.wall_clocks, k.options.uptime_ns)
    return {
        **TimerHandlers(k.timeline, k.clock, k.signals, k.cpu_timers).table(),
        **TimerFdHandlers(k.timerfds, k.processes, k.timeline, k.clock, k.readiness.changed, epochs).table(),
        **QueueHandlers(k.signals, k.shared.notices).table(),
        **CgroupHandlers(k.cgroups, k.parking.make_ready).table(),
        **DeviceHandlers(k.devices, k.cgroups, k.launcher).table(),
        **BusHandlers(k.buses).table(),
    }


def _hosts(k: Kernel) -> Table:
    """Return the handlers of messages about a process's own host: its /proc, its storages, its power, Remote SimGrid."""
    warned = (k.disturbances, k.warner.warn, k.calls_by_warning, k.options.strict)
    return {
        **IdentityHandlers(k.cgroups, k.cpu, *warned).table(),
        **HostHandlers(k.births, k.cpu, k.charges, k.sockets, k.storages.disks).table(),
        **StorageHandlers(k.storages, k.run_disk, k.clock).table(),
        **PowerHandlers(k.power_files).table(),
        **MachineHandlers(k.platform, k.faults, k.energy, k.governors, k.clock).table(),
        **TraceHandlers(k.traces).table(),
    }


def _network(k: Kernel) -> Table:
    """Return the handlers of messages about sockets and network interfaces."""
    around = surroundings_of(k)
    getters = (partial(options.get, around), partial(options.put, around))
    return {
        **SocketHandlers(k.sockets, k.datagrams, k.netlink, k.shared.streams, k.clock, k.log).table(),
        **OptionHandlers(k.sockets, k.datagrams, k.faults.keepalive, *getters, k.warner.warn).table(),
        **InterfaceHandlers(k.interfaces, k.netlink, k.sockets).table(),
    }
