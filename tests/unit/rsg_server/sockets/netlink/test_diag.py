"""The answers to requests on NETLINK_SOCK_DIAG sockets about a host's internet sockets."""

from __future__ import annotations

import errno
import socket
import struct

import pytest

from rsg_server.sockets.kinds.netlink import NetlinkSocket
from rsg_server.sockets.netlink.diag import BY_FAMILY, REQUEST, SOCKET_ID, Diag
from rsg_server.sockets.netlink.messages import attribute
from rsg_server.sockets.netlink.request import RefusedError, Request
from tests.unit.rsg_server.fakes import Fake
from tests.unit.rsg_server.sockets.conversation import PORT, connected, listening, new, new_of

DUMP, ANY_STATE, LISTEN, ESTABLISHED = 0x300, 0xFFFF_FFFF, 1 << 10, 1 << 1
HEAD_BYTES = 4


def asked(
    world: Fake,
    host: str = "h1",
    flags: int = DUMP,
    states: int = ANY_STATE,
    family: int = 2,
    protocol: int = 6,
    more: bytes = b"",
) -> list[tuple[int, int, int, int, int]]:
    """State, both ports, and both queues of each socket that a host tells of."""
    asker = NetlinkSocket(0, world.kernel.hosts[host], 16, None, None)
    request = Request(BY_FAMILY, flags, 1, REQUEST.pack(family, protocol, 0xFF, states) + bytes(SOCKET_ID.size) + more)
    found = []
    for message in Diag(world.kernel.sockets, world.kernel.wire).found(asker, request):
        local, remote, *_ = SOCKET_ID.unpack_from(message.body, HEAD_BYTES)
        _, received, sent, _, _ = struct.unpack_from("=IIIII", message.body, HEAD_BYTES + SOCKET_ID.size)
        found.append((message.body[1], local, remote, received, sent))
    return found


def test_listeners_and_connections_of_a_host_in_the_states_that_are_wanted(world: Fake) -> None:
    client, application, _, other = connected(world)
    with application, other:
        assert client.local is not None
        port = client.local.port
        assert asked(world) == [(10, PORT, 0, 0, 5), (1, PORT, port, 0, 0)]
        assert asked(world, states=LISTEN) == [(10, PORT, 0, 0, 5)]
        assert asked(world, "h0") == [(1, port, PORT, 0, 0)]
        assert asked(world, states=ESTABLISHED, family=10) == []


def test_pending_connections_are_the_queue_of_a_listener(world: Fake) -> None:
    listener = listening(world)
    waiting, application = new(world, "h1")
    listener.queue.pending.append(waiting)
    with application:
        assert asked(world) == [(10, PORT, 0, 1, 5)]


@pytest.mark.parametrize(
    ("family", "protocol", "more"), [(1, 0, b""), (2, 132, b""), (2, 6, attribute(3, (262).to_bytes(4, "little")))]
)
def test_what_no_module_knows_is_refused(world: Fake, family: int, protocol: int, more: bytes) -> None:
    with pytest.raises(RefusedError) as refused:
        asked(world, family=family, protocol=protocol, more=more)
    assert refused.value.code == errno.ENOENT


def test_no_such_socket_and_no_request(world: Fake) -> None:
    with pytest.raises(RefusedError) as refused:
        asked(world, flags=0)
    assert refused.value.code == errno.ENOENT
    asker, application = new_of(world, NetlinkSocket, family=16)
    with application, pytest.raises(RefusedError) as short:
        Diag(world.kernel.sockets, world.kernel.wire).found(asker, Request(BY_FAMILY, DUMP, 1, bytes([socket.AF_INET, 6])))
    assert short.value.code == errno.EINVAL
