"""Asks the kernel between two turns what has become ready, and wakes in the order of the server's own numbers.

Several actors of a host may wait for one descriptor, as the workers of a web server do for connections. Linux wakes all of
them, or one if they ask for that (epoll_ctl(2), EPOLLEXCLUSIVE; here `_is_told` and `_reason`), and who comes too late finds
nothing and waits on. Here the first is woken and the others are nominated: they get places in the run queue and stay parked,
until their places come and the server looks whether there is still something for them. So an actor that comes too late costs
no turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rsg_server._native import lib
from rsg_server.process.actor import STATE_PARKED, Actor
from rsg_server.process.process import Process
from rsg_server.process.terminals import flush_waited
from rsg_server.protocol import WAKE_ELSEWHERE, WAKE_READY
from rsg_server.sockets.pair import SimulatedSocket
from rsg_server.waits.descriptors import DescriptorWait

if TYPE_CHECKING:
    from rsg_server.process.wait import ActorWait
    from rsg_server.turn.needs import WakeupKernel
    from rsg_server.turn.readiness import Target

ACCEPTS: Final = (43, 288)
"""Numbers of accept and accept4 on x86-64."""


def wake_ready(kernel: WakeupKernel) -> None:
    """Wake actors whose descriptors are ready, serve sockets and reap processes, until that makes nothing more ready."""
    again = True
    if kernel.deaths.held:
        kernel.deaths.end_held()
    while again:
        again = False
        kernel.readiness.may_have_changed = False
        if kernel.at_terminals:
            flush_waited(kernel.at_terminals)
        kernel.signals.look()
        kernel.shared.turn.looked()
        news = kernel.readiness.news()
        if not news:
            return
        if len(news) > 1:
            _put_accepts_in_turn(news)
        hosts: set[str] = set()
        files: set[int] = set()
        for target, events in news:
            if isinstance(target, Actor):
                parked = target.parked
                if not isinstance(parked, DescriptorWait) or not _is_told(target, parked, news, files):
                    continue
                if not target.is_nominated:
                    _wake_or_nominate(kernel, target, parked, hosts)
            elif isinstance(target, SimulatedSocket):
                kernel.sockets.ready(target, events)
            elif isinstance(target, Process) and not target.dead:
                kernel.deaths.met_dead(target)
                again = True
        again = again or kernel.readiness.may_have_changed


def _put_accepts_in_turn(news: list[tuple[Target, int]]) -> None:
    """Among the actors that wait in accept(2), put first who has waited longest: Linux gives connections in that order."""
    places = [place for place, (target, _) in enumerate(news) if isinstance(target, Actor) and _accepts(target)]
    if len(places) > 1:
        waiting = sorted((news[place] for place in places), key=_since)
        for place, item in zip(places, waiting, strict=True):
            news[place] = item


def _accepts(actor: Actor) -> bool:
    return actor.parked is not None and actor.parked.syscall in ACCEPTS


def _since(item: tuple[Target, int]) -> int:
    target = item[0]
    return target.parked.since_ns if isinstance(target, Actor) and target.parked is not None else 0


def _is_told(actor: Actor, parked: DescriptorWait, news: list[tuple[Target, int]], files: set[int]) -> bool:
    """Whether an actor is told of news. Of those that watch a file with EPOLLEXCLUSIVE, choose the first that the news reach.

    The others look past the file, in case that something else is ready. False for an actor that has just done so: what the
    kernel tells at the beginning of its wait is old. Each write is told at once (`OP_LOOK`), so each chooses another actor;
    `files` have one for this write.
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
    """Whether news may be of a file: then they have reached all actors that wait for it."""
    told = {target.number for target, _ in news if isinstance(target, Actor)}
    everybody = (other for process in actor.process.host.processes.values() for other in process.actors)
    return all(other.number in told for other in everybody if other.state is STATE_PARKED and _watches(other.parked, file))


def _wake_or_nominate(kernel: WakeupKernel, actor: Actor, parked: DescriptorWait, hosts: set[str]) -> None:
    """Wake the first of the actors of a host that are ready at this moment, nominate the others; `hosts` have a first one."""
    name = actor.process.host.name
    if name in hosts and actor.process.pidfd >= 0 and parked.epoll_fd and not parked.has_terminal:
        kernel.run_queue.nominate(actor)
        return
    reason = _reason(kernel, parked)
    if reason is not None:
        hosts.add(name)
        kernel.parking.wake(actor, reason)


def _reason(kernel: WakeupKernel, parked: DescriptorWait) -> int | None:
    """Why to wake an actor whose descriptors are ready; None if it has looked already and found them to be others' to serve."""
    if not parked.is_exclusive:
        return WAKE_READY
    if parked.is_file:
        return WAKE_READY if parked.is_chosen else WAKE_ELSEWHERE
    listener = kernel.sockets.all.get(parked.watched)
    if listener is None or not listener.tokens:
        return WAKE_READY
    if listener.unannounced:
        listener.unannounced -= 1
        return WAKE_READY
    if parked.has_looked:
        parked.has_looked = False  # that was what the kernel told of the wait's beginning
        return None
    return WAKE_ELSEWHERE


def elect(kernel: WakeupKernel, actor: Actor) -> bool:
    """Whether a nominated actor, whose place in the run queue has come, gets the turn: something is still ready for it.

    An actor that was woken meanwhile for another reason gets the turn in any case.
    """
    if actor.state is STATE_PARKED:
        parked = actor.parked
        assert isinstance(parked, DescriptorWait)
        if lib.watch_is_ready(actor.process.pidfd, parked.epoll_fd) == 0:
            parked.is_chosen = False
        else:
            reason = _reason(kernel, parked)
            if reason is not None:
                kernel.parking.wake(actor, reason)  # while the actor is nominated: its place is that of the nomination
    actor.is_nominated = False
    return actor.state is not STATE_PARKED
