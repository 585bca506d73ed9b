"""Netlink sockets: their port numbers, and the answers to their requests, which come at once (netlink(7))."""

from __future__ import annotations

import contextlib
import errno
import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from rsg_server.sockets.netlink.diag import NETLINK_SOCK_DIAG, Diag
from rsg_server.sockets.netlink.request import RefusedError, Request
from rsg_server.sockets.netlink.routing import NETLINK_ROUTE, Routing

if TYPE_CHECKING:
    from rsg_server.process.host_state import HostState
    from rsg_server.sockets.kinds.netlink import NetlinkSocket
    from rsg_server.sockets.netlink.messages import Message
    from rsg_server.sockets.table import Readiness, SocketTable

_HEADER = struct.Struct("=IHHII")
_ERROR, _DONE, _FIRST_REQUEST = 2, 3, 16
_REQUEST, _MULTI, _ACK = 0x1, 0x2, 0x4
FIRST_OTHER_PORT = (1 << 32) - 4097
"""The first port number for further netlink sockets of a process. The port of its first socket is its pid (netlink(7))."""


MESSAGES_AT_ONCE = 24
"""The most messages of a long answer in one datagram, which is then shorter than the 16 KiB that programs have room for."""


class Subsystem(Protocol):
    """Answers the requests of one netlink protocol."""

    def found(self, which: NetlinkSocket, request: Request) -> Sequence[Message]:
        """Return the messages that answer a request on a socket. Raises RefusedError."""


class Netlink:
    """The port numbers of all netlink sockets, and the answers to their requests."""

    def __init__(self, routing: Routing, diag: Diag, sockets: SocketTable, readiness: Readiness) -> None:
        self._sockets, self._readiness = sockets, readiness
        self._ports: dict[tuple[HostState, int], NetlinkSocket] = {}  # by host and netlink port
        self._subsystems: dict[int, Subsystem] = {
            NETLINK_ROUTE: routing,
            NETLINK_SOCK_DIAG: diag,
        }  # by number of the protocol

    def bind(self, which: NetlinkSocket, pid: int, wanted: int) -> int:
        """Give a socket a netlink port: the wanted one, else the pid of its process, else another. Return 0 or an errno."""
        if which.port:
            return errno.EINVAL if wanted not in (0, which.port) else 0
        if wanted and not self._is_free(which, wanted):
            return errno.EADDRINUSE
        port = wanted or (pid if self._is_free(which, pid) else FIRST_OTHER_PORT)
        while not self._is_free(which, port):
            port -= 1
        self._ports[which.host, port] = which
        which.port = port
        return 0

    def _is_free(self, which: NetlinkSocket, port: int) -> bool:
        holder = self._ports.get((which.host, port))
        if holder is not None and holder.number in self._sockets.all and not self._sockets.is_abandoned(holder):
            return False
        if holder is not None:
            del self._ports[which.host, port]
            holder.port = 0
        return True

    def take(self, which: NetlinkSocket, pid: int = 0) -> None:
        """Answer all requests that the application has written to a socket."""
        while True:
            try:
                datagram = which.end.recv(1 << 17)
            except (BlockingIOError, ConnectionResetError):
                return
            if not datagram:
                return
            self.bind(which, pid, 0)
            subsystem = self._subsystems.get(which.protocol)
            if subsystem is not None:
                self._answer(which, subsystem, datagram)

    def _answer(self, which: NetlinkSocket, subsystem: Subsystem, datagram: bytes) -> None:
        at = 0
        while at + _HEADER.size <= len(datagram):
            length, kind, flags, sequence, _ = _HEADER.unpack_from(datagram, at)
            if not _HEADER.size <= length <= len(datagram) - at:
                return
            request = Request(kind, flags, sequence, datagram[at + _HEADER.size : at + length])
            if flags & _REQUEST and kind >= _FIRST_REQUEST:
                for answer in self._answers(which, subsystem, request, datagram[at : at + length]):
                    self._put(which, answer)
            at += length + 3 & ~3

    def _put(self, which: NetlinkSocket, answer: bytes) -> None:
        self._readiness.changed()
        with contextlib.suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            which.end.send(answer)

    def _answers(self, which: NetlinkSocket, subsystem: Subsystem, request: Request, original: bytes) -> Iterable[bytes]:
        port = which.port

        def framed(kind: int, body: bytes, flags: int = 0) -> bytes:
            return _HEADER.pack(_HEADER.size + len(body), kind, flags, request.sequence, port) + body

        try:
            found = subsystem.found(which, request)
        except RefusedError as refused:
            yield framed(_ERROR, struct.pack("=i", -refused.code) + original)
            return
        if request.is_dump:
            for first in range(0, len(found), MESSAGES_AT_ONCE):
                some = found[first : first + MESSAGES_AT_ONCE]
                yield b"".join(framed(message.kind, message.body, _MULTI) for message in some)
            yield framed(_DONE, struct.pack("=i", 0), _MULTI)
            return
        for message in found:
            yield framed(message.kind, message.body)
        if request.flags & _ACK:
            yield framed(_ERROR, struct.pack("=i", 0) + original[: _HEADER.size], 0x100)
