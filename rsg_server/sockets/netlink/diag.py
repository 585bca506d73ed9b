"""Answers requests about internet sockets on NETLINK_SOCK_DIAG sockets (sock_diag(7)), which `ss` uses.

AF_UNIX sockets belong to the kernel: the shim lets the kernel answer requests about these
(csrc/shim/sys/socket/netlink.c). An answer contains the values of a socket that /proc/net shows
(rsg_server.sockets.listing), and the backlog of a listening socket. Filters (INET_DIAG_REQ_BYTECODE) are not applied:
the program that asks, such as `ss`, tests each socket as well.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server.sockets import listing, options
from rsg_server.sockets.kinds.datagram import RawSocket, UdpSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.netlink.messages import FAMILY, Message, attribute, split_attributes
from rsg_server.sockets.netlink.request import RefusedError, Request
from rsg_server.sockets.ports import ANY, IPV6_V6ONLY, SOL_IPV6, flag

if TYPE_CHECKING:
    from rsg_server.sockets.pair import Address, SimulatedSocket
    from rsg_server.sockets.table import SocketTable
    from rsg_server.sockets.wire import Wire

NETLINK_SOCK_DIAG = 4
BY_FAMILY = 20
REQUEST = struct.Struct("=BBBxI")
SOCKET_ID = struct.Struct("!HH16s16s4x8s")
"""The layout of struct inet_diag_sockid: ports, addresses, interface and cookie."""
_ANSWER_HEAD, _ANSWER_TAIL = struct.Struct("=BBBB"), struct.Struct("=IIIII")
_WHOLE_PROTOCOL = 3
"""INET_DIAG_REQ_PROTOCOL: the attribute of a request for a protocol above 255, such as MPTCP."""
_KIND_OF: dict[int, type[SimulatedSocket]] = {6: StreamSocket, 17: UdpSocket, 255: RawSocket}
"""The kind of socket by protocol. A program that wants raw sockets asks for IPPROTO_RAW."""
_VERSION_OF = {family: version for version, family in FAMILY.items()}
_INFO, _CONGESTION, _SHUTDOWN, _V6ONLY = 2, 4, 8, 11
"""The attributes of an answer; the first two on request only (INET_DIAG_ of linux/inet_diag.h)."""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The fields of struct inet_diag_req_v2, which say which sockets a request asks for."""

    family: int
    protocol: int
    extensions: int
    states: int
    identity: bytes

    @classmethod
    def of(cls, request: Request) -> _Wanted:
        if request.kind != BY_FAMILY:
            raise RefusedError(errno.EOPNOTSUPP)
        if len(request.body) < REQUEST.size + SOCKET_ID.size:
            raise RefusedError(errno.EINVAL)
        family, protocol, extensions, states = REQUEST.unpack_from(request.body)
        attributes = split_attributes(request.body, REQUEST.size + SOCKET_ID.size)
        protocol = int.from_bytes(attributes.get(_WHOLE_PROTOCOL, bytes([protocol])), "little")
        if family not in _VERSION_OF or protocol not in _KIND_OF:
            raise RefusedError(errno.ENOENT)  # as a Linux kernel without the module for this protocol answers
        return cls(family, protocol, extensions, states, request.body[REQUEST.size : REQUEST.size + SOCKET_ID.size])

    def wants(self, attribute_kind: int) -> bool:
        return bool(self.extensions & 1 << attribute_kind - 1)


class Diag:
    """Answers requests about the internet sockets of all hosts."""

    def __init__(self, sockets: SocketTable, wire: Wire) -> None:
        self._sockets, self._wire = sockets, wire

    def found(self, which: SimulatedSocket, request: Request) -> Sequence[Message]:
        """Return the sockets of a host that a request asks for, as messages. Raises RefusedError."""
        wanted = _Wanted.of(request)
        messages = [self._message(known, wanted) for known in self._matching(which, wanted, request.is_dump)]
        if not messages and not request.is_dump:
            raise RefusedError(errno.ENOENT)
        return messages if request.is_dump else messages[:1]

    def _matching(self, which: SimulatedSocket, wanted: _Wanted, is_dump: bool) -> Iterator[SimulatedSocket]:
        kind, family = _KIND_OF[wanted.protocol], _VERSION_OF[wanted.family]
        for known in listing.listed(self._sockets.all.values(), which.host, kind, family):
            if wanted.states >> listing.state_of(known) & 1 if is_dump else _identity(known)[:36] == wanted.identity[:36]:
                yield known

    def _message(self, known: SimulatedSocket, wanted: _Wanted) -> Message:
        """Return the message about a socket: struct inet_diag_msg and its attributes."""
        state = listing.state_of(known)
        queues = (0, 0)
        if isinstance(known, StreamSocket) and state == listing.LISTEN:
            queues = (len(known.queue.pending), known.queue.backlog)
        tail = _ANSWER_TAIL.pack(0, *queues, listing.user_of(known), listing.inode_of(known))
        body = _ANSWER_HEAD.pack(wanted.family, state, 0, 0) + _identity(known) + tail
        return Message(BY_FAMILY, body + b"".join(self._attributes(known, wanted)))

    def _attributes(self, known: SimulatedSocket, wanted: _Wanted) -> Iterator[bytes]:
        has_finished = isinstance(known, StreamSocket) and known.fin.is_sent
        yield attribute(_SHUTDOWN, bytes([2 if has_finished else 0]))
        if known.family == 6:
            yield attribute(_V6ONLY, bytes([flag(known, IPV6_V6ONLY, SOL_IPV6)]))
        if isinstance(known, StreamSocket) and wanted.wants(_INFO):
            yield attribute(_INFO, options.tcp_info(self._wire, known))
        if isinstance(known, StreamSocket) and wanted.wants(_CONGESTION):
            yield attribute(_CONGESTION, options.congestion_control(known) + b"\0")


def _identity(known: SimulatedSocket) -> bytes:
    state = listing.state_of(known)
    remote = known.remote if state not in (listing.LISTEN, listing.CLOSE) else None
    (local_port, local_ip), (remote_port, remote_ip) = (_end(address, known.family) for address in (known.local, remote))
    return SOCKET_ID.pack(local_port, remote_port, local_ip, remote_ip, known.number.to_bytes(8, "little"))


def _end(address: Address | None, family: int) -> tuple[int, bytes]:
    return (0, ANY[family]) if address is None else (address.port, address.ip)
