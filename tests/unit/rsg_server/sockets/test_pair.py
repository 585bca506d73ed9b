"""The server reads bytes from its end of an AF_UNIX pair, and writes bytes to it."""

from __future__ import annotations

import socket

from rsg_server.sockets.pair import Address
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import connected, fill, new, pass_time


def test_addresses_are_spelled_as_usual() -> None:
    assert str(Address(bytes([10, 0, 0, 1]), 80)) == "10.0.0.1:80"
    assert str(Address(bytes(15) + b"\1", 80)) == "[::1]:80"


def test_read_tells_nothing_from_the_end(world: Fake) -> None:
    which, application = new(world)
    with application:
        assert which.read() is None
        application.send(b"bytes")
        assert which.read() == b"bytes"
    assert which.read() == b"" and which.bytes_read == 5


def test_what_does_not_fit_waits_and_the_end_comes_behind_it(world: Fake) -> None:
    which, application = new(world)
    with application:
        size = 1 << 22
        assert which.deliver(bytes(size))
        which.fin.is_due = True
        received = 0
        while which.undelivered or received < size:
            received += len(application.recv(1 << 20))
            assert which.push()
        assert received == size == which.bytes_pushed
        assert application.recv(1) == b"" and not which.fin.is_due


def test_a_gone_application_takes_nothing(world: Fake) -> None:
    which, application = new(world)
    application.close()
    assert not which.deliver(b"x")
    which.undelivered += b"x"
    assert not which.push() and not which.undelivered


def test_an_urgent_byte_keeps_its_place(world: Fake) -> None:
    _, application, _, other = connected(world)
    with application, other:
        application.send(b"before")
        world.wake_ready()
        application.send(b"!", socket.MSG_OOB)
        world.wake_ready()
        application.send(b"after")
        pass_time(world)
        assert other.recv(100) == b"before"
        assert other.recv(1, socket.MSG_OOB) == b"!"
        assert other.recv(100) == b"after"


def test_filler_keeps_a_connecting_socket_from_being_writable(world: Fake) -> None:
    which, application = new(world)
    with application:
        assert fill(application) > 0
        which.drain()
        assert application.send(b"x") == 1
