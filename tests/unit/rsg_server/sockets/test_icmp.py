"""Echo requests between two hosts: who answers, who hears, and what a fault loses."""

from __future__ import annotations

import socket

from rsg_server.capture.frames import ICMP, with_icmp_checksum
from rsg_server.sockets.icmp import FILTER
from rsg_server.sockets.kinds.datagram import PingSocket, RawSocket
from rsg_server.sockets.pair import Address
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import ANY, H0, H1, new_of, pass_time
from tests.unit.rsg_server.sockets.test_datagrams import header, read

REQUEST = with_icmp_checksum(H0, H1, b"\x08\0\0\0\0\x63\0\x07payload")


def ping_socket(world: Fake, host: str = "h0") -> tuple[PingSocket, socket.socket]:
    return new_of(world, PingSocket, host)


def raw_socket(world: Fake, host: str) -> tuple[RawSocket, socket.socket]:
    made, application = new_of(world, RawSocket, host)
    made.local = Address(ANY, ICMP)
    world.kernel.sockets.binding.ports_of(made.host).add(made)
    return made, application


def test_the_answer_takes_two_latencies_and_has_the_sockets_identifier(world: Fake) -> None:
    made, application = ping_socket(world)
    _, other = ping_socket(world)
    with application, other:
        application.send(header(H1) + REQUEST)
        pass_time(world)
        port, answer = read(application)
        assert made.local is not None
        assert (port, answer[0], answer[4:6], answer[6:]) == (0, 0, made.local.port.to_bytes(2, "big"), REQUEST[6:])
        assert answer == with_icmp_checksum(H1, H0, answer)
        hosts = world.kernel.hosts
        assert world.kernel.now_ns >= 2 * world.kernel.wire.latency_ns(hosts["h0"], hosts["h1"])
        assert not waiting(other)


def test_raw_sockets_hear_what_reaches_their_host_and_passes_their_filter(world: Fake) -> None:
    _, application = raw_socket(world, "h0")
    _, all_of_it = raw_socket(world, "h1")
    deaf, nothing = raw_socket(world, "h1")
    deaf.options[FILTER[ICMP]] = (1 << 8).to_bytes(4, "little")
    with application, all_of_it, nothing:
        application.send(header(H1) + REQUEST)
        pass_time(world)
        heard, answer = read(all_of_it)[1], read(application)[1]
        assert (heard[:1], heard[12:20], heard[20:]) == (b"\x45", H0 + H1, REQUEST)
        assert (answer[12:20], answer[20], answer[24:]) == (H1 + H0, 0, REQUEST[4:])
        assert not waiting(nothing)


def test_a_host_answers_neither_damaged_requests_nor_those_to_many_nor_while_it_is_off(world: Fake) -> None:
    made, application = raw_socket(world, "h0")
    made.options[1, 6] = b"\1\0\0\0"  # SO_BROADCAST
    with application:
        application.send(header(H1) + REQUEST[:-1] + b"?")
        application.send(header(b"\xff\xff\xff\xff") + REQUEST)
        pass_time(world)
        assert [read(application)[1][16:21] for _ in range(waiting(application))] == [b"\xff\xff\xff\xff\x08"]
        world.kernel.wire.reach.off.add("h1")
        application.send(header(H1) + REQUEST)
        pass_time(world)
        assert not waiting(application)


def waiting(application: socket.socket) -> int:
    """1 if something can be read, else 0."""
    try:
        return int(application.recv(1, socket.MSG_PEEK) != b"")
    except BlockingIOError:
        return 0
