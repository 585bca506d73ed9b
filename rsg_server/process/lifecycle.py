"""Birth and death of processes and actors.

The order in which births are announced decides the numbers of processes and actors, so a number is given before the process or
thread exists. A death is over only when the kernel is done with the process: until then no other actor has a turn.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Sequence

from rsg_server.errors import SimunixError
from rsg_server.observers import Observers
from rsg_server.process import native_signal, zombies
from rsg_server.process.actor import Actor, State
from rsg_server.process.channel_pool import PooledChannel, new_channel
from rsg_server.process.host_state import Command, HostState
from rsg_server.process.needs import Kernel
from rsg_server.process.orphans import awaited, hang_up_orphans, reparent, with_members
from rsg_server.process.process import Process
from rsg_server.protocol import Wake

FIRST_TURN = 255
"""In the event log, the reason of a turn that no wait has brought about: that of a new actor, or of the parent of a vfork."""
FIRST_REPLY, READY_REPLY = (FIRST_TURN, 0), (int(Wake.READY), 0)
DEATH_TIMEOUT_MS = 10_000
"""How long a process that is certain to die may take until it is killed, real time."""


class Lifecycle:
    """Makes and ends processes and actors."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._next_actor = 1
        self._next_process = 1
        self.held: list[tuple[Process, list[zombies.Zombie]]] = []
        """Each process 1 of a PID namespace that ends once dead members have been waited for, by parents outside."""
        self.on_thread_end: Observers[Actor] = Observers()
        self.on_release: Observers[Process] = Observers()  # told of each dead process that the server forgets

    # Seeds

    @staticmethod
    def seed_of_image(process: Process) -> int:
        """The random seed of the program that a process runs; another one after each exec, or programs would draw alike."""
        return seed_of(process.seed, process.images)

    def seed_of_host(self, name: str) -> int:
        """The random seed of what all processes of a host share; a number below 0 tells it from the seeds of processes."""
        return seed_of(self._kernel.options.seed, -1 - list(self._kernel.hosts).index(name))

    # Birth

    def new_process(self, host: HostState, parent: Process | None, program: str) -> Process:
        """Announce a process that is about to be born, which fixes its place in the order of births."""
        kernel = self._kernel
        number = self._next_process
        self._next_process += 1
        nofile = parent.nofile if parent else (kernel.options.nofile, kernel.options.nofile_hard)
        process = Process(number, host, parent, program, seed=seed_of(kernel.options.seed, number), nofile=nofile)
        process.descriptor_floor = parent.descriptor_floor if parent else kernel.options.nofile
        process.born_ns = kernel.now_ns
        host.births += 1
        if parent is not None:
            parent.children.append(process)
            if parent.hears_kernel:
                kernel.signals.listen_to_kernel(process, is_at_terminal=False)  # its parent has said so
            process.label, process.cpu_policy = parent.label, parent.cpu_policy
            process.cpu_limit, process.filters = parent.cpu_limit, parent.filters
        kernel.processes[number] = process
        return process

    def new_actor(self, process: Process, channel: tuple[socket.socket, socket.socket] | None = None) -> tuple[Actor, int]:
        """Announce a thread that is about to be born. The caller passes its end of the channel on, and closes it."""
        ours, theirs = channel or new_channel()
        actor = self._admit(process, ours)
        self._kernel.fd_store.check(ours.fileno())
        return actor, theirs.detach()

    def new_actor_at(self, process: Process, pooled: PooledChannel) -> Actor:
        """Announce a thread that gets the channel of an ended thread of the process."""
        actor = self._admit(process, pooled.channel)
        actor.channel_number = pooled.number
        if pooled.has_epoll:
            self._kernel.readiness.take_over(actor)
        return actor

    def _admit(self, process: Process, channel: socket.socket) -> Actor:
        kernel = self._kernel
        actor = Actor(self._next_actor, process, channel, kernel.now_ns)
        self._next_actor += 1
        actor.fd_store = kernel.fd_store
        kernel.slots.take(actor)
        kernel.shared.slots.begin(actor.slot)
        if process.has_boxes:
            kernel.shared.boxes.clear(actor.slot)
        kernel.actors[actor.number] = actor
        process.actors.append(actor)
        return actor

    def running_host(self, host_name: str) -> HostState:
        """The host of this name. Raises SimunixError if there is none, or it is switched off."""
        host = self._kernel.hosts.get(host_name)
        if host is None:
            raise SimunixError(f"host {host_name!r}: no such host; known: {', '.join(sorted(self._kernel.hosts))}")
        if self._kernel.is_off(host_name):
            raise SimunixError(f"host {host_name}: switched off; switch it on before a program is started there")
        return host

    def spawn(self, host_name: str, command: Command) -> Process:
        """Start a program on a host now. Raises SimunixError if the program cannot be started."""
        kernel = self._kernel
        host = self.running_host(host_name)
        ends = new_channel()
        process = self.new_process(host, None, command.argv[0])
        process.label, process.cpu_policy = command.label, command.cpu_policy
        process.started = True
        actor, channel = self.new_actor(process, ends)
        try:
            process.pid = kernel.launcher.spawn(host_name, command, channel)
        except SimunixError:
            self.reap(process)
            raise
        finally:
            os.close(channel)
        kernel.make_ready(actor)
        kernel.log.event(kernel.now_ns, "process_start", host=host_name, number=process.number, argv=list(command.argv))
        return process

    def begin_vfork(self, parent: Actor, child: Actor, is_next: bool = True) -> None:
        """Begin a vfork: the parent waits until the child has exec'd or died; the child has the next turn, or one in order.

        If both have slots, the child waits there for its turn, and the parent goes on at its slot.
        """
        parent.state, parent.reply = State.VFORK, FIRST_REPLY if is_next else READY_REPLY
        if child.slot and parent.slot:
            child.process.is_quiet = child.answer_at_slot = True
        if is_next:
            child.state = State.READY
            self._kernel.run_queue.first(child)
        else:
            self._kernel.make_ready(child)

    def release_vfork(self, process: Process) -> None:
        """The child of a vfork has exec'd or died: its parent runs again, at its slot, or speaks first (FORK_DONE)."""
        parent = process.vfork_parent
        process.vfork_parent = None
        process.has_let_go = True
        if parent is None or parent.process.dead:
            return
        if parent.state is State.VFORK:
            if process.is_quiet:
                parent.answer_at_slot = True
            else:
                parent.owes_message = True
            self._kernel.make_ready(parent)
        elif parent.parked is not None and parent.parked.is_for_vfork():
            self._kernel.wake(parent, Wake.READY)

    # Death

    def end_actor(self, actor: Actor, leaves_channel: bool = False) -> None:
        """End an actor whose thread has ended or is certain to end.

        With `leaves_channel`, the process lives on and its next thread may get the channel.
        """
        if actor.state is State.DEAD:
            return
        kernel = self._kernel
        if actor.parked is not None:
            actor.parked.leave(actor)
        if kernel.charges is not None:
            kernel.cpu_timers.forget(actor)
        kernel.storages.end(actor.number)
        self.on_thread_end.tell(actor)
        kernel.run_queue.withdraw(actor)
        if actor.timeout is not None:
            actor.timeout.cancel()
        actor.state = State.DEAD
        if kernel.tracees.all:
            kernel.tracees.ended(actor)
        kernel.actors.pop(actor.number, None)
        kernel.slots.release(actor)
        actor.process.actors.remove(actor)
        if not (leaves_channel and kernel.channel_pool.leave(actor)):
            actor.channel.close()
            kernel.readiness.forget(actor)

    def kill(self, process: Process) -> None:
        """Kill a process that breaks the protocol, and wait for its end."""
        if process.pidfd >= 0:
            native_signal.send(process.pidfd, signal.SIGKILL)
        self.await_death(process)

    def met_dead(self, process: Process, in_turn: bool = False) -> None:
        """A process has died, or is about to, without a word: note an unknown killer, and reap the process."""
        self._kernel.disturbances.look_at_death(process, self._kernel.now_ns, in_turn)
        self.await_death(process)

    def await_death(self, process: Process) -> None:
        """Wait until the kernel has ended a process that is certain to die, then reap the process."""
        if process.dead:
            return
        if process.reaper is process:
            self._end_all([process])
        else:
            self._await_end(process)
            self.reap(process)

    def await_deaths(self, processes: Sequence[Process]) -> None:
        """Wait until the kernel has ended those that SIGKILL has reached, then reap them in this order.

        What /proc says of any of them is then the same in every run.
        """
        self._end_all([process for process in processes if not process.dead and process.is_dying()])

    def _end_all(self, dying: Sequence[Process]) -> None:
        all_dying = with_members(dying)
        held: dict[Process, list[zombies.Zombie]] = {}
        for process in all_dying:
            left = awaited(process, all_dying) if process.reaper is process else []
            if left:
                held[process] = left
            else:
                self._await_end(process)
        for process in all_dying:
            if process in held:
                self._hold(process, held[process])
            else:
                self.reap(process)

    def _hold(self, reaper: Process, left: list[zombies.Zombie]) -> None:
        """The threads of a process 1 have ended, and the process ends later: `end_held`."""
        for actor in list(reaper.actors):
            self.end_actor(actor)
        self.held.append((reaper, left))

    def end_held(self) -> None:
        """Look, between two turns, which of those that are held have ended."""
        for item in list(self.held):
            reaper, left = item
            left[:] = [zombie for zombie in left if zombie.may_exist()]
            if reaper.dead or not left:
                self.held.remove(item)
                if not reaper.dead:
                    self._await_end(reaper)
                    self.reap(reaper)

    def _await_end(self, process: Process) -> None:
        if process.pidfd >= 0:
            poller = select.poll()
            poller.register(process.pidfd, select.POLLIN)
            if not poller.poll(DEATH_TIMEOUT_MS):
                self._kernel.warn(f"{process!r} was to die and has not; it is killed")
                native_signal.send(process.pidfd, signal.SIGKILL)
                poller.poll(DEATH_TIMEOUT_MS)

    def reap(self, process: Process) -> None:
        """Free what the server keeps of a dead process, and tell its relatives."""
        if process.dead:
            return
        process.dead = True
        kernel = self._kernel
        if kernel.debugger is not None:
            kernel.debugger.await_release(process)
        if process.started and process.pid:
            process.exit_status = kernel.launcher.wait_status(process.host.name, process.pid)
            if process.exit_status < 0:
                kernel.disturbances.note(f"the first process of host {process.host.name} has died")
            elif process.pidfd < 0 and not kernel.is_off(process.host.name):
                kernel.disturbances.look_at_stillbirth(process, process.exit_status)
        if process.is_traced and (reason := kernel.launcher.why_killed(process.host.name, process.pid)):
            kernel.warn(f"{process!r} was killed at an exec that could not be intercepted: {reason}")
        zombies.reap(kernel, process)
        if kernel.traces is not None:
            kernel.traces.process_ended(process, kernel.now_ns)
        self._release(process)
        kernel.readiness.changed()
        self._log_exit(process)
        _leave_cpu_time(process)
        if kernel.tracees.all or kernel.tracees.reports:
            kernel.tracees.tracer_ended(process)
        self._tell_relatives(process)
        self.await_deaths(process.take_doomed())

    def _release(self, process: Process) -> None:
        """Close and forget everything that the server keeps of a dead process."""
        kernel = self._kernel
        for actor in list(process.actors):
            self.end_actor(actor)
        kernel.channel_pool.close(process)
        for timer in process.timers.values():
            if timer.event is not None:
                timer.event.cancel()
        if process.pidfd >= 0:
            kernel.readiness.unwatch(process.pidfd, process)
            os.close(process.pidfd)
            process.pidfd = -1
        process.host.processes.pop(process.pid, None)
        del kernel.processes[process.number]
        kernel.signals.listeners.pop(process.number, None)
        self.on_release.tell(process)

    def _log_exit(self, process: Process) -> None:
        if process.pid:
            self._kernel.log.event(
                self._kernel.now_ns,
                "process_exit",
                host=process.host.name,
                number=process.number,
                pid=process.pid,
                program=process.program,
                status=process.exit_status,
                born=process.born_ns,
            )

    def _tell_relatives(self, process: Process) -> None:
        kernel = self._kernel
        self.release_vfork(process)
        kernel.futexes.wake_shared()
        parent = process.parent
        if parent is not None and not parent.dead:
            parent.children.remove(process)
            kernel.signals.child_changed(parent)
        for child in process.children:
            child.orphaned_ns = kernel.now_ns
            reparent(child)
            # prctl(2) PR_SET_PDEATHSIG may have sent any signal: all threads look.
            kernel.signals.notice(child, signal.SIGTERM, every_thread=True)
        self.await_deaths([child for child in process.children if child.pidfd >= 0])  # PR_SET_PDEATHSIG may have been SIGKILL
        hang_up_orphans(kernel.signals, process.host)
        process.on_exit.tell(process)


def seed_of(seed: int, number: int) -> int:
    """The random seed of a process, 62 bits, from the run's seed and a number (multiplicative hashing, Knuth TAOCP 6.4)."""
    return ((seed + 1) * 0x9E3779B97F4A7C15 ^ number * 0xBF58476D1CE4E5B9) & (1 << 62) - 1


def _leave_cpu_time(process: Process) -> None:
    """Count the CPU time of a dead process, and of its dead children, among that of its parent's dead children."""
    parent, total_ns = process.parent, process.cpu_ns + process.children_cpu_ns
    if parent is not None and total_ns:
        parent.children_cpu_ns += total_ns
        parent.dead_children_ns[process.pid] = total_ns
