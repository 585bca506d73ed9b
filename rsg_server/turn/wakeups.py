"""Asks the kernel between two turns what has become ready, and wakes actors in the order of the server's own numbers.

Several actors of a host may wait for one descriptor, as the workers of a web server do for connections. Linux wakes all
of them, or only one of them with EPOLLEXCLUSIVE (epoll_ctl(2); here `_is_told` and `_reason`). On Linux, a woken thread
that comes too late finds nothing to do, and waits again. In simunix the first actor is woken, and the others are
nominated: they get places in the run queue, although they still wait. When such a place comes, the server looks whether
the descriptor is still ready. So no turn is spent on an actor that would come too late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server._native import lib
from rsg_server.process.actor import STATE_PARKED, Actor
from rsg_server.process.process import Process
from rsg_server.process.terminals import flush_waited
from rsg_server.protocol import WAKE_ELSEWHERE, WAKE_READY
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import SimulatedSocket
from rsg_server.waits.descriptors import DescriptorWait

if TYPE_CHECKING:
    from rsg_server.process.life.deaths import Deaths
    from rsg_server.process.parking import Parking
    from rsg_server.process.signals import Signals
    from rsg_server.process.wait import ActorWait
    from rsg_server.sockets.table import SocketTable
    from rsg_server.turn.readiness import Readiness, Target


class Wakeups:
    """Wakes actors that wait for descriptors which have become ready.

    `at_terminals` maps numbers of actors to the actors that wait for the master of a terminal. If a wait is for
    descriptors of which the kernel alone knows whether they are ready, the server's C code ends the wait
    (csrc/turn/readiness.c).
    """

    def __init__(
        self,
        parking: Parking,
        readiness: Readiness,
        signals: Signals,
        sockets: SocketTable,
        deaths: Deaths,
        at_terminals: dict[int, Actor],
    ) -> None:
        self._parking, self._readiness, self._signals, self._sockets = parking, readiness, signals, sockets
        self._deaths, self._at_terminals = deaths, at_terminals

    @property
    def are_more_than_epoll(self) -> bool:
        """Whether the server must also look at signals, ended processes or terminals, which its epoll does not report."""
        return bool(self._signals.listeners) or bool(self._deaths.held) or bool(self._at_terminals)

    @property
    def are_unsettled(self) -> bool:
        """Whether the kernel may still pass on a terminal's characters, or send its signals, from a work queue."""
        return self._signals.is_at_terminal and bool(self._signals.listeners)

    def wake_ready(self) -> None:
        """Wake actors whose descriptors are ready, serve sockets, and handle ended processes, until this makes no
        further descriptor ready.
        """
        if self._deaths.held:
            self._deaths.end_held()
        while self._look():
            pass

    def serve_news(self) -> None:
        """Handle the ready descriptors that the C code cannot handle itself, until this makes no further descriptor ready."""
        if self._serve():
            while self._look():
                pass

    def _look(self) -> bool:
        """Ask the kernel once which descriptors are ready, and act on the answer.

        Return whether this may have made further descriptors ready.
        """
        readiness = self._readiness
        readiness.may_have_changed = False
        if self._at_terminals:
            flush_waited(self._at_terminals)
        self._signals.look()
        if readiness.look(self._parking):
            return self._serve()
        return readiness.found > 0 and readiness.may_have_changed

    def _serve(self) -> bool:
        """Handle the descriptors that the last look has found ready.

        Return whether this may have made further descriptors ready.
        """
        again = False
        news = self._readiness.news()
        files: set[int] = set()
        for target, events in news:
            if isinstance(target, Actor):
                self._tell(target, news, files)
            elif isinstance(target, SimulatedSocket):
                self._sockets.ready(target, events)
            elif isinstance(target, Process) and not target.dead:
                self._deaths.met_dead(target)
                again = True
        return again or self._readiness.may_have_changed

    def _tell(self, actor: Actor, news: list[tuple[Target, int]], files: set[int]) -> None:
        if lib.readiness_is_plain(actor.record):
            lib.readiness_wake(self._readiness.core, self._parking.core, actor.record)
            return
        parked = actor.parked
        if not isinstance(parked, DescriptorWait) or not _is_told(actor, parked, news, files):
            return
        if not actor.is_nominated:
            self._wake_or_nominate(actor, parked)

    def _wake_or_nominate(self, actor: Actor, parked: DescriptorWait) -> None:
        """Wake an actor if it is the first of its host that is ready at this moment, else nominate it."""
        if lib.readiness_is_next(self._readiness.core, actor.record):
            self._parking.run_queue.nominate(actor)
            return
        reason = self._reason(parked)
        if reason is not None:
            lib.readiness_first(self._readiness.core, actor.record)
            self._parking.wake(actor, reason)

    def _reason(self, parked: DescriptorWait) -> int | None:
        """Return the reason to wake an actor whose descriptors are ready.

        None if the actor waits on: the actor has just looked, and the ready connections are for other actors.
        """
        if not parked.is_exclusive:
            return WAKE_READY
        if parked.is_file:
            return WAKE_READY if parked.is_chosen else WAKE_ELSEWHERE
        listener = self._sockets.all.get(parked.watched)
        if not isinstance(listener, StreamSocket) or not listener.queue.tokens:
            return WAKE_READY
        if listener.queue.unannounced:
            listener.queue.unannounced -= 1
            return WAKE_READY
        if parked.has_looked:
            parked.has_looked = False  # the kernel has reported the descriptors that were ready when the wait began
            return None
        return WAKE_ELSEWHERE

    def elect(self, actor: Actor) -> bool:
        """Return whether a nominated actor gets the turn when its place in the run queue comes, because a descriptor
        that it waits for is still ready.

        An actor that was woken meanwhile for another reason gets the turn in any case.
        """
        if actor.state is not STATE_PARKED or lib.readiness_is_plain(actor.record):
            return bool(lib.readiness_elect(self._parking.core, actor.record))
        parked = actor.parked
        assert isinstance(parked, DescriptorWait)
        if lib.watch_is_ready(actor.process.pidfd, parked.epoll_fd) == 0:
            parked.is_chosen = False
        else:
            reason = self._reason(parked)
            if reason is not None:
                # while the actor is nominated: its place in the run queue is that of the nomination
                self._parking.wake(actor, reason)
        actor.is_nominated = False
        return actor.state is not STATE_PARKED


