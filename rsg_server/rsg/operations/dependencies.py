"""The operations of Remote SimGrid on activities that have not begun, and on the activities that they wait for."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from rsg_server._native import lib
from rsg_server.rsg.activity import AMOUNT, WEIGHT, WHERE, Made
from rsg_server.rsg.communications import checked, checked_priority
from rsg_server.rsg.errors import Code, OperationError
from rsg_server.rsg.operations.answers import NOTHING, NUMBERS_MAX, Fields, ints

if TYPE_CHECKING:
    from rsg_server.rsg.activity import Handle
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg

DETACHED: int = lib.RSG_DETACHED


def start(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Begin an activity now, or when the activities that it waits for are done.

    If the activity has to wait, the caller keeps the turn, as in SimGrid.
    """
    handle = room.find(fields[0])
    if fields[1] & DETACHED:
        _detach(handle)
    has_begun = room.dependencies.start(handle)
    if fields[1] & DETACHED:
        room.drop(fields[0])
    room.is_at_once = not has_begun
    return NOTHING


def _detach(handle: Handle) -> None:
    made = handle.activity
    if not isinstance(made, Made) or made.is_over:
        raise OperationError(Code.HAS_BEGUN)
    if not made.ends_at_timeout or AMOUNT not in made.terms or handle.receives:
        raise OperationError(Code.BAD_VALUE)
    made.owner.activities.pop(made, None)
    made.is_detached = True


def successor(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Make an activity wait for another one, or end that dependency."""
    before, after, is_new = fields
    change = room.dependencies.add if is_new else room.dependencies.remove
    change(room.find(before), room.find(after))
    return NOTHING


def dependencies(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the activities that an activity waits for, from a place in the list on; none if the activity has begun."""
    made = room.find(fields[0]).activity
    if fields[1] < 0:
        raise OperationError(Code.BAD_VALUE)
    after = made.after if isinstance(made, Made) else {}
    return ints(*(handle.number for handle in islice(after, fields[1], fields[1] + NUMBERS_MAX)))


def set_term(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Change a term of an activity that has not begun."""
    number, term, value = fields
    if term == AMOUNT:
        checked(value)
    if term == WEIGHT:
        checked_priority(value)
    if term == WHERE:
        if not 0 <= value < len(room.places.hosts):
            raise OperationError(Code.UNKNOWN_HOST)
        value = float(int(value))
    room.dependencies.set_term(room.find(number), term, value)
    return NOTHING
