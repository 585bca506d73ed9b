"""Ties clock, timeline, actors, processes, hosts and sockets together: requests come in, replies and wake-ups go out.

No waiting and no trio here: `turn.py` receives and sends, this file and `handlers/` decide.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from itertools import chain

from rsg_server.clock.clock_page import ClockPage
from rsg_server.clock.timeline import Event, Timeline
from rsg_server.clock.timer_queue import Alarm, TimerQueue
from rsg_server.diagnosis.debugger import Debugger
from rsg_server.diagnosis.traces import Traces, ending
from rsg_server.errors import SimunixError
from rsg_server.event_log import EventLog
from rsg_server.faults.faults import Faults
from rsg_server.fd_store.store import FdStore
from rsg_server.network.network import Network
from rsg_server.options import KernelOptions
from rsg_server.platform.platform import Platform
from rsg_server.process import native_signal, zombies
from rsg_server.process.actor import AT_TERMINAL, HAS_SIGNALFD, Actor, Parked, State
from rsg_server.process.channel_pool import Seat, Seats, new_channel
from rsg_server.process.cpu import Computing
from rsg_server.process.futex import FutexTable
from rsg_server.process.host_state import Command, HostState, Launcher
from rsg_server.process.orphans import hang_up_orphans, reparent
from rsg_server.process.process import Process
from rsg_server.process.slots import Slots
from rsg_server.process.timerfds import TimerFds
from rsg_server.protocol import Wait, Wake, WarningKind
from rsg_server.sockets.datagrams import Datagrams
from rsg_server.sockets.interfaces import InterfaceTable
from rsg_server.sockets.netlink import Netlink
from rsg_server.sockets.table import SocketTable
from rsg_server.sockets.wire import Wire
from rsg_server.turn.preemption import Preemption
from rsg_server.turn.readiness import Readiness


class Kernel:
    """The state of one emulation."""

    def __init__(self, platform: Platform, options: KernelOptions, log: EventLog, launcher: Launcher) -> None:
        self.options = options
        self.platform = platform
        self.log = log
        self.launcher = launcher
        self.page = ClockPage(options.epoch_ns, options.uptime_ns, options.costs, options.nofile, options.begun_ns)
        self.timer_queue = TimerQueue(self.page, self._alarm)
        self.timeline = Timeline(self.timer_queue)
        self.network = Network(self.page, self.timeline, platform, options.network_model, options.fairness)
        self.wire = Wire(self, options.seed)
        self.readiness = Readiness()
        self.seats = Seats(self.readiness)
        self.fd_store = FdStore(
            self.readiness, self.seats.give_up_all, lambda: chain(self.sockets.all.values(), self.actors.values())
        )
        self.hosts = {host.name: HostState(host, options.host_flags) for host in platform.hosts}
        self.actors: dict[int, Actor] = {}
        self.slots = Slots()
        self.stepped_to: Actor | None = None  # who has the turn, when it has gone on without the server
        self.processes: dict[int, Process] = {}
        self.hearers: dict[int, Process] = {}  # by number, those that get signals from the kernel itself
        self.run_queue: deque[Actor] = deque()
        self.at_terminals: dict[int, Actor] = {}  # by number, those that wait for the master of a terminal
        self.preemption = Preemption(self)
        self.computing = Computing(self)
        self.futexes = FutexTable()
        self.sockets: SocketTable = SocketTable(self)
        self.datagrams = Datagrams(self)
        self.interfaces = InterfaceTable(platform)
        self.netlink = Netlink(self)
        self.faults = Faults(self)
        self.timerfds = TimerFds()
        self.queue_notifies: dict[int, tuple[Process, int]] = {}  # POSIX message queue -> who wants which signal from it
        self.warnings: dict[str, int] = {}
        self.unknown_calls: Counter[str] = Counter()
        self.refused_calls: Counter[str] = Counter()
        self.calls_by_warning = {
            int(WarningKind.UNKNOWN_SYSCALL): self.unknown_calls,
            int(WarningKind.REFUSED): self.refused_calls,
        }
        self.on_warning: Callable[[str], None] = lambda text: None
        self.on_birth: Callable[[Actor], None] = lambda child: None  # hear a child's first message now, not at its first turn
        self.external_files: set[str] = set()
        self.traces: Traces | None = None
        self.debugger: Debugger | None = None
        self._next_actor = 1
        self._next_process = 1

    # Time and order

    @property
    def now_ns(self) -> int:
        """Virtual nanoseconds since the start."""
        return self.page.now_ns

    def wake(self, actor: Actor, reason: int, value: int = 0) -> bool:
        """Put a parked actor at the end of the run queue; False if it is not waiting."""
        if actor.state is not State.PARKED:
            return False
        if actor.timeout is not None:
            actor.timeout.cancel()
            actor.timeout = None
        # A signal may turn out to be nothing: until the actor has looked, a futex wake may still find it in its queue.
        if actor.parked is not None and actor.parked.wait == Wait.FUTEX and reason != Wake.SIGNAL:
            self.futexes.remove(actor)
        if actor.parked is not None and actor.parked.wait == Wait.COMPUTE:
            value = self.computing.end(actor)
        actor.reply = (int(reason), value)
        self.make_ready(actor)
        return True

    def make_ready(self, actor: Actor) -> None:
        """Append to the run queue; a stopped process's actors join it when it is continued."""
        actor.state = State.READY
        if not actor.process.stopped:
            self.run_queue.append(actor)

    def park(self, actor: Actor, parked: Parked, is_in_timer_queue: bool = False) -> None:
        """Take the turn from an actor until something of `parked` happens; its process may have set the deadline itself."""
        actor.state = State.PARKED
        actor.parked = parked
        if parked.deadline_ns >= 0:
            if is_in_timer_queue:
                actor.timeout = self.timer_queue.alarm(actor.slot)
            elif parked.steps and actor.slot:
                actor.timeout = self.timer_queue.add(actor.slot, parked.deadline_ns)
            else:
                actor.timeout = self.timeline.add(parked.deadline_ns, partial(self._time_out, actor))
        if parked.wait == Wait.FUTEX:
            self.futexes.add(actor)
        elif parked.wait == Wait.COMPUTE:
            self.computing.start(actor, parked.a)
        elif parked.wait == Wait.FD:
            if parked.c & AT_TERMINAL:
                self.at_terminals[actor.number] = actor
            self.readiness.changed()  # it may have become ready since the kernel was last asked

    def unpark(self, actor: Actor) -> None:
        """Forget what an actor waits for: its process knows better, and has kept the timer queue."""
        if isinstance(actor.timeout, Event):
            actor.timeout.cancel()
        actor.timeout = None
        if actor.parked is not None and actor.parked.wait == Wait.FUTEX:
            self.futexes.remove(actor)
        actor.parked = None

    def _alarm(self, slot: int) -> None:
        actor = self.slots.get(slot)
        if actor is not None:
            self._time_out(actor)

    def _time_out(self, actor: Actor) -> None:
        actor.timeout = None
        self.wake(actor, Wake.TIMEOUT)

    # Birth and death

    def new_process(self, host: HostState, parent: Process | None, program: str) -> Process:
        """A process that is about to be born; its place in the order of things is fixed here."""
        number = self._next_process
        self._next_process += 1
        nofile = parent.nofile if parent else (self.options.nofile, self.options.nofile)
        process = Process(number, host, parent, program, seed=seed_of(self.options.seed, number), nofile=nofile)
        process.born_ns = self.now_ns
        host.births += 1
        if parent is not None:
            parent.children.append(process)
            if parent.hears_kernel:
                self.hear_kernel(process)
            process.label = parent.label
        self.processes[number] = process
        return process

    @staticmethod
    def seed_of_image(process: Process) -> int:
        """Another one after each exec, or the new image would draw the numbers that the old one has drawn."""
        return seed_of(process.seed, process.images)

    def seed_of_host(self, name: str) -> int:
        """For what is random but the same for all processes of a host; no process has such a number."""
        return seed_of(self.options.seed, -1 - list(self.hosts).index(name))

    def new_actor(self, process: Process, channel: tuple[socket.socket, socket.socket] | None = None) -> tuple[Actor, int]:
        """A thread that is about to be born, and its end of the channel (the caller passes it on and closes it)."""
        ours, theirs = channel or new_channel()
        actor = self._admit(process, ours)
        self.fd_store.check(ours.fileno())
        return actor, theirs.detach()

    def seated(self, process: Process, seat: Seat) -> Actor:
        """The same, where another thread of the process has left its seat."""
        actor = self._admit(process, seat.channel)
        actor.seat = seat.number
        if seat.has_epoll:
            self.readiness.take_over(actor)
        return actor

    def _admit(self, process: Process, channel: socket.socket) -> Actor:
        actor = Actor(self._next_actor, process, channel, self.now_ns)
        self._next_actor += 1
        actor.fd_store = self.fd_store
        self.slots.take(actor)
        self.page.begin_slot(actor.slot)
        self.actors[actor.number] = actor
        process.actors.append(actor)
        return actor

    def spawn(self, host_name: str, command: Command) -> Process:
        """Start a program on a host, now. Raises SimunixError if it cannot be started."""
        host = self.hosts.get(host_name)
        if host is None:
            raise SimunixError(f"host {host_name!r}: no such host; known: {', '.join(sorted(self.hosts))}")
        if self.faults.power.is_off(host_name):
            raise SimunixError(f"host {host_name}: switched off; switch it on before a program is started there")
        ends = new_channel()
        process = self.new_process(host, None, command.argv[0])
        process.label = command.label
        process.started = True
        actor, channel = self.new_actor(process, ends)
        try:
            self.launcher.spawn(host_name, command, channel)
        except SimunixError:
            self.bury(process)
            raise
        finally:
            os.close(channel)
        self.make_ready(actor)
        self.log.event(self.now_ns, "process_start", host=host_name, number=process.number, argv=list(command.argv))
        return process

    def end_actor(self, actor: Actor, leaves_seat: bool = False) -> None:
        """A thread has ended or is certain to; where its process lives on, another may have its seat."""
        if actor.state is State.DEAD:
            return
        if actor.parked is not None and actor.parked.wait == Wait.FUTEX:
            self.futexes.remove(actor)
        self.computing.end(actor)
        if actor.state is State.READY and actor in self.run_queue:
            self.run_queue.remove(actor)
        if actor.timeout is not None:
            actor.timeout.cancel()
        actor.state = State.DEAD
        self.actors.pop(actor.number, None)
        self.slots.release(actor)
        actor.process.actors.remove(actor)
        if not (leaves_seat and self.seats.leave(actor)):
            actor.channel.close()
            self.readiness.forget(actor)

    def hand_over(self, parent: Actor, child: Actor) -> None:
        """A vfork: the parent is silent until the child lets go, and the child runs next."""
        parent.state = State.VFORK
        child.state = State.READY
        self.run_queue.appendleft(child)

    def await_death(self, process: Process) -> None:
        """The process is certain to die: wait until the kernel has done with it, then bury it."""
        if process.dead:
            return
        if process.pidfd >= 0:
            poller = select.poll()
            poller.register(process.pidfd, select.POLLIN)
            if not poller.poll(DEATH_TIMEOUT_MS):
                self.warn(f"{process!r} was to die and has not; it is killed")
                native_signal.send(process.pidfd, signal.SIGKILL)
                poller.poll(DEATH_TIMEOUT_MS)
        self.bury(process)

    def bury(self, process: Process) -> None:
        """A process has died: free what it held, tell whoever waits for that."""
        if process.dead:
            return
        process.dead = True
        if self.debugger is not None:
            self.debugger.await_release(process)
        if process.started and process.pid:
            process.exit_status = self.launcher.wait_status(process.host.name, process.pid)
        zombies.bury(self, process)
        if self.traces is not None:
            self._end_traces(self.traces, process)
        for actor in list(process.actors):
            self.end_actor(actor)
        self.seats.give_up(process)
        for timer in process.timers.values():
            if timer.event is not None:
                timer.event.cancel()
        if process.pidfd >= 0:
            self.readiness.unwatch(process.pidfd, process)
            os.close(process.pidfd)
            process.pidfd = -1
        process.host.processes.pop(process.pid, None)
        del self.processes[process.number]
        self.hearers.pop(process.number, None)
        self.readiness.changed()
        if process.pid:
            self.log.event(
                self.now_ns,
                "process_exit",
                host=process.host.name,
                number=process.number,
                pid=process.pid,
                program=process.program,
                status=process.exit_status,
                born=process.born_ns,
            )
        self._tell_relatives(process)

    def _end_traces(self, traces: Traces, process: Process) -> None:
        how = ending(process)
        for actor in process.actors:
            traces.ended(actor, self.now_ns, how)

    def _tell_relatives(self, process: Process) -> None:
        self.release_vfork(process)
        self.futexes.wake_shared(self)
        parent = process.parent
        if parent is not None and not parent.dead:
            parent.children.remove(process)
            self.child_changed(parent)
        for child in process.children:
            reparent(child)
            self.notice_signal(child, signal.SIGTERM, every_thread=True)  # PR_SET_PDEATHSIG may have sent something
        hang_up_orphans(self, process.host)
        if process.on_exit is not None:
            process.on_exit(process)

    def release_vfork(self, process: Process) -> None:
        """The child of a vfork has exec'd or died: its parent goes on (and first says what it knows)."""
        parent = process.vfork_parent
        process.vfork_parent = None
        process.has_let_go = True
        if parent is None or parent.process.dead:
            return
        if parent.state is State.VFORK:
            parent.owes_message = True
            self.make_ready(parent)
        elif parent.parked is not None and parent.parked.wait == Wait.VFORK:
            self.wake(parent, Wake.READY)

    def child_changed(self, parent: Process) -> None:
        """A child died, stopped or went on: waiters look again, and SIGCHLD is due."""
        woken = False
        for actor in parent.actors:
            if actor.parked is not None and actor.parked.wait == Wait.CHILD:
                woken = self.wake(actor, Wake.READY) or woken
        self.notice_signal(parent, signal.SIGCHLD)

    # Signals

    def notice_signal(self, process: Process, number: int, tid: int = 0, every_thread: bool = False) -> None:
        """A signal was sent to a process (or to one of its threads): let whoever may take it look.

        As in Linux, the main thread is preferred, then the others in the order of their birth.
        """
        self.preemption.streak = 0  # a handler of it may be what a spinner waits for
        bit = 1 << (number - 1)
        for actor in list(process.actors):
            parked = actor.parked
            if actor.state is not State.PARKED or parked is None or (tid and actor.tid != tid):
                continue
            waited_for = parked.wait == Wait.SIGNAL and parked.a & bit
            if every_thread or not parked.blocked & bit or parked.blocked & HAS_SIGNALFD or waited_for:
                self.wake(actor, Wake.SIGNAL)
                if not every_thread:
                    return

    def hear_kernel(self, process: Process) -> None:
        """From now on, look for signals that the kernel sends the process by itself."""
        process.hears_kernel = True
        self.hearers[process.number] = process

    def look_for_signals(self) -> None:
        """Whatever has just happened may have made the kernel send signals."""
        for number in sorted(self.hearers):
            process = self.hearers[number]
            if process.pidfd >= 0 and not process.dead:
                for signal_number in process.new_pending():
                    self.notice_signal(process, signal_number)

    def stop_process(self, process: Process) -> None:
        """Take a process's actors out of the run queue until it is continued."""
        native_signal.await_rests(process.global_pid)
        process.stopped = True
        for actor in process.actors:
            if isinstance(actor.timeout, Alarm) and actor.parked is not None:  # nobody but the server may let it come
                actor.timeout.cancel()
                actor.timeout = self.timeline.add(actor.parked.deadline_ns, partial(self._time_out, actor))
        self.computing.pause(process.actors)
        for actor in [actor for actor in self.run_queue if actor.process is process]:
            self.run_queue.remove(actor)
        if process.parent is not None:
            self.child_changed(process.parent)

    def continue_process(self, process: Process) -> None:
        """SIGCONT: ready actors rejoin the run queue in the order of their numbers."""
        if not process.stopped:
            return
        process.stopped = False
        self.computing.resume(process.actors)
        self.run_queue.extend(actor for actor in process.actors if actor.state is State.READY)
        if process.parent is not None:
            self.child_changed(process.parent)

    # Warnings

    def warn(self, text: str, about: str | None = None) -> None:
        """Say a warning once (or once of all that are about the same), count the rest."""
        key = about or text
        first = key not in self.warnings
        self.warnings[key] = self.warnings.get(key, 0) + 1
        if first:
            self.on_warning(text)

    def close(self) -> None:
        """Release every descriptor; the processes themselves are the launcher's to end."""
        self.fd_store.close()
        self.seats.give_up_all()
        for process in list(self.processes.values()):
            for actor in list(process.actors):
                self.end_actor(actor)
            if process.pidfd >= 0:
                os.close(process.pidfd)
                process.pidfd = -1
        self.sockets.close()
        self.timerfds.close()
        self.readiness.close()
        self.page.close()


DEATH_TIMEOUT_MS = 10_000


def seed_of(seed: int, number: int) -> int:
    """A process's random seed, 62 bits, from the run's and its number (multiplicative hashing, Knuth TAOCP 6.4)."""
    return ((seed + 1) * 0x9E3779B97F4A7C15 ^ number * 0xBF58476D1CE4E5B9) & (1 << 62) - 1
