"""Births and ends of processes and threads: FORK, EXEC, EXIT and what belongs to them."""

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
    """Whether an unborn actor is a thread or a child of the process, or a child of its parent (clone(2), CLONE_PARENT)."""
    return actor.process is process or actor.process.parent in (process, process.parent)


class ForkHandlers:
    """Handles FORK."""

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
        """Return the handlers, by operation."""
        return handled({Op.FORK: self.fork}, makes_descriptors=(Op.FORK,))

    def fork(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[kind] -> [number, slot, channel number, seed, 1 if traced] + the child's channel: announce a child or a thread.

        SIBLING in the kind: a child of the caller's parent. The bits from EVENT on: for a tracer, which event of ptrace(2)
        the birth is. After both kinds of VFORK the parent is silent until the child has exec'd or died.
        """
        event, kind = divmod(arguments[0], Fork.EVENT)
        kind = Fork(kind & ~Fork.SIBLING)
        if not self._cgroups.may_bear(actor, kind is Fork.THREAD):
            return failed(errno.EAGAIN)
        if kind is Fork.THREAD:
            return self._thread(actor, event)
        ends = new_channel()  # before anything changes, since new_channel may fail
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
        newborn = child if kind is Fork.VFORK_IN_ORDER else None  # others may run before the child: its pid is known before
        traced = self._tracees.born(actor, child, event)
        values = (child.number, child.slot, child.channel_number, process.seed, *self._seldom(child, traced))
        return Reply(values, fds=(channel,), newborn=newborn)

    def _thread(self, creator: Actor, event: int) -> Reply:
        """Announce a thread. It takes over the channel of an ended thread, if there is one; with a slot it sends no HELLO."""
        process = creator.process
        child, fds = self._threads.new_sibling(process)
        child.inherit(creator)
        if child.slot:
            child.owes_message, child.answer_at_slot, child.is_new = False, True, True
        self._parking.make_ready(child)
        seldom = self._seldom(child, self._tracees.born(creator, child, event))
        return Reply((child.number, child.slot, child.channel_number, *((0, *seldom) if seldom else ())), fds=fds)  # no seed

    def _seldom(self, child: Actor, is_traced: bool) -> tuple[int, ...]:
        """Return the last values of the reply about a child, if they matter: is it traced, its first recorded charge."""
        next_charge = self._charges.next_of(child.number) if self._charges is not None else 0
        if next_charge:
            return (int(is_traced), next_charge)
        return (1,) if is_traced else ()


class ForkDoneHandlers:
    """Handles FORK_DONE."""

    def __init__(self, threads: Threads, deaths: Deaths) -> None:
        self._threads, self._deaths = threads, deaths

    def table(self) -> dict[int, Handler]:
        """Return the handlers, by operation."""
        return handled({Op.FORK_DONE: self.fork_done})

    def fork_done(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[pid | -errno, number]: report the outcome of a fork.

        After a failed fork the announced child is withdrawn. A child that was born says HELLO before its parent goes on.
        """
        outcome, number = arguments
        child = self._threads.all.get(number)
        if child is None or not (child.owes_message or child.is_new) or not is_child(child, actor.process):
            return OK  # the child of a vfork, which has sent HELLO, or a child that was killed from outside
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
    """Handles EXEC and INJECT, which come before an exec."""

    def __init__(self, launcher: Launcher) -> None:
        self._launcher = launcher

    def table(self) -> dict[int, Handler]:
        """Return the handlers, by operation."""
        return handled(
            {
                Op.EXEC: self.execute,
                Op.INJECT: self.inject,
            }
        )

    def execute(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[]: an exec is near. By this message the process reports its hand-offs, which a new image could not do."""
        return OK

    def inject(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """[tid, descriptor]: make the host's init trace the thread's next exec.

        -1 as descriptor: that exec has failed. -EPERM if the init cannot trace it.
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
        """Return the handlers, by operation."""
        return handled(
            {
                Op.THREAD_EXIT: self.thread_exit,
                Op.EXIT: self.process_exit,
            }
        )

    def thread_exit(self, actor: Actor, arguments: Sequence[Any]) -> None:
        """[status, join word]: end a thread.

        Threads that join this one may go on; the shim of the actor that runs next waits until the kernel has ended the
        thread.
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
        """[status]: end a process. No actor runs until the kernel has ended the process."""
        self._cgroups.count_memory(actor.process)
        if actor.process.dead:
            return
        actor.process.exit_status = arguments[0]
        self._deaths.await_death(actor.process)
