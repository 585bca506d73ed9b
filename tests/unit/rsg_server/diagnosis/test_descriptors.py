"""Descriptors are described by what is open there and by the holders of the other end."""

from __future__ import annotations

import os
import select
import socket
from pathlib import Path

import pytest

from rsg_server.diagnosis.descriptors import listed
from rsg_server.process.process import Process
from rsg_server.sockets.kinds.datagram import UdpSocket
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.real_process import this_process
from tests.unit.rsg_server.sockets.conversation import connected, listening, new, new_of


@pytest.fixture
def process(world: Fake) -> Process:
    """The test itself, whose descriptors are described."""
    return this_process(world).process


def words(world: Fake, process: Process, fd: int) -> str:
    return world.describer().describe(process, fd)


def test_lists_are_cut_after_four() -> None:
    assert listed(["a"]) == "a"
    assert listed(list("abcd")) == "a, b, c, d"
    assert listed(list("abcdef")) == "a, b, c, d and 2 more"


def test_a_pipe_names_the_holders_of_its_other_end(world: Fake, process: Process) -> None:
    reader, writer = os.pipe()
    assert words(world, process, reader) == f"pipe, written by {process!r} (fd {writer})"
    assert words(world, process, writer) == f"pipe, read by {process!r} (fd {reader})"
    os.close(writer)
    assert words(world, process, reader) == "pipe without a writer"
    os.close(reader)


def test_a_fifo_has_a_name(world: Fake, process: Process, tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    assert words(world, process, reader) == f"FIFO {path} without a writer"
    os.close(reader)


def test_files_and_what_is_not_open(world: Fake, process: Process, tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        assert words(world, process, file.fileno()) == str(tmp_path / "file")
    assert words(world, process, 987654) == "closed"


def test_an_eventfd_tells_its_count(world: Fake, process: Process) -> None:
    fd = os.eventfd(11)
    assert words(world, process, fd) == "eventfd, count 11"
    os.close(fd)


def test_a_pidfd_tells_its_process(world: Fake, process: Process) -> None:
    assert words(world, process, process.pidfd) == f"pidfd of {process!r}"


def test_an_epoll_tells_what_it_watches(world: Fake, process: Process) -> None:
    reader, writer = os.pipe()
    with select.epoll() as epoll:
        assert words(world, process, epoll.fileno()) == "epoll of nothing"
        epoll.register(reader, select.EPOLLIN)
        shown = f"epoll of {reader} (pipe, written by {process!r} (fd {writer}))"
        assert words(world, process, epoll.fileno()) == shown
    os.close(reader)
    os.close(writer)


def test_unix_sockets(world: Fake, process: Process, tmp_path: Path) -> None:
    path = str(tmp_path / "socket")
    one, other = socket.socketpair()
    with one, other, socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        assert words(world, process, one.fileno()) == f"UNIX socket pair made by {process!r}"
        listener.bind(path)
        listener.listen()
        assert words(world, process, listener.fileno()) == f"UNIX listener at {path}, nobody connects"
        assert words(world, process, client.fileno()) == "UNIX socket, not connected"
        client.connect(path)
        assert words(world, process, client.fileno()) == f"UNIX socket {path} of {process!r}"


def test_simulated_sockets(world: Fake, process: Process) -> None:
    streams, datagrams, listener = new(world)[1], new_of(world, UdpSocket)[1], listening(world, port=7000)
    with streams, datagrams, socket.socket(fileno=listener.hand_out()) as application:
        assert words(world, process, streams.fileno()) == "TCP socket without an address"
        assert words(world, process, datagrams.fileno()) == "UDP socket without an address"
        assert words(world, process, application.fileno()) == "TCP listener at 0.0.0.0:7000, nobody connects"


def test_a_connection_names_the_holder_of_its_far_end(world: Fake, process: Process) -> None:
    client, application, _, other = connected(world)
    with application, other:
        shown = words(world, process, application.fileno())
        assert shown == f"TCP {client.local} to 10.0.0.2:5000, held by {process!r} (fd {other.fileno()})"
