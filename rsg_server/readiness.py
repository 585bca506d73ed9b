"""What the kernel tells of descriptors: actors' private epolls, our ends of simulated sockets, pidfds; all in one epoll."""

from __future__ import annotations

import select

from rsg_server.actor import Actor, State
from rsg_server.process import Process
from rsg_server.socket_pair import SimulatedSocket

_EVENTS_AT_ONCE = 4096
_ONCE = select.EPOLLIN | select.EPOLLONESHOT
_RANKS: dict[type, int] = {SimulatedSocket: 0, Process: 1, Actor: 2}

Target = Actor | Process | SimulatedSocket


class Readiness:
    """The master epoll, and whom each of its descriptors stands for.

    An actor's epoll tells once that it is ready, and again after the actor has waited anew. It stays ready until
    the actor's turn has come: of a thousand nodes that are pinged at one moment, every look would find all the others.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._targets: dict[int, Target] = {}
        self._reported: set[int] = set()  # numbers of actors whose epolls have told

    def __contains__(self, descriptor: int) -> bool:
        return descriptor in self._targets

    def fileno(self) -> int:
        """Of the epoll itself: readable when something is ready."""
        return self._epoll.fileno()

    def watch(self, descriptor: int, target: Target, events: int = select.EPOLLIN) -> None:
        """Have a descriptor reported as `target`: an actor's once at a time, others' whenever they are ready."""
        self._targets[descriptor] = target
        self._epoll.register(descriptor, _ONCE if isinstance(target, Actor) else events)

    def modify(self, descriptor: int, events: int) -> None:
        """Report other events of a descriptor."""
        self._epoll.modify(descriptor, events)

    def expect(self, actor: Actor) -> None:
        """It waits for its descriptors from now on."""
        if actor.number in self._reported:
            self._reported.discard(actor.number)
            self._epoll.modify(actor.epoll_fd, _ONCE)

    def unwatch(self, descriptor: int) -> None:
        """Forget a descriptor; harmless if it is not watched."""
        target = self._targets.pop(descriptor, None)
        if target is not None:
            self._epoll.unregister(descriptor)
            if isinstance(target, Actor):
                self._reported.discard(target.number)

    def news(self) -> list[tuple[Target, int]]:
        """Who has become ready, with which events; in the order of our own numbers, for nobody can repeat the kernel's."""
        ready = self._epoll.poll(0, _EVENTS_AT_ONCE)
        if not ready:
            return []
        found = []
        for descriptor, events in ready:
            target = self._targets.get(descriptor)
            if type(target) is Actor:
                self._reported.add(target.number)
                if target.state is not State.PARKED:
                    continue
            if target is not None:
                found.append((target, events))
        found.sort(key=_rank)
        return found

    def close(self) -> None:
        """Release the epoll."""
        self._epoll.close()


def _rank(entry: tuple[Target, int]) -> tuple[int, int]:
    target = entry[0]
    return _RANKS[type(target)], target.number
