"""Handles the messages about beginnings and ends of processes and threads: FORK, FORK_DONE, EXEC, INJECT, THREAD_EXIT, EXIT."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.diagnosis.traces import exited
from rsg_server.errors import SimunixError
from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.process.channel_pool import new_channel
from rsg_server.protocol import Fork, Op

if TYPE_CHECKING:
    from rsg_server.cgroups.cgroups import Cgroups
    from rsg_server.diagnosis.traces import Traces
    from rsg_server.process.actor import Actor
    from rsg_server.process.futex import FutexTable
    from rsg_server.process.host_state import Launcher
    from rsg_server.process.life.births import Births
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.life.threads import Threads
    from rsg_server.process.life.vforks import Vforks
    from rsg_server.process.parking import Parking
    from rsg_server.process.process import Process
    from rsg_server.process.tracees import Tracees
    from rsg_server.processor.charges import Charges
    from rsg_server.shared.clock import Clock


def is_child(actor: Actor, process: Process) -> bool:
    """Return whether a new actor is a thread of a process, its child, or a child of its parent (CLONE_PARENT of clone(2))."""
    return actor.process is process or actor.process.parent in (process, process.parent)


class ForkHandlers:
    """Handles FORK, by which a thread announces that it is about to create a child process or a thread."""

    def __init__(
        self,
        births: Births,
        threads: Threads,
        vforks: Vforks,
        cgroups: Cgroups,
        tracees: Tracees,
        charges: Charges | None,
        parking: Parking,
    ) -> None:
        self._births, self._threads, self._vforks, self._cgroups = births, threads, vforks, cgroups
        self._tracees, self._charges, self._parking = tracees, charges, parking

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled({Op.FORK: self.fork}, makes_descriptors=(Op.FORK,))

    def fork(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Announce a child process or a thread, before the kernel creates it.

        [kind] -> [actor's number, slot, channel's number, seed, 1 if traced] + the child's channel.

        With SIBLING in the kind, the caller's parent becomes the child's parent. The bits from EVENT on say which event
        of ptrace(2) this is for a tracer. After the two kinds of VFORK the caller sends no message until the child has
        called exec or died.
        """
        event, kind = divmod(arguments[0], Fork.EVENT)
        kind = Fork(kind & ~Fork.SIBLING)
        if not self._cgroups.may_bear(actor, kind is Fork.THREAD):
            return failed(errno.EAGAIN)
        if kind is Fork.THREAD:
            return self._thread(actor, event)
        ends = new_channel()  # made before anything is changed, since new_channel may fail
        creator = actor.process
        parent = creator.parent if arguments[0] & Fork.SIBLING else creator
        process = self._births.new_process(creator.host, parent, creator.program)
        process.nofile, process.label, process.has_boxes = creator.nofile, creator.label, creator.has_boxes
        child, channel = self._threads.new(process, ends)
        child.inherit(actor)
        self._cgroups.born(actor, process)
        if kind is Fork.VFORK or kind is Fork.VFORK_IN_ORDER:
            process.vfork_parent = actor
            self._vforks.begin(actor, child, is_next=kind is Fork.VFORK)
        else:
            self._parking.make_ready(child)
        # other actors may run before the child, and they must find the child's pid
        newborn = child if kind is Fork.VFORK_IN_ORDER else None
        traced = self._tracees.born(actor, child, event)
        values = (child.number, child.slot, child.channel_number, process.seed, *self._seldom(child, traced))
        return Reply(values, fds=(channel,), newborn=newborn)

    def _thread(self, creator: Actor, event: int) -> Reply:
        """Announce a thread, and return the reply.

        The thread gets the channel of an ended thread, if there is one. A thread with a slot sends no HELLO.
        """
        process = creator.process
        child, fds = self._threads.new_sibling(process)
        child.inherit(creator)
        if child.slot:
            child.owes_message, child.answer_at_slot, child.is_new = False, True, True
        self._parking.make_ready(child)
        seldom = self._seldom(child, self._tracees.born(creator, child, event))
        # a thread needs no seed
        return Reply((child.number, child.slot, child.channel_number, *((0, *seldom) if seldom else ())), fds=fds)

    def _seldom(self, child: Actor, is_traced: bool) -> tuple[int, ...]:
        """Return the last values of FORK's reply: 1 if the child is traced, and its first recorded charge. () if both are 0."""
        next_charge = self._charges.next_of(child.number) if self._charges is not None else 0
        if next_charge:
            return (int(is_traced), next_charge)
        return (1,) if is_traced else ()


