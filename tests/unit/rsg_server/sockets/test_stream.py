"""The bytes of a connection: the window, order, FIN, RST."""

from __future__ import annotations

import select
import socket
import struct

import pytest

from rsg_server.sockets.kinds.stream import READ_BYTES, StreamSocket
from rsg_server.sockets.pair import SocketState
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import connected, fill, pass_time


def under_way(which: StreamSocket) -> int:
    assert which.flow is not None and which.peer is not None
    return which.flow.in_flight_bytes + len(which.peer.undelivered)


def test_bytes_arrive_in_order_and_only_when_their_time_has_come(world: Fake) -> None:
    _, application, _, other = connected(world)
    with application, other:
        application.send(b"one ")
        world.wake_ready()
        application.send(b"two")
        world.wake_ready()
        with pytest.raises(BlockingIOError):
            other.recv(10)
        pass_time(world)
        assert other.recv(10) == b"one two"


class Asked(socket.socket):
    """The server's end of a pair, which counts how often it is read."""

    times = 0

    def recv(self, *arguments: int) -> bytes:
        self.times += 1
        return super().recv(*arguments)


@pytest.mark.parametrize(("sent", "ends", "times"), [(b"short", False, 1), (bytes(READ_BYTES), False, 2), (b"short", True, 2)])
def test_a_piece_is_the_last_one_if_it_is_short_and_nothing_else_is_told(
    world: Fake, sent: bytes, ends: bool, times: int
) -> None:
    client, application, served, other = connected(world)
    with application, other:
        asked = Asked(socket.AF_UNIX, socket.SOCK_STREAM, 0, client.end.detach())
        asked.setblocking(False)
        client.held = asked
        application.send(sent)
        if ends:
            application.shutdown(socket.SHUT_WR)
        world.wake_ready()
        assert (asked.times, client.fin.is_sent) == (times, ends)
        pass_time(world)
        assert (other.recv(2 * READ_BYTES), served.fin.is_heard) == (sent, ends)


def test_a_reader_that_does_not_read_stops_the_writer_one_piece_behind_the_window(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application, other:
        sent = fill(application)
        while True:
            pass_time(world, moments=1000)
            more = fill(application)
            if not more:
                break
            sent += more
        assert client.flow is not None
        assert client.flow.window_bytes <= under_way(client) < client.flow.window_bytes + READ_BYTES
        assert not world.kernel.sockets.streams.takes(client)
        received = 0
        while received < sent:
            received += len(other.recv(1 << 20))
            pass_time(world, moments=1000)
        assert under_way(client) == 0 and world.kernel.sockets.streams.takes(client)


def test_what_was_written_before_a_close_arrives_before_the_end(world: Fake) -> None:
    client, application, served, other = connected(world)
    with other:
        application.send(b"last words")
        application.close()
        pass_time(world)
        assert (other.recv(20), other.recv(20)) == (b"last words", b"")
        assert client.fin.is_first and not served.fin.is_sent


def test_one_direction_may_end_alone(world: Fake) -> None:
    _, application, _, other = connected(world)
    with application, other:
        application.shutdown(socket.SHUT_WR)
        pass_time(world)
        assert other.recv(1) == b""
        other.send(b"answer")
        pass_time(world)
        assert application.recv(10) == b"answer"


@pytest.mark.parametrize("how", ["unread", "linger"])
def test_a_close_that_loses_data_resets(world: Fake, how: str) -> None:
    client, application, _, other = connected(world)
    with application:
        if how == "unread":
            application.send(b"nobody reads this")
            pass_time(world)
        else:
            assert client.peer is not None
            client.peer.options[1, 13] = struct.pack("=ii", 1, 0)
        other.close()
        pass_time(world)
        assert client.state is SocketState.CLOSED
        with pytest.raises(BrokenPipeError):
            application.send(b"x")


def test_bytes_for_a_closed_socket_are_answered_by_a_reset(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application:
        other.close()
        pass_time(world)
        application.send(b"too late")
        pass_time(world)
        assert client.state is SocketState.CLOSED


def test_an_error_that_cannot_be_shown_is_kept_for_so_error(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application, other:
        world.kernel.sockets.streams.abort(client, 110)  # no process of this test can be asked for the descriptor
        assert client.error == 110 and client.is_broken
        poller = select.poll()
        poller.register(application)
        assert poller.poll(0)[0][1] & select.POLLHUP
        assert world.kernel.log.counts["connection_lost"] == 1
        world.kernel.sockets.streams.abort(client, 110)
        assert world.kernel.log.counts["connection_lost"] == 1
