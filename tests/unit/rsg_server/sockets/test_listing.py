"""A host's sockets as /proc/net lists them: whose they are, which are listed, how many at once."""

from __future__ import annotations

from rsg_server.sockets import listing
from rsg_server.sockets.kinds.datagram import UdpSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import Address, SimulatedSocket, SocketState
from tests.unit.rsg_server.fakes import Fake


def bound(world: Fake, host: str, kind: type[SimulatedSocket], port: int) -> SimulatedSocket:
    which = world.kernel.sockets.create(world.kernel.hosts[host], 4, kind)
    which.local = Address(bytes([127, 0, 0, 1]), port)
    return which


def rows_of(world: Fake, host: str, kind: type[SimulatedSocket]) -> list[str]:
    kernel = world.kernel
    return listing.rows(kernel.sockets.all.values(), kernel.hosts[host], kind, 4)


def test_a_host_lists_its_own_sockets_alone(world: Fake) -> None:
    bound(world, "h0", UdpSocket, 53)
    bound(world, "h1", UdpSocket, 54)
    rows = rows_of(world, "h0", UdpSocket)
    assert len(rows) == 1 and rows[0].startswith("    0: 0100007F:0035 00000000:0000 07 ") and len(rows[0]) == 127


def test_a_stream_that_does_nothing_yet_is_not_listed(world: Fake) -> None:
    which = bound(world, "h0", StreamSocket, 80)
    assert rows_of(world, "h0", StreamSocket) == []
    which.state = SocketState.LISTENING
    rows = rows_of(world, "h0", StreamSocket)
    assert len(rows) == 1 and rows[0].split()[3] == "0A" and len(rows[0]) == 149


def test_lines_come_in_pieces() -> None:
    lines = [str(number) for number in range(listing.LINES_AT_ONCE + 2)]
    pieces = [listing.piece(lines, first).decode().splitlines() for first in (0, listing.LINES_AT_ONCE, len(lines))]
    assert pieces == [lines[:-2], lines[-2:], []]
