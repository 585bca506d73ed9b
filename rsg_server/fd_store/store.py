"""Where descriptors go that the server has not used for a while, when it has as many as one process may have.

An idle node costs the server some three descriptors and, while its daemons talk, as many again: five thousand nodes are more
than `ulimit -Hn` may allow. Processes that do nothing else keep what is cold (keeper.py), as many each as the limit allows, and
watch it meanwhile in epolls at which the server looks as at its own. What is used again is fetched back. Which descriptors are
where decides nothing in the emulation.
"""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rsg_server.errors import ServerError
from rsg_server.fd_store.holder import AT_ONCE, ENTRY, EPOLL, FETCH, KEEP, TOKEN, UNWATCHED
from rsg_server.sockets.pair import SimulatedSocket
from rsg_server.turn.readiness import token_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rsg_server.process.actor import Actor
    from rsg_server.process.channel_pool import Seats
    from rsg_server.turn.readiness import Readiness

    Stored = SimulatedSocket | Actor

RESERVE = 512
"""Numbers that are left for whatever else the server opens."""
_BATCH = 4 * AT_ONCE
_CHANNELS = 3 << 48


class _Branch:
    """One keeper."""

    def __init__(self, room: int) -> None:
        self.room = room
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "rsg_server.fd_store.holder"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        self.epoll_fd = self._receive(EPOLL)[0]

    def keep(self, entries: list[tuple[int, int]], descriptors: list[int]) -> None:
        """Hand over descriptors, each with its token and what to watch it for; ours are to be closed."""
        message = KEEP + b"".join(ENTRY.pack(*entry) for entry in entries)
        self._ask(message, descriptors)
        self.room -= len(entries)

    def fetch(self, token: int) -> int:
        """The descriptor, which the keeper has no more."""
        self.room += 1
        return self._ask(FETCH + TOKEN.pack(token))[0]

    def _ask(self, message: bytes, descriptors: Sequence[int] = ()) -> list[int]:
        """It answers with the letter with which the message begins."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self._socket, [message], descriptors)
        return self._receive(message[:1])

    def _receive(self, wanted: bytes) -> list[int]:
        with contextlib.suppress(ConnectionResetError):
            message, descriptors, _, _ = socket.recv_fds(self._socket, 1, 1)
            if message == wanted:
                return descriptors
        raise ServerError("the keeper of the server's descriptors has died")

    def close(self) -> None:
        """It ends, and all that it keeps is closed."""
        self._socket.close()
        os.close(self.epoll_fd)
        self._process.wait()


class Depot:
    """Keeps the server's descriptors fewer than it may have. `everybody` yields those whose sockets may be stored."""

    def __init__(self, readiness: Readiness, seats: Seats, everybody: Callable[[], Iterable[Stored]]) -> None:
        self._readiness = readiness
        self._seats = seats
        self._everybody = everybody
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = sys.maxsize if limit == resource.RLIM_INFINITY else limit - RESERVE
        self._branches: list[_Branch] = []
        self._places: dict[int, _Branch] = {}
        self.stored = self.fetched = 0  # how often, in all

    def check(self, descriptor: int) -> None:
        """A descriptor is new. The kernel gives out the lowest number that is free: so many there are at the least."""
        if descriptor >= self._most:
            self._make_room()

    def fetch(self, one: Stored) -> socket.socket:
        """What was stored; watched by the server itself again, if it was watched."""
        token = _token_of(one)
        descriptor = self._places.pop(token).fetch(token)
        self.fetched += 1
        if isinstance(one, SimulatedSocket):
            self._readiness.take_back(descriptor, one, one.events)
        self.check(descriptor)
        return one.socket_of(descriptor)

    def _make_room(self) -> None:
        """Give up what nobody sits at; unless that is enough, store those that have not been used since the last time.

        Where there are none, nobody has been used by the second look.
        """
        if self._seats.give_up_all() >= _BATCH:
            return
        for _ in range(2):
            cold = list(islice(self._cold(), _BATCH))
            for first in range(0, len(cold), AT_ONCE):
                self._store(cold[first : first + AT_ONCE])
            if cold:
                return

    def _cold(self) -> Iterator[Stored]:
        for one in self._everybody():
            if one.held is None or not one.may_be_stored:
                continue
            if one.is_warm:
                one.is_warm = False
            else:
                yield one

    def _store(self, some: list[Stored]) -> None:
        branch = self._branch(len(some))
        sockets = [one.held for one in some if one.held is not None]
        entries = []
        for one, held in zip(some, sockets, strict=True):
            is_watched = isinstance(one, SimulatedSocket) and self._readiness.put_away(held.fileno(), one)
            events = one.events if isinstance(one, SimulatedSocket) and is_watched else UNWATCHED
            entries.append((_token_of(one), events))
        branch.keep(entries, [held.fileno() for held in sockets])
        for one, held in zip(some, sockets, strict=True):
            held.close()
            one.held = None
            self._places[_token_of(one)] = branch
        self.stored += len(some)

    def _branch(self, wanted: int) -> _Branch:
        for branch in self._branches:
            if branch.room >= wanted:
                return branch
        self._branches.append(_Branch(self._most))
        self._readiness.look_also_at(self._branches[-1].epoll_fd)
        return self._branches[-1]

    def close(self) -> None:
        """Nothing that is stored is needed any more: it is closed."""
        for one in self._everybody():
            if one.held is None:
                one.held = socket.socket(socket.AF_UNIX)
                one.held.close()
        for branch in self._branches:
            branch.close()


def _token_of(one: Stored) -> int:
    """An actor's is its channel's: its epoll has another."""
    return token_of(one) if isinstance(one, SimulatedSocket) else _CHANNELS + one.number
