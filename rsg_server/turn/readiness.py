"""One epoll for everything that the server watches: private epolls of actors, its ends of simulated sockets, pidfds."""

from __future__ import annotations

import os
import select
import struct

from rsg_server._native import ffi, lib
from rsg_server.process.actor import STATE_PARKED, Actor
from rsg_server.process.process import Process
from rsg_server.sockets.pair import SimulatedSocket

_EVENTS_AT_ONCE = 4096
_EVENT = struct.Struct("=IQ")  # struct epoll_event, which is packed
_RANK_SHIFT = 48
_RANKS: dict[type, int] = {SimulatedSocket: 0, Process: 1 << _RANK_SHIFT, Actor: 2 << _RANK_SHIFT}

_OF_EPOLLS = 1 << 63
"""The token of other epolls in this one, which are asked themselves: no target has it."""

Target = Actor | Process | SimulatedSocket


class Readiness:
    """An epoll that names each target by a token: its kind and its number (of an actor, the number of its channel).

    The server does not keep private epolls open, and the kernel may reuse the number of a descriptor; a token is not reused.
    Private epolls are watched for edges: an actor stays ready until its turn has come, so of a thousand nodes that are pinged
    at one moment every look would find all the others again. No edge is missed, since the shim fills the private epoll anew
    for each wait, after it has found that nothing is ready.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._targets: dict[int, Target] = {}
        self._ready = ffi.new("char[]", _EVENTS_AT_ONCE * _EVENT.size)
        self._view = memoryview(ffi.buffer(self._ready))
        self._epolls = [self._epoll.fileno()]
        self.may_have_changed = True
        """Something may have become ready since the kernel was last asked: the turn loop asks before it gives the next turn."""

    def __contains__(self, target: Target) -> bool:
        return token_of(target) in self._targets

    def changed(self) -> None:
        """Say that something may have become ready, so that the turn loop asks the kernel before it gives the next turn."""
        self.may_have_changed = True

    def fileno(self) -> int:
        """The descriptor of the epoll, which is readable when something is ready."""
        return self._epoll.fileno()

    def watch(self, descriptor: int, target: Target, events: int = select.EPOLLIN) -> None:
        """Have a descriptor reported as `target`: an actor's epoll at an edge, others as long as they are ready."""
        if isinstance(target, Actor):
            events |= select.EPOLLET
        token = token_of(target)
        _check(lib.watch_add(self._epoll.fileno(), descriptor, events, token))
        self._targets[token] = target

    def watch_end(self, process: Process) -> None:
        """Have the end of a process reported, unless it is already: its pidfd is readable then."""
        if process not in self:
            self.watch(process.pidfd, process)

    def modify(self, descriptor: int, target: Target, events: int) -> None:
        """Report other events of a descriptor."""
        _check(lib.watch_modify(self._epoll.fileno(), descriptor, events, token_of(target)))

    def unwatch(self, descriptor: int, target: Target) -> None:
        """Forget a descriptor; harmless if it is not watched."""
        if self._targets.pop(token_of(target), None) is not None:
            _check(lib.watch_remove(self._epoll.fileno(), descriptor))

    def put_away(self, descriptor: int, target: Target) -> bool:
        """Stop watching a descriptor that is going to be watched in an epoll of `look_also_at`; False if it is not watched."""
        is_watched = target in self
        if is_watched:
            _check(lib.watch_remove(self._epoll.fileno(), descriptor))
        return is_watched

    def take_back(self, descriptor: int, target: Target, events: int) -> None:
        """Watch a descriptor here again after `put_away`, if it was watched."""
        if target in self:
            self.watch(descriptor, target, events)

    def look_also_at(self, epoll: int) -> None:
        """Look also at another epoll, which names targets by their tokens and must stay open."""
        self._epolls.append(epoll)
        _check(lib.watch_add(self._epoll.fileno(), epoll, select.EPOLLIN, _OF_EPOLLS))

    def forget(self, actor: Actor) -> None:
        """Forget the private epoll of an actor that has ended."""
        self._targets.pop(token_of(actor), None)

    def news(self) -> list[tuple[Target, int]]:
        """Targets that have become ready, with their events, in the order of their numbers (the kernel's is not reproducible).

        Actors that do not wait are left out, since they look by themselves before they wait.
        """
        told: list[tuple[int, int]] = []
        for epoll in self._epolls:
            count = _check(lib.watch_look(epoll, self._ready, _EVENTS_AT_ONCE))
            if count == 0 and epoll == self._epolls[0]:
                return []  # nor has any other epoll something ready: it is watched in the first
            told += _EVENT.iter_unpack(self._view[: count * _EVENT.size])
        targets = self._targets
        found = []
        for events, token in told:
            target = targets.get(token)
            if target is not None and (type(target) is not Actor or target.state is STATE_PARKED):
                found.append((target, events))
        if len(found) > 1:
            found.sort(key=_place)
        return found

    def take_over(self, actor: Actor) -> None:
        """Report the private epoll of an actor that has ended, which is watched already, as this actor's."""
        self._targets[token_of(actor)] = actor

    def close(self) -> None:
        """Release the epoll."""
        self._epoll.close()


def token_of(target: Target) -> int:
    """The token of a target, which no other has; of an actor, by the number of its channel, which the epoll goes with."""
    return _RANKS[type(target)] + (target.channel_number if isinstance(target, Actor) else target.number)


def _place(news: tuple[Target, int]) -> int:
    """The place of a target in the order in which targets are served."""
    return _RANKS[type(news[0])] + news[0].number


def _check(result: int) -> int:
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result
