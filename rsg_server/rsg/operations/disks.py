"""The operations of Remote SimGrid on disks."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from rsg_server.platform.disk import Direction
from rsg_server.rsg.activity import AMOUNT, WEIGHT, Io, Made, io_words
from rsg_server.rsg.communications import checked, checked_priority
from rsg_server.rsg.operations.activities import begun_or_kept
from rsg_server.rsg.operations.answers import Fields, ints

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg


def _host(room: Rsg, who: Participant | None, number: int) -> Host:
    if number != -1:
        return room.places.host(number)
    assert room.caller is not None
    return who.host if who is not None else room.caller.process.host.host


def disk_at(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the number of a disk, given by its host and its place there."""
    return ints(room.disks.number_of(_host(room, who, fields[0]), fields[1]))


def disk_state(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the host, the speeds and the name of a disk."""
    place = room.disks.numbered(fields[0])
    disk = room.disks.disk(place)
    host = room.places.number_of(place.host)
    return pack("<qdd", host, disk.read_bytes_per_s, disk.write_bytes_per_s) + place.name.encode()


def io(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Read from a disk, or write to it."""
    number, flags, is_write, size, priority = fields
    direction = Direction.WRITE if is_write else Direction.READ
    place = room.disks.numbered(number)

    def begin(made: Made) -> Io:
        return room.disks.start(who, place, direction, made.terms[AMOUNT], made.terms[WEIGHT])

    made = Made(
        who,
        {AMOUNT: checked(size), WEIGHT: checked_priority(priority)},
        begin,
        lambda made: io_words(place, direction, made.terms[AMOUNT]),
    )
    return begun_or_kept(room, who, made, flags)
