"""What the kernel tells of descriptors: actors' private epolls, our ends of simulated sockets, pidfds; all in one epoll."""

from __future__ import annotations

import os
import select
import struct

from rsg_server._native import ffi, lib
from rsg_server.actor import Actor, State
from rsg_server.process import Process
from rsg_server.socket_pair import SimulatedSocket

_EVENTS_AT_ONCE = 4096
_EVENT = struct.Struct("=IQ")  # struct epoll_event, which is packed
_RANK_SHIFT = 48
_RANKS: dict[type, int] = {SimulatedSocket: 0, Process: 1 << _RANK_SHIFT, Actor: 2 << _RANK_SHIFT}

Target = Actor | Process | SimulatedSocket


class Readiness:
    """The epoll, which names those whom it tells of by a token: kind and number, in the order in which they are served.

    We do not keep actors' epolls open: a token is not another's once the descriptor is. They tell of an edge: an actor stays
    ready until its turn has come, and of a thousand nodes that are pinged at one moment every look would find all the others.
    No edge is missed, since the shim fills the epoll anew for each wait, after it has found that nothing is ready.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._targets: dict[int, Target] = {}
        self._ready = ffi.new("char[]", _EVENTS_AT_ONCE * _EVENT.size)
        self._view = memoryview(ffi.buffer(self._ready))

    def __contains__(self, target: Target) -> bool:
        return _token(target) in self._targets

    def fileno(self) -> int:
        """Of the epoll itself: readable when something is ready."""
        return self._epoll.fileno()

    def watch(self, descriptor: int, target: Target, events: int = select.EPOLLIN) -> None:
        """Have a descriptor reported as `target`: an actor's epoll at an edge, others as long as they are ready."""
        if isinstance(target, Actor):
            events |= select.EPOLLET
        token = _token(target)
        _check(lib.watch_add(self._epoll.fileno(), descriptor, events, token))
        self._targets[token] = target

    def modify(self, descriptor: int, target: Target, events: int) -> None:
        """Report other events of a descriptor."""
        _check(lib.watch_modify(self._epoll.fileno(), descriptor, events, _token(target)))

    def unwatch(self, descriptor: int, target: Target) -> None:
        """Forget a descriptor; harmless if it is not watched."""
        if self._targets.pop(_token(target), None) is not None:
            _check(lib.watch_remove(self._epoll.fileno(), descriptor))

    def forget(self, actor: Actor) -> None:
        """It has ended, and its epoll with it."""
        self._targets.pop(_token(actor), None)

    def news(self) -> list[tuple[Target, int]]:
        """Who has become ready, with which events; in the order of our own numbers, for nobody can repeat the kernel's.

        Not an actor that does not wait: it will look for itself.
        """
        count = _check(lib.watch_look(self._epoll.fileno(), self._ready, _EVENTS_AT_ONCE))
        if count == 0:
            return []
        targets = self._targets
        found = []
        for events, token in sorted(_EVENT.iter_unpack(self._view[: count * _EVENT.size]), key=_of_token):
            target = targets.get(token)
            if target is not None and (type(target) is not Actor or target.state is State.PARKED):
                found.append((target, events))
        return found

    def close(self) -> None:
        """Release the epoll."""
        self._epoll.close()


def _token(target: Target) -> int:
    return _RANKS[type(target)] + target.number


def _of_token(event: tuple[int, int]) -> int:
    return event[1]


def _check(result: int) -> int:
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result
