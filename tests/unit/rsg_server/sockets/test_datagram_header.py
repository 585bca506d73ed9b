"""The header of a datagram is laid out as the shim's C compiler lays it out."""

from __future__ import annotations

import errno

from rsg_server._native import ffi

from rsg_server.protocol import DATAGRAM_HEADER_BYTES, DatagramField
from rsg_server.sockets.datagram_header import REFUSED, Datagram, Label, Sent
from rsg_server.sockets.kinds.datagram import UdpSocket
from rsg_server.sockets.pair import Address
from rsg_server.sockets.ports import MAPPED
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import H0, H1, new_of

ON = b"\1\0\0\0"
DATAGRAM = Datagram(Address(H0, 1000), Address(H1, 2000), Label(hop_limit=9, traffic_class=8), b"payload")


def in_c(message: bytes) -> ffi.CData:
    return ffi.from_buffer("struct simunix_datagram *", message, require_writable=False)


def test_a_sender_s_header_is_read_as_c_wrote_it() -> None:
    header = ffi.new("struct simunix_datagram *")
    header.family, header.port, header.hop_limit, header.traffic_class, header.fields = 4, 2000, 7, 6, 5
    ffi.memmove(header.address, H1, 4)
    assert Sent.of(bytes(ffi.buffer(header))) == Sent(Address(H1, 2000), given=5, hop_limit=7, traffic_class=6)
    header.family = 0
    assert Sent.of(bytes(ffi.buffer(header))).target is None
    header.family = 6
    target = Sent.of(bytes(ffi.buffer(header))).target
    assert target is not None and target.ip == H1 + bytes(12)


def test_a_receiver_s_header_is_written_as_c_reads_it(world: Fake) -> None:
    receiver, application = new_of(world, UdpSocket)
    with application:
        receiver.options[0, 12] = receiver.options[1, 29] = ON  # IP_RECVTTL, SO_TIMESTAMP
        message = DATAGRAM.shown_to(receiver, arrived_ns=-5)
        header = in_c(message)
        assert (header.family, header.error, header.port) == (4, 0, 1000)
        assert bytes(header.address)[:4] == H0 and bytes(header.destination)[:4] == H1
        assert (header.hop_limit, header.traffic_class, header.arrived_ns) == (9, 8, -5)
        assert header.fields == DatagramField.HOP_LIMIT | DatagramField.TIME
        assert message[DATAGRAM_HEADER_BYTES:] == b"payload"


def test_an_ipv6_socket_sees_ipv4_addresses_mapped(world: Fake) -> None:
    receiver, application = new_of(world, UdpSocket, family=6)
    with application:
        header = in_c(DATAGRAM.shown_to(receiver, 0))
        assert header.family == 6 and bytes(header.address) == MAPPED + H0


def test_what_is_given_with_a_datagram_wins_over_options_and_defaults(world: Fake) -> None:
    sender, application = new_of(world, UdpSocket)
    with application:
        plain, given = Sent(None, 0, 5, 4), Sent(None, DatagramField.HOP_LIMIT | DatagramField.TRAFFIC_CLASS, 5, 4)
        assert Label.of(sender, plain) == Label(hop_limit=64, traffic_class=0)
        sender.options[0, 2], sender.options[0, 1] = b"\3\0\0\0", b"\2\0\0\0"
        assert Label.of(sender, plain) == Label(hop_limit=3, traffic_class=2)
        assert Label.of(sender, given) == Label(hop_limit=5, traffic_class=4)
        sender.options[0, 2] = b"\xff\xff\xff\xff"
        assert Label.of(sender, plain).hop_limit == 64


def test_a_refusal_is_an_error_without_payload() -> None:
    assert len(REFUSED) == DATAGRAM_HEADER_BYTES and in_c(REFUSED).error == errno.ECONNREFUSED
