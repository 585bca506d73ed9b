"""The descriptor store: keeps sockets of the server that were not used for a while in other processes, the holders.

The store is used when the server has as many descriptors as one process may have (RLIMIT_NOFILE). An idle node costs
the server some three descriptors and, while its daemons talk, as many again: five thousand nodes need more than `ulimit
-Hn` may allow. A holder (holder.py) keeps as many sockets as the limit allows, and watches them by an epoll, which the
server polls like its own. When the server uses such a socket again, it takes the socket back.

Invariant: at every moment a socket is either `held` by its owner and watched by the server's epoll, or kept by one
holder under the owner's token and watched, for the same events, by that holder's epoll. The emulation is the same in
both cases.
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
"""The number of descriptors that stay free for everything else that the server opens."""
SILENCE_S = 1.0
"""After so many real seconds without an answer, the server takes a holder to be stopped (SIGSTOP), and sends it SIGCONT."""
_BATCH = 4 * AT_ONCE


class _Holder:
    """The server's connection to one holder process. `room` is the number of further descriptors that the holder can take."""

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
        """Give copies of descriptors to the holder, with a token and the epoll events to watch for each of them."""
        message = KEEP + b"".join(ENTRY.pack(*entry) for entry in entries)
        self._ask(message, descriptors)
        self.room -= len(entries)

    def fetch(self, token: int) -> int:
        """Take the descriptor with a token back from the holder, and return it."""
        self.room += 1
        return self._ask(FETCH + TOKEN.pack(token))[0]

    def _ask(self, message: bytes, descriptors: Sequence[int] = ()) -> list[int]:
        """Send a message, wait for the answer, and return its descriptors.

        The answer begins with the same letter as the message.
        """
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
        """Close the holder's socket, which ends the process and closes its copies of descriptors."""
        self._socket.close()
        os.close(self.epoll_fd)
        while True:
            try:
                self._process.wait(SILENCE_S)
                return
            except subprocess.TimeoutExpired:
                self._process.send_signal(signal.SIGCONT)


class FdStore:
    """Keeps the number of the server's descriptors below the limit of one process.

    `owners` yields every owner of a socket that may be stored. `free_spares` closes descriptors that nothing uses, and
    returns how many owners of descriptors it has freed.
    """

    def __init__(self, watch: Watch, free_spares: Callable[[], int], owners: Callable[[], Iterable[Storable]]) -> None:
        self._watch = watch
        self._free_spares = free_spares
        self._owners = owners
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = sys.maxsize if limit == resource.RLIM_INFINITY else limit - RESERVE
        self._holders: list[_Holder] = []
        self._places: dict[int, _Holder] = {}  # the holder that keeps a socket, by the socket's storage token
        self.stored = self.fetched = 0  # how often a socket was stored, and taken back

    def check(self, descriptor: int) -> None:
        """Store some sockets if a new descriptor is near the limit.

        Linux gives a new descriptor the lowest free number, so a high number shows that all numbers below are in use.
        """
        if descriptor >= self._most:
            self._make_room()

    def fetch(self, owner: Storable) -> socket.socket:
        """Take a socket back from its holder and return it. The server's epoll watches the socket again, if it did before."""
        token = owner.storage_token
        descriptor = self._places.pop(token).fetch(token)
        self.fetched += 1
        events = owner.watched_events
        if events is not None:
            self._watch.take_back(descriptor, owner, events)
        self.check(descriptor)
        return owner.socket_of(descriptor)

    def _make_room(self) -> None:
        """Close descriptors that nothing uses; if those are too few, store the sockets that were not used since the last call.

        If all sockets were used since then, the first pass over them marks each as unused, and the second pass stores
        some.
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
        """Return a holder with room for so many descriptors; if there is none, start one."""
        for holder in self._holders:
            if holder.room >= wanted:
                return holder
        self._holders.append(_Holder(self._most))
        self._watch.look_also_at(self._holders[-1].epoll_fd)
        return self._holders[-1]

    def close(self) -> None:
        """End the holders at the end of the run. The owner of a stored socket gets a closed socket object."""
        for owner in self._owners():
            if owner.held is None:
                owner.held = socket.socket(socket.AF_UNIX)
                owner.held.close()
        for holder in self._holders:
            holder.close()
