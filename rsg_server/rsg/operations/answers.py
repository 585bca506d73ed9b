"""What the functions of all families take and return.

A function gets the room, the actor that asks (None: a thread that is none), the fields of the request, and the text or bytes
behind them. It returns the answer, or None when the actor is to wait.
"""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING, Any

from rsg_server.rsg.errors import Code, OperationError
from rsg_server.rsg.room import ANSWER_MAX_BYTES

if TYPE_CHECKING:
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg

NUMBERS_MAX = ANSWER_MAX_BYTES // 8
NOTHING = b""
Fields = tuple[Any, ...]


def ints(*numbers: int) -> bytes:
    """Integers as fields of an answer."""
    return pack(f"<{len(numbers)}q", *numbers)


def text(raw: bytes) -> str:
    """A name as it was sent."""
    return raw.decode(errors="replace")


def named(room: Rsg, who: Participant | None, pid: int) -> Participant:
    """The actor of a number; 0 is the caller."""
    found = who if pid == 0 else room.participants.get(pid)
    if found is None:
        raise OperationError(Code.NO_ACTOR)
    return found