def _is_told(actor: Actor, parked: DescriptorWait, news: list[tuple[Target, int]], files: set[int]) -> bool:
    """Return whether the server handles an actor's readiness; choose who is woken for a file watched with EPOLLEXCLUSIVE.

    Of the actors that watch such a file, the first one is chosen. The others ignore the file, in case something else is
    ready. The result is False for an actor that has just ignored the file: at the beginning of a wait the kernel
    reports again what the actor has seen already. Each write is reported at once (`OP_LOOK`), so each write chooses
    another actor. `files` contains the files for which an actor is chosen.
    """
    if not parked.is_file:
        return True
    if parked.has_looked:
        parked.has_looked = False
        return False
    if not parked.is_chosen and parked.watched not in files and _are_of_file(actor, parked.watched, news):
        parked.is_chosen = True
        files.add(parked.watched)
    return True


def _watches(parked: ActorWait | None, file: int) -> bool:
    return isinstance(parked, DescriptorWait) and parked.is_file and parked.watched == file


def _are_of_file(actor: Actor, file: int, news: list[tuple[Target, int]]) -> bool:
    """Return whether a report of the epoll may be about a file: when a file becomes ready, the kernel reports each
    actor that waits for the file.
    """
    told = {target.number for target, _ in news if isinstance(target, Actor)}
    everybody = (other for process in actor.process.host.processes.values() for other in process.actors)
    return all(other.number in told for other in everybody if other.state is STATE_PARKED and _watches(other.parked, file))
