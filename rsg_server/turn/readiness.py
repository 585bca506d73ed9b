"""The epoll by which the server learns which descriptors are ready: the private epolls of actors, the server's ends of
simulated sockets, pidfds.
"""

from __future__ import annotations

import os
import select
import struct
from typing import TYPE_CHECKING, Any, Final

from rsg_server._native import ffi, lib
from rsg_server.process.actor import Actor
from rsg_server.process.process import Process
from rsg_server.sockets.pair import SimulatedSocket

if TYPE_CHECKING:
    from rsg_server.process.parking import Parking

_ITEM: Final = struct.Struct("=QQQIxxxx")  # struct ready_item
_RANK_SHIFT: Final[int] = lib.TARGET_SHIFT
_PROCESSES: Final[int] = 1 << _RANK_SHIFT
_ACTORS: Final[int] = 2 << _RANK_SHIFT

_OF_EPOLLS = 1 << 63
"""The token of another epoll within this one, which is then asked for the ready targets. No target has this token."""

Target = Actor | Process | SimulatedSocket


class Readiness:
    """The server's epoll. The targets of the epoll (actors, sockets, processes) are named by tokens, made of kind and number.

    The token of an actor is made from its channel's number. The server does not keep the private epolls of actors open,
    and the kernel may reuse a descriptor's number; a token is not reused. Private epolls are edge-triggered. An actor
    stays ready until its turn has come: if a thousand nodes are pinged at one moment, a level-triggered epoll would
    report, at every look, all actors that have not had their turn yet. No edge is missed, since the shim fills the
    private epoll anew for each wait, after it has found that nothing is ready.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._targets: dict[int, Target] = {}
        self.core: Any = ffi.gc(lib.readiness_new(self._epoll.fileno()), lib.readiness_free)

    def __contains__(self, target: Target) -> bool:
        return token_of(target) in self._targets

    @property
    def may_have_changed(self) -> bool:
        """Whether something may have become ready since the kernel was last asked.

        If so, the kernel is asked before the next turn.
        """
        return bool(self.core.may_have_changed)

    @may_have_changed.setter
    def may_have_changed(self, may_have: bool) -> None:
        self.core.may_have_changed = may_have

    def changed(self) -> None:
        """Note that something may have become ready, so that the turn loop asks the kernel before it gives the next turn."""
        self.core.may_have_changed = 1

    def fileno(self) -> int:
        """Return the descriptor of the epoll, which is readable when something is ready."""
        return self._epoll.fileno()

    def watch(self, descriptor: int, target: Target, events: int = select.EPOLLIN) -> None:
        """Watch a descriptor, and report it as `target`: an actor's epoll at each edge, others as long as they are ready."""
        if isinstance(target, Actor):
            events |= select.EPOLLET
        token = token_of(target)
        _check(lib.watch_add(self._epoll.fileno(), descriptor, events, token))
        self._know(token, target)

    def _know(self, token: int, target: Target) -> None:
        self._targets[token] = target
        if isinstance(target, Actor):
            lib.readiness_watch(self.core, target.channel_number, target.record)

    def watch_end(self, process: Process) -> None:
        """Watch the pidfd of a process, which becomes readable when the process ends, unless it is watched already."""
        if process not in self:
            self.watch(process.pidfd, process)

    def modify(self, descriptor: int, target: Target, events: int) -> None:
        """Change the events for which a watched descriptor is reported."""
        _check(lib.watch_modify(self._epoll.fileno(), descriptor, events, token_of(target)))

    def unwatch(self, descriptor: int, target: Target) -> None:
        """Stop watching a descriptor; do nothing if it is not watched."""
        if self._targets.pop(token_of(target), None) is not None:
            _check(lib.watch_remove(self._epoll.fileno(), descriptor))

    def put_away(self, descriptor: int, target: Target) -> bool:
        """Stop watching a descriptor that an epoll of `look_also_at` will watch instead.

        Return False if the descriptor was not watched.
        """
        is_watched = target in self
        if is_watched:
            _check(lib.watch_remove(self._epoll.fileno(), descriptor))
        return is_watched

    def take_back(self, descriptor: int, target: Target, events: int) -> None:
        """Watch a descriptor again in this epoll, if the epoll watched the descriptor before `put_away` removed it."""
        if target in self:
            self.watch(descriptor, target, events)

    def look_also_at(self, epoll: int) -> None:
        """Add another epoll, whose events are reported as well.

        The other epoll must use the same tokens for targets, and must stay open.
        """
        lib.readiness_look_also_at(self.core, epoll)
        _check(lib.watch_add(self._epoll.fileno(), epoll, select.EPOLLIN, _OF_EPOLLS))

    def forget(self, actor: Actor) -> None:
        """Forget the private epoll of an actor that has ended."""
        self._targets.pop(token_of(actor), None)
        lib.readiness_forget(self.core, actor.channel_number)

    def look(self, parking: Parking) -> bool:
        """Ask the kernel what is ready, and wake actors.

        Return True if there are ready descriptors that Python must handle and C cannot (`news`).
        """
        return _check(lib.readiness_look(self.core, parking.core)) != 0

    @property
    def found(self) -> int:
        """The number of targets that the last look has found ready."""
        count: int = self.core.count
        return count

    def news(self) -> list[tuple[Target, int]]:
        """Return the ready targets of the last look, with their events, sorted by number.

        The kernel's own order is not reproducible. Actors that do not wait are left out, since they look by themselves
        before they wait.
        """
        targets, found = self._targets, []
        for token, _, _, events in _ITEM.iter_unpack(ffi.buffer(self.core.items, self.core.count * _ITEM.size)):
            target = targets.get(token)
            if target is not None:
                found.append((target, events))
        return found

    def take_over(self, actor: Actor) -> None:
        """Report the private epoll of an ended actor from now on as that of the actor that gets its channel."""
        self._know(token_of(actor), actor)

    def close(self) -> None:
        """Release the epoll."""
        self._epoll.close()


def token_of(target: Target) -> int:
    """Return the token of a target, which no other target has. The token of an actor is made from the number of its channel."""
    if isinstance(target, SimulatedSocket):
        return target.number
    return _ACTORS + target.channel_number if isinstance(target, Actor) else _PROCESSES + target.number


def _check(result: int) -> int:
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result
