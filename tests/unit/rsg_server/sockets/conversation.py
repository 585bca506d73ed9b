"""Two hosts of a kernel without real processes, whose sockets the tests use in the applications' place."""

from __future__ import annotations

import errno
import socket

from rsg_server.sockets.kinds.stream import READ_BYTES, StreamSocket
from rsg_server.sockets.pair import Address, SocketState
from rsg_server.sockets.ports import Kind
from tests.unit.rsg_server.fakes import Fake

H0, H1 = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
ANY = bytes(4)
PORT = 5000


def new(world: Fake, host: str = "h0", family: int = 4) -> tuple[StreamSocket, socket.socket]:
    """A stream of a host, and the application's end of its pair."""
    return new_of(world, StreamSocket, host, family)


def new_of(world: Fake, kind: type[Kind], host: str = "h0", family: int = 4) -> tuple[Kind, socket.socket]:
    """A socket of a host, and the application's end of its pair."""
    made = world.kernel.sockets.create(world.kernel.hosts[host], family, kind)
    application = socket.socket(fileno=made.hand_out())
    application.setblocking(False)
    return made, application


def listening(world: Fake, host: str = "h1", port: int = PORT, backlog: int = 5) -> StreamSocket:
    """A listener, whose application has its end still to be handed out, so that it lives as long as the kernel."""
    made = world.kernel.sockets.create(world.kernel.hosts[host], 4, StreamSocket)
    assert world.kernel.sockets.binding.bind(made, ANY, port) == 0
    made.state, made.queue.backlog = SocketState.LISTENING, backlog
    return made


def connect(world: Fake, target: bytes = H1, port: int = PORT, waits: bool = True) -> tuple[StreamSocket, socket.socket]:
    """A client on h0 whose SYN has left."""
    client, application = new(world)
    assert world.kernel.sockets.handshake.connect(client, Address(target, port), waits) == errno.EINPROGRESS
    return client, application


def connected(world: Fake) -> tuple[StreamSocket, socket.socket, StreamSocket, socket.socket]:
    """A connection from h0 to h1: both sockets, each with its application's end."""
    listener = listening(world)
    client, application = connect(world)
    pass_time(world)
    accepted = world.kernel.sockets.handshake.accept(listener)
    assert not isinstance(accepted, int)
    served, descriptor = accepted
    other = socket.socket(fileno=descriptor)
    other.setblocking(False)
    return client, application, served, other


def fill(application: socket.socket) -> int:
    """How many bytes a pair takes until it is full."""
    written = 0
    try:
        while True:
            written += application.send(bytes(READ_BYTES))
    except BlockingIOError:
        return written


def pass_time(world: Fake, moments: int = 50, until_ns: int | None = None) -> None:
    """Let what is ready and what is due happen, as the turn loop does when nobody runs."""
    kernel = world.kernel
    for _ in range(moments):
        world.wake_ready()
        due = kernel.timeline.next_ns
        if due is None or (until_ns is not None and due > until_ns):
            return
        kernel.clock.advance_to(due)
        kernel.timeline.run_due(kernel.now_ns)
        world.set_lookahead()