class ForkDoneHandlers:
    """Handles FORK_DONE, by which a thread reports that the kernel has created the announced child, or has not."""

    def __init__(self, threads: Threads, deaths: Deaths) -> None:
        self._threads, self._deaths = threads, deaths

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled({Op.FORK_DONE: self.fork_done})

    def fork_done(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Report the outcome of a fork(2) or clone(2).

        [pid or -errno, number of the announced actor] -> [0].

        After a failure the announced child is forgotten. After a success the child sends its HELLO before the parent
        goes on.
        """
        outcome, number = arguments
        child = self._threads.all.get(number)
        if child is None or not (child.owes_message or child.is_new) or not is_child(child, actor.process):
            return OK  # the child of a vfork has sent HELLO already, or the child was killed from outside
        if outcome < 0:
            self._take_back(child, actor.process)
        elif child.process is not actor.process:
            child.process.pid = outcome
            return Reply(newborn=child)
        return OK

    def _take_back(self, unborn: Actor, process: Process) -> None:
        if unborn.process is process:
            self._threads.end(unborn)
        else:
            unborn.process.vfork_parent = None
            self._deaths.reap(unborn.process)


class ExecHandlers:
    """Handles EXEC and INJECT, which a process sends before it calls execve(2)."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.EXEC: self.execute,
                Op.INJECT: self.inject,
            }
        )

    def execute(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Note that the process is about to call execve(2).

        [] -> [0]. The message's header reports the turns that the process's threads have given each other without the
        server; the new program could not report them any more.
        """
        return OK

    def inject(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Have the host's init trace the next exec of a thread, to load the shim into a program that would not load it itself.

        [tid, number for the shim's descriptor] -> [0] + the file of the shim; -EPERM if the init cannot trace the
        thread. The number -1 says that the exec has failed.
        """
        tid, descriptor = arguments
        process = actor.process
        process.is_traced = descriptor >= 0
        if descriptor < 0:
            self._launcher.release(process.host.name, tid)
            return OK
        try:
            shim = self._launcher.inject(process.host.name, tid, descriptor)
        except SimunixError:
            process.is_traced = False
            return Reply((-errno.EPERM,))
        return Reply((0,), fds=(shim,), close=False)


class EndHandlers:
    """Handles THREAD_EXIT and EXIT."""

    def __init__(
        self,
        threads: Threads,
        deaths: Deaths,
        cgroups: Cgroups,
        futexes: FutexTable,
        traces: Traces | None,
        clock: Clock,
    ) -> None:
        self._threads, self._deaths, self._cgroups = threads, deaths, cgroups
        self._futexes, self._traces, self._clock = futexes, traces, clock

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.THREAD_EXIT: self.thread_exit,
                Op.EXIT: self.process_exit,
            }
        )

    def thread_exit(self, actor: Actor, arguments: Sequence[Any]) -> None:
        """End a thread, and wake the threads that wait for its end (pthread_join(3)).

        [status, address of the futex word for joining] -> no reply. The actor that has the next turn waits in its shim
        until the kernel has ended the thread.
        """
        status, word = arguments
        process = actor.process
        if len(process.actors) == 1:
            process.exit_status = status
            self._deaths.await_death(process)
            return
        if word:
            self._futexes.wake(self._futexes.key(actor, 0, word), 1 << 30, 0xFFFFFFFF)
        if self._traces is not None:
            self._traces.ended(actor, self._clock.now_ns, exited(status))
        self._threads.end(actor, leaves_channel=True)

    def process_exit(self, actor: Actor, arguments: Sequence[Any]) -> None:
        """End a process. No actor runs until the kernel has ended the process.

        [status] -> no reply.
        """
        self._cgroups.count_memory(actor.process)
        if actor.process.dead:
            return
        actor.process.exit_status = arguments[0]
        self._deaths.await_death(actor.process)
