"""The operations of Remote SimGrid on hosts and links."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from rsg_server.rsg.errors import Code, OperationError
from rsg_server.rsg.moments import FOREVER_NS, NS
from rsg_server.rsg.operations.answers import NOTHING, NUMBERS_MAX, Fields, ints, text
from rsg_server.rsg.room import ANSWER_MAX_BYTES

if TYPE_CHECKING:
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg

BANDWIDTH_MAX_BYTES_PER_S = 1e100
"""The highest bandwidth (bytes/s) that a link may get: with a higher one, rates could not be computed any more."""


def host(room: Rsg, who: Participant | None, fields: Fields, name: bytes) -> bytes:
    """Return the number of the host with a name."""
    return ints(room.places.number_named(text(name)))


def host_at(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the number of the host at a place in the platform's order, or of the host where the caller is."""
    if fields[0] != -1:
        return ints(room.places.number_of(room.places.host(fields[0])))
    assert room.caller is not None
    return ints(room.places.number_of(who.host if who is not None else room.caller.process.host.host))


def host_state(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return numbers of a host (cores, speed, power state, load, …) and its name."""
    places = room.places
    of = places.host(fields[0])
    states = (places.power_state(of), len(of.speeds_flops), not places.is_off(of))
    return pack("<qdqqqdd", of.cores, places.speed(of), *states, places.cores.load(of), places.available(of)) + of.name.encode()


def host_speed(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the speed of a host's core in a power state, in flop/s."""
    speeds = room.places.host(fields[0]).speeds_flops
    if not 0 <= fields[1] < len(speeds):
        raise OperationError(Code.BAD_VALUE)
    return pack("<d", speeds[fields[1]])


def host_turn(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Switch a host on or off."""
    room.places.switch(room.places.host(fields[0]), bool(fields[1]))
    if who is not None and who.is_over:
        raise OperationError(Code.KILLED)
    return NOTHING


def host_pstate(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Set the power state of a host, which decides on its speed."""
    room.places.set_power_state(room.places.host(fields[0]), fields[1])
    return NOTHING


def host_property(room: Rsg, who: Participant | None, fields: Fields, key: bytes) -> bytes:
    """Return a property of a host; empty if the host does not have it."""
    return room.places.host(fields[0]).properties.get(text(key), "").encode()[:ANSWER_MAX_BYTES]


def link(room: Rsg, who: Participant | None, fields: Fields, name: bytes) -> bytes:
    """Return the number of the link with a name."""
    return ints(room.places.link_named(text(name)))


def link_at(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the number of the link at a place in the platform's order."""
    room.places.link(fields[0])
    return ints(fields[0])


def link_state(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the bandwidth, the latency, the state and the name of a link."""
    of = room.places.link(fields[0])
    return pack("<ddq", of.bandwidth_bytes_per_s, of.latency_s, room.places.is_link_on(of)) + of.name.encode()


def link_turn(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Switch a link on or off."""
    room.places.switch_link(room.places.link(fields[0]), bool(fields[1]))
    return NOTHING


def link_set(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Set the bandwidth and the latency of a link. A value below 0 leaves the old value."""
    if not (fields[1] <= BANDWIDTH_MAX_BYTES_PER_S and fields[2] < FOREVER_NS / NS):
        raise OperationError(Code.NEGATIVE)
    room.places.change_link(room.places.link(fields[0]), fields[1], fields[2])
    return NOTHING


def route(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the latency and the links of the route between two hosts."""
    latency_s, links = room.places.route(room.places.host(fields[0]), room.places.host(fields[1]))
    return pack("<d", latency_s) + ints(*links[: NUMBERS_MAX - 1])
