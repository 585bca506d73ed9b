"""Makes all parts of a run's emulation (clock, timeline, processes, sockets, network, turns) and connects them.

The class that does so, `Kernel`, neither waits nor knows trio. The turn loop (rsg_server.turn.loop) receives messages
and sends replies; the parts and the handlers of messages decide.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from functools import partial
from itertools import chain

from rsg_server.cgroups.cgroups import Cgroups, account_of
from rsg_server.cgroups.controlled import Controlled, Killer
from rsg_server.cgroups.memory import Memory
from rsg_server.choices.delays import Delays
from rsg_server.choices.source import Choices
from rsg_server.clock.timeline import Timeline
from rsg_server.clock.timer_queue import TimerQueue
from rsg_server.devices.table import Devices
from rsg_server.diagnosis.debugger import Debugger
from rsg_server.diagnosis.disturbances import Disturbances
from rsg_server.diagnosis.traces import Traces
from rsg_server.energy.energy import Energy
from rsg_server.event_log import EventLog
from rsg_server.faults.boots import Boots
from rsg_server.faults.faults import Faults
from rsg_server.faults.losses import lose_unsynced
from rsg_server.faults.power import Power
from rsg_server.faults.residents import Residents
from rsg_server.faults.wake_on_lan import WakeOnLan
from rsg_server.fd_store.store import FdStore
from rsg_server.handlers.kernel_objects.system_bus import SystemBuses
from rsg_server.handlers.table import Reply
from rsg_server.network.network import Network
from rsg_server.options import KernelOptions
from rsg_server.platform.platform import Platform
from rsg_server.power_files.files import PowerFiles
from rsg_server.power_files.governors import Governors
from rsg_server.power_files.switches import Switches
from rsg_server.process.actor import Actor
from rsg_server.process.channel_pool import ChannelPool
from rsg_server.process.cpu import Cpu
from rsg_server.process.cpu_timers import CpuTimers
from rsg_server.process.futex import FutexTable
from rsg_server.process.host_state import HostState, Launcher
from rsg_server.process.life.births import Births
from rsg_server.process.life.deaths import Deaths
from rsg_server.process.life.endings import Endings
from rsg_server.process.life.programs import Programs, RunningHosts
from rsg_server.process.life.relatives import Relatives
from rsg_server.process.life.remains import Remains
from rsg_server.process.life.threads import Threads
from rsg_server.process.life.vforks import Vforks
from rsg_server.process.parking import Parking
from rsg_server.process.process import Process
from rsg_server.process.run_queue import RunQueue
from rsg_server.process.signals import Signals
from rsg_server.process.slots import Slots
from rsg_server.process.timerfds import TimerFds
from rsg_server.process.tracees import Tracees
from rsg_server.processor.charges import Charges, Charging
from rsg_server.processor.costs import CostTable
from rsg_server.processor.policies import CHARGED
from rsg_server.processor.tsc import check_tsc, cycle_ns
from rsg_server.protocol import (
    FLAG_LATE,
    WAIT_CHARGE,
    WAIT_CHARGE_REST,
    WAIT_CHILD,
    WAIT_COMPUTE,
    WAIT_CONNECT,
    WAIT_FD,
    WAIT_FUTEX,
    WAIT_LOCK,
    WAIT_PREEMPTED,
    WAIT_SIGNAL,
    WAIT_STORAGE,
    WAIT_TIME,
    WAIT_TRACED,
    WAIT_VFORK,
    WAIT_YIELD,
    WarningKind,
)
from rsg_server.rsg.room import Rsg
from rsg_server.shared.memory import SharedMemory
from rsg_server.sockets.keepalive import Keepalive
from rsg_server.sockets.pair import SimulatedSocket
from rsg_server.sockets.table import SocketTable
from rsg_server.sockets.wire import Wire
from rsg_server.storage.run_disk import RunDisk
from rsg_server.storage.storages import Storages
from rsg_server.storage.waits import StorageWaits
from rsg_server.turn.choosing import ChosenTies, ChosenTurns, ChosenWakes
from rsg_server.turn.core import Core
from rsg_server.turn.preemption import Preemption
from rsg_server.turn.readiness import Readiness
from rsg_server.waits.compute import ChargeMaker, ChargeRestMaker, ComputeWait
from rsg_server.waits.connect import ConnectWait
from rsg_server.waits.descriptors import DescriptorMaker, RoomWait
from rsg_server.waits.futex_spaces import FutexMaker
from rsg_server.waits.processes import ChildWait, SignalWait, TracedWait, VforkWait
from rsg_server.waits.storage import StorageWait
from rsg_server.waits.table import Maker, Waits
from rsg_server.waits.time import PreemptedWait, TimeMaker, YieldMaker
from rsg_server.warner import Warner

_COUNTED = (WarningKind.UNKNOWN_SYSCALL, WarningKind.REFUSED)
"""The kinds of warnings for which run.json counts how often each system call has caused one."""


class Kernel:
    """All parts of one emulation, connected with each other. The object is complete when `__init__` returns."""

    def __init__(
        self,
        platform: Platform,
        options: KernelOptions,
        log: EventLog,
        launcher: Launcher,
        *,
        debugger: Debugger[Reply] | None = None,
        traces: Traces | None = None,
        storage_waits: StorageWaits | None = None,
    ) -> None:
        self.options, self.platform, self.log, self.launcher = options, platform, log, launcher
        self.debugger, self.traces, self.storage_waits = debugger, traces, storage_waits or StorageWaits()
        self.warner = Warner()
        self.disturbances = Disturbances(self.warner.on_warning.tell)
        self.shared = SharedMemory(options.epoch_ns, options.uptime_ns, options.costs, options.begun_ns)
        self.clock = self.shared.clock
        self.timer_queue = TimerQueue(self.shared.deadlines)
        self.timeline = Timeline(self.timer_queue)
        self.network = self._network(options)
        self.wire = Wire(self.clock, self.network, options.seed)
        tell_conditions, reaches = self.shared.notices.tell_storage_conditions, self.wire.reach.reaches
        self.storages = Storages(self.network, reaches, tell_conditions, self._application)
        self.readiness = Readiness()
        self.hosts = {host.name: HostState(host, options.host_flags) for host in platform.hosts}
        if options.lateness is not None:
            self.shared.prices.tell_lateness(options.lateness)
            for name in options.lateness.hosts:
                self.hosts[name].flags |= FLAG_LATE
        self.processes: dict[int, Process] = {}
        self.slots = Slots()
        self.run_queue = RunQueue(options.order)
        # by actor's number, the actors that wait until the other end of a terminal (its master) is ready
        self.at_terminals: dict[int, Actor] = {}
        self._make_turns(options)
        self._make_life(options)
        self._make_objects()
        self._make_machine_room(options)
        self.calls_by_warning: dict[int, Counter[str]] = {int(kind): Counter() for kind in _COUNTED}

    def _make_turns(self, options: KernelOptions) -> None:
        """Make the parts that end the waits of actors: deadlines, futexes, the end of computing, signals, tracers."""
        self.parking = Parking(self.run_queue, self.timeline, self.timer_queue, self.slots)
        self.timer_queue.on_alarm.connect(self.parking.ring)
        self.futexes, self.timerfds = FutexTable(self.parking), TimerFds()
        self.chosen = self._chosen(options.choices, options.costs.call_ns) if options.choices is not None else None
        self.cpu, self.charges = self._cpu(options.charging), self._charges(options.charging)
        self.signals = Signals(self.parking, self.cpu)
        self.tracees = Tracees(self.shared, self.log, self.parking, self.signals, TracedWait)

    def _make_life(self, options: KernelOptions) -> None:
        """Make the parts with which processes and threads begin and end."""
        clock, log, off = self.clock, self.log, self.wire.reach.off
        self.channel_pool = ChannelPool(self.readiness)
        self.fd_store = FdStore(self.readiness, self.channel_pool.close_all, self._holders)
        self.threads = Threads(self.shared, self.slots, self.parking, self.channel_pool, self.fd_store)
        self.actors = self.threads.all
        self.births = Births(clock, options, self.hosts, self.processes, self.signals)
        self.vforks = Vforks(self.parking)
        endings = Endings(clock, log, self.launcher, off, self.disturbances, self.warner)
        if self.debugger is not None:
            endings.on_death.connect(self.debugger.await_release)
        if self.traces is not None:
            endings.on_gone.connect(self.traces.process_ended)
        self.remains = Remains(self.processes, self.threads, self.channel_pool, self.readiness, self.signals)
        relatives = Relatives(clock, self.signals, self.futexes, self.vforks)
        self.deaths = Deaths(self.threads, endings, self.remains, relatives, self.tracees)
        running = RunningHosts(self.hosts, off)
        self.programs = Programs(running, self.launcher, self.births, self.threads, self.deaths, self.parking, log)
        self.cpu_timers = CpuTimers(self.charges, self.cpu, self.signals, self.deaths)
        self.threads.on_end.connect(self.cpu_timers.forget)
        has_debugger = self.debugger is not None
        self.preemption = Preemption(
            self.shared, self.timeline, self.run_queue, self.cpu_timers, self.warner, has_debugger=has_debugger
        )
        # under the CPU policy `charged` a clock read is charged like any other call
        self.preemption.computing.is_off = options.charging is not None
        self.signals.on_notice.connect(self.preemption.forget_streak)
        self.threads.on_end.connect(lambda actor: self.storages.end(actor.number))

    def _make_objects(self) -> None:
        """Make the parts behind the system calls of programs: files, devices, system bus, sockets, cgroups, interfaces."""
        self.run_disk = RunDisk(self.options.run_folder)
        self.devices, self.buses = Devices(self.shared.devices), SystemBuses(self.warner.warn)
        self.sockets, self.cgroups = self._sockets(), self._cgroups()
        self.waits = self.threads.waits = self._waits()
        self.datagrams, self.netlink, self.interfaces = self.sockets.datagrams, self.sockets.netlink, self.sockets.interfaces

    def _make_machine_room(self, options: KernelOptions) -> None:
        """Make the parts that fail hosts and links, measure and limit their power, and switch them; and those of Remote
        SimGrid.
        """
        clock, timeline, platform, cpu = self.clock, self.timeline, self.platform, self.cpu
        faults = self.faults = self._faults(options)
        self.energy = Energy(
            clock, platform, self.network, self.wire, cpu, faults, enclosures=options.enclosures, boots=options.boots
        )
        self.rsg = Rsg(
            self.parking,
            clock,
            timeline,
            platform,
            self.network,
            cpu=cpu,
            disks=self.storages.disks,
            faults=faults,
            threads=self.threads,
            deaths=self.deaths,
        )
        self.threads.on_end.connect(self.tracees.ended)
        core = (timeline, self.slots, self.parking, self.readiness, self.log, self.rsg.moments, self.threads)
        self.core = Core(options.order, self.shared, *core)
        self.core.struct.has_debugger = self.debugger is not None
        meters = self.energy.hosts
        self.governors = Governors(clock, timeline, platform, cpu, faults, meters)
        self.switches = Switches(clock, timeline, faults, meters, self.governors)
        self.power_files = PowerFiles(clock, options.uptime_ns, self.governors, self.switches)

    def _network(self, options: KernelOptions) -> Network:
        """Make the network.

        A perturbed run changes latencies of links, and an exploring run (`simunix explore`) delays packets.
        """
        delays = Delays(options.choices) if options.choices is not None else None
        network = Network(self.clock, self.timeline, self.platform, options.network_model, options.fairness, delays)
        for link, latency_s in options.latencies.items():
            network.set_link(link, latency_s=latency_s)
        return network

    def _chosen(self, choices: Choices, call_ns: int) -> ChosenTurns:
        """Let an exploring run (`simunix explore`) choose which waiter a futex wakes, what comes first at a tie, and
        where turns end.
        """
        choices.now_ns = lambda: self.clock.now_ns
        self.futexes.pick = ChosenWakes(choices).pick
        self.timeline.choose_ties(ChosenTies(choices).comes_later)
        return ChosenTurns(choices, self.shared, self.timeline, self.run_queue, call_ns)

    def _cpu(self, charging: Charging | None) -> Cpu:
        """Make the processors of all hosts. A run with charged computing also lets them warn the user."""
        tell = None if charging is None else self.warner.warn
        return Cpu(self.clock, self.timeline, self.parking, tell, account_of)

    def _sockets(self) -> SocketTable:
        return SocketTable(
            self.clock,
            self.timeline,
            self.log,
            epoch_ns=self.options.epoch_ns,
            wire=self.wire,
            platform=self.platform,
            hosts=self.hosts,
            readiness=self.readiness,
            fd_store=self.fd_store,
            told=self.shared.streams,
            parking=self.parking,
            warner=self.warner,
        )

    def _cgroups(self) -> Cgroups:
        """Make the cgroups of all hosts, and connect the parts that must learn of changed control files and removed groups."""
        killer = Killer(self.clock, self.log, self.deaths)
        controlled = Controlled(self.cpu, self.storages, self.signals, killer, self.parking.wake, self.shared.notices)
        controlled.on_news.connect(self.readiness.changed)
        controlled.on_removed.connect(self.devices.programs.removed)
        cgroups = Cgroups(self.launcher, self.actors, controlled, Memory(self.clock, self.log))
        self.remains.on_release.connect(cgroups.died)
        return cgroups

    def _faults(self, options: KernelOptions) -> Faults:
        """Make the parts by which hosts and links fail, and hosts are switched off and on, also by Wake-on-LAN packets.

        The cgroups of a host are forgotten when its power is cut.
        """
        clock, timeline, log, reach = self.clock, self.timeline, self.log, self.wire.reach
        residents = Residents(self.processes, self.signals, self.deaths, self.launcher)
        residents.on_killed.connect(self.cgroups.lost)
        boots = Boots(options.boots, options.seed)
        power = Power(clock, timeline, log, self.hosts, reach.off, residents, boots)
        faults = Faults(
            clock,
            timeline,
            log,
            self.platform,
            network=self.network,
            reach=reach,
            cpu=self.cpu,
            sockets=self.sockets,
            storages=self.storages,
            keepalive=Keepalive(clock, timeline, self.wire, self.sockets),
            power=power,
            wall_clocks=self.shared.wall_clocks,
        )
        power.on_silence.connect(self.readiness.changed)
        lose_unsynced(options.choices, self.storages, power)
        wake_on_lan = WakeOnLan(clock, timeline, log, self.network, self.interfaces, reach, power)
        self.datagrams.on_to_off.connect(wake_on_lan.heard)
        return faults

    def _charges(self, charging: Charging | None) -> Charges | None:
        """Make the charges of computing for a run with the CPU policy `charged`, and tell the shims of it; None for
        other policies.
        """
        if charging is None:
            return None
        if CHARGED in charging.policies.all:
            check_tsc()
        self.shared.prices.tell_charging(charging.least_ns, cycle_ns(), charging.replay is not None)
        charges = Charges(charging, CostTable(self.shared.fd, charging.prices))
        charges.on_departure.connect(self._departed)
        return charges

    def _waits(self) -> Waits:
        """Make the table from each kind of wait that a message can begin to the object that makes such waits."""
        makers: dict[int, Maker] = {
            WAIT_TIME: TimeMaker(),
            WAIT_FD: DescriptorMaker(self.readiness, self.shared.notices, self.at_terminals),
            WAIT_FUTEX: FutexMaker(self.futexes),
            WAIT_CHILD: Maker(lambda a, b, c: ChildWait()),
            WAIT_SIGNAL: Maker(SignalWait),
            WAIT_LOCK: Maker(RoomWait),
            WAIT_CONNECT: Maker(partial(ConnectWait, self.sockets)),
            WAIT_YIELD: YieldMaker(),
            WAIT_PREEMPTED: Maker(lambda a, b, c: PreemptedWait(self.preemption)),
            WAIT_VFORK: Maker(partial(VforkWait, self.actors)),
            WAIT_TRACED: Maker(lambda a, b, c: TracedWait()),
            WAIT_COMPUTE: Maker(partial(ComputeWait, self.cpu)),
            WAIT_CHARGE: ChargeMaker(self.cpu, self.cpu_timers, self.charges),
            WAIT_CHARGE_REST: ChargeRestMaker(self.cpu, self.cpu_timers, self.charges),
            WAIT_STORAGE: Maker(partial(StorageWait, self.clock, self.parking, self.storages, self.storage_waits)),
        }
        return Waits(makers)

    def _departed(self, text: str) -> None:
        self.shared.prices.tell_departure()
        self.warner.warn(f"--replay-cpu: at turn {self.log.turns:,} the run {text}")

    def _holders(self) -> Iterable[SimulatedSocket | Actor]:
        """Return all owners of descriptors that the descriptor store may take from the server: sockets and actors."""
        return chain(self.sockets.all.values(), self.actors.values())

    @property
    def now_ns(self) -> int:
        """Virtual time: nanoseconds since the start of the run."""
        return self.clock.now_ns

    def _application(self, number: int) -> tuple[str, ...]:
        """Return the application that an actor belongs to, as the I/O scheduler names it.

        A variable of the process's environment gives the name; without it, the name is that of the started program.
        """
        process = self.actors[number].process
        return self.storage_waits.label(process) or (process.label,)

    @property
    def unknown_calls(self) -> Counter[str]:
        """The number of calls of each system call that csrc/tables/syscalls.def does not have, by the call's number as text."""
        return self.calls_by_warning[WarningKind.UNKNOWN_SYSCALL]

    @property
    def refused_calls(self) -> Counter[str]:
        """The number of calls of each system call that simunix refuses, by the call's name."""
        return self.calls_by_warning[WarningKind.REFUSED]

    def close(self) -> None:
        """Close every descriptor of the emulation. The launcher, and not this method, ends the processes."""
        if self.charges is not None:
            for name, similar in self.charges.never_seen().items():
                meant = f"; {similar[0]} has" if similar else ""
                self.warner.warn(f"cpu_policy.programs: {name}: no program of this file name has run{meant}")
            self.charges.close()
        self.fd_store.close()
        self.channel_pool.close_all()
        for process in list(self.processes.values()):
            for actor in list(process.actors):
                self.threads.end(actor)
            if process.pidfd >= 0:
                os.close(process.pidfd)
                process.pidfd = -1
        self.cgroups.close()
        self.sockets.close()
        self.timerfds.close()
        self.readiness.close()
        self.shared.close()
