"""Where the server's cold descriptors go when the server has as many as one process may have (RLIMIT_NOFILE).

An idle node costs the server some three descriptors and, while its daemons talk, as many again: five thousand nodes need more
than `ulimit -Hn` may allow. Holders (holder.py), processes that do nothing else, keep the sockets that were not used for a
while, as many each as the limit allows; a holder watches them in an epoll that the server polls like its own. A socket that is
used again is fetched back.

At every moment a socket is either `held` by its owner and watched by the server's epoll, or kept by one holder under the
owner's token and watched, for the same events, by that holder's epoll. Nothing in the emulation depends on which of the two.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from rsg_server.errors import ServerError
from rsg_server.fd_store.holder import AT_ONCE, ENTRY, EPOLL, FETCH, KEEP, TOKEN, UNWATCHED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rsg_server.fd_store.storable import Storable, Watch

RESERVE = 512
"""Descriptor numbers that stay free for everything else that the server opens."""
SILENCE_S = 1.0
"""Real time after which a holder that does not answer is taken to be stopped (SIGSTOP), and continued."""
_BATCH = 4 * AT_ONCE


class _Holder:
    """The server's side of one holder; `room` is how many more descriptors the holder can take."""

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
        self._socket.settimeout(SILENCE_S)
        self.epoll_fd = self._receive(EPOLL)[0]

    def keep(self, entries: list[tuple[int, int]], descriptors: list[int]) -> None:
        """Give the holder copies of descriptors, and for each its token and the events to watch it for."""
        message = KEEP + b"".join(ENTRY.pack(*entry) for entry in entries)
        self._ask(message, descriptors)
        self.room -= len(entries)

    def fetch(self, token: int) -> int:
        """Take a descriptor back from the holder."""
        self.room += 1
        return self._ask(FETCH + TOKEN.pack(token))[0]

    def _ask(self, message: bytes, descriptors: Sequence[int] = ()) -> list[int]:
        """Send a message and wait for its answer, which begins with the letter that the message begins with."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            socket.send_fds(self._socket, [message], descriptors)
        return self._receive(message[:1])

    def _receive(self, wanted: bytes) -> list[int]:
        while True:
            try:
                message, descriptors, _, _ = socket.recv_fds(self._socket, 1, 1)
            except TimeoutError:
                self._process.send_signal(signal.SIGCONT)
                continue
            except ConnectionResetError:
                break
            if message != wanted:
                break
            return descriptors
        raise ServerError(
            f"the holder of the server's descriptors has died (process {self._process.pid}); "
            "the run cannot go on: see in the kernel's log (dmesg) whether memory ran out, and run again"
        )

    def close(self) -> None:
        """Close the holder's socket, which ends the process; everything that it keeps is closed then."""
        self._socket.close()
        os.close(self.epoll_fd)
        while True:
            try:
                self._process.wait(SILENCE_S)
                return
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGCONT)


class FdStore:
    """Keeps the server's descriptors fewer than it may have.

    `owners` yields everything whose socket may be stored. `free_spares` closes descriptors that nothing uses, and returns
    how many owners of descriptors it has freed.
    """

    def __init__(self, watch: Watch, free_spares: Callable[[], int], owners: Callable[[], Iterable[Storable]]) -> None:
        self._watch = watch
        self._free_spares = free_spares
        self._owners = owners
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = sys.maxsize if limit == resource.RLIM_INFINITY else limit - RESERVE
        self._holders: list[_Holder] = []
        self._places: dict[int, _Holder] = {}  # by storage token
        self.stored = self.fetched = 0  # sockets, counted each time

    def check(self, descriptor: int) -> None:
        """Make room if a new descriptor is near the limit: Linux gives out the lowest free number, so all below are taken."""
        if descriptor >= self._most:
            self._make_room()

    def fetch(self, owner: Storable) -> socket.socket:
        """Take an owner's socket back from its holder; the server's epoll watches it again, if it did before."""
        token = owner.storage_token
        descriptor = self._places.pop(token).fetch(token)
        self.fetched += 1
        events = owner.watched_events
        if events is not None:
            self._watch.take_back(descriptor, owner, events)
        self.check(descriptor)
        return owner.socket_of(descriptor)

    def _make_room(self) -> None:
        """Close what is spare; unless that is enough, store the sockets that were not used since the last time.

        Where every socket was used since then, the first pass over them marks all as cold, and the second finds them so.
        """
        if self._free_spares() >= _BATCH:
            return
        for _ in range(2):
            cold = list(islice(self._cold(), _BATCH))
            for first in range(0, len(cold), AT_ONCE):
                self._store(cold[first : first + AT_ONCE])
            if cold:
                return

    def _cold(self) -> Iterator[Storable]:
        for owner in self._owners():
            if owner.held is None or not owner.may_be_stored:
                continue
            if owner.is_warm:
                owner.is_warm = False
            else:
                yield owner

    def _store(self, some: list[Storable]) -> None:
        holder = self._holder(len(some))
        sockets = [owner.held for owner in some if owner.held is not None]
        entries = []
        for owner, held in zip(some, sockets, strict=True):
            events = owner.watched_events
            if events is None or not self._watch.put_away(held.fileno(), owner):
                events = UNWATCHED
            entries.append((owner.storage_token, events))
        holder.keep(entries, [held.fileno() for held in sockets])
        for owner, held in zip(some, sockets, strict=True):
            held.close()
            owner.held = None
            self._places[owner.storage_token] = holder
        self.stored += len(some)

    def _holder(self, wanted: int) -> _Holder:
        """A holder with room for so many descriptors, started if there is none."""
        for holder in self._holders:
            if holder.room >= wanted:
                return holder
        self._holders.append(_Holder(self._most))
        self._watch.look_also_at(self._holders[-1].epoll_fd)
        return self._holders[-1]

    def close(self) -> None:
        """End the holders at the end of a run: owners of stored sockets get a closed one."""
        for owner in self._owners():
            if owner.held is None:
                owner.held = socket.socket(socket.AF_UNIX)
                owner.held.close()
        for holder in self._holders:
            holder.close()
