"""Datagrams from one application's end of a pair to another's."""

from __future__ import annotations

import errno
import socket

from rsg_server._native import ffi

from rsg_server.network.datagram_queue import QUEUE_BYTES
from rsg_server.protocol import DATAGRAM_HEADER_BYTES
from rsg_server.sockets.kinds.datagram import UdpSocket
from rsg_server.sockets.pair import Address, SocketState
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import ANY, H0, H1, PORT, new_of, pass_time


def header(ip: bytes = b"", port: int = 0) -> bytes:
    made = ffi.new("struct simunix_datagram *")
    made.family, made.port = (4 if ip else 0), port
    ffi.memmove(made.address, ip, len(ip))
    return bytes(ffi.buffer(made))


def bound(world: Fake, host: str, port: int = PORT) -> tuple[UdpSocket, socket.socket]:
    made, application = new_of(world, UdpSocket, host)
    assert world.kernel.sockets.binding.bind(made, ANY, port) == 0
    return made, application


def read(application: socket.socket) -> tuple[int, bytes]:
    """The source's port, or minus an errno, and the payload."""
    message = application.recv(1 << 17)
    found = ffi.from_buffer("struct simunix_datagram *", message, require_writable=False)
    return -found.error if found.error else found.port, message[DATAGRAM_HEADER_BYTES:]


def test_a_datagram_arrives_with_its_source(world: Fake) -> None:
    _, receiver = bound(world, "h1")
    sender, application = new_of(world, UdpSocket, "h0")
    with receiver, application:
        application.send(header(H1, PORT) + b"one")
        application.send(header(H1, PORT) + b"two")
        pass_time(world)
        assert sender.local is not None
        assert [read(receiver) for _ in range(2)] == [(sender.local.port, b"one"), (sender.local.port, b"two")]


def test_a_connected_sender_learns_that_nobody_listens(world: Fake) -> None:
    sender, application = new_of(world, UdpSocket, "h0")
    with application:
        application.send(header(H1, PORT) + b"unheard")
        pass_time(world)
        sender.remote, sender.state = Address(H1, PORT), SocketState.CONNECTED
        application.send(header() + b"unheard, too")
        pass_time(world)
        assert read(application) == (-errno.ECONNREFUSED, b"")


def test_a_connected_receiver_hears_its_peer_only(world: Fake) -> None:
    receiver, application = bound(world, "h1")
    peer, other = bound(world, "h0", PORT + 1)
    _, stranger = bound(world, "h0", PORT + 2)
    with application, other, stranger:
        assert peer.local is not None
        receiver.remote, receiver.state = Address(H0, PORT + 1), SocketState.CONNECTED
        stranger.send(header(H1, PORT) + b"stranger")
        other.send(header(H1, PORT) + b"peer")
        pass_time(world)
        assert read(application) == (PORT + 1, b"peer")


def test_a_sender_waits_while_the_queue_of_its_host_is_full_and_loses_nothing(world: Fake) -> None:
    receiver, application = bound(world, "h1")
    sender, other = new_of(world, UdpSocket, "h0")
    receiver.end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    size, count = 60_000, 2 + QUEUE_BYTES // 60_000
    with application, other:
        for _ in range(count):
            other.send(header(H1, PORT) + bytes(size))
            world.kernel.datagrams.take(sender)
        assert sender.unsent and sender.events == 0
        received = 0
        for _ in range(200):
            pass_time(world, moments=1)
            try:
                received += len(read(application)[1])
            except BlockingIOError:
                continue
        assert received == count * size and not sender.unsent


def test_what_is_too_short_for_a_header_is_thrown_away(world: Fake) -> None:
    sender, application = new_of(world, UdpSocket, "h0")
    with application:
        application.send(b"short")
        pass_time(world)
        assert sender.number in world.kernel.sockets.all
