"""The parameters and results that the functions of all families share.

A function gets the room (`Rsg`), the actor that asks (None: the thread is no actor), the fields of the request, and the
text or bytes behind them. It returns the answer, or None if the actor has to wait.
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
    """Pack integers as fields of an answer."""
    return pack(f"<{len(numbers)}q", *numbers)


def text(raw: bytes) -> str:
    """Decode a name from a request."""
    return raw.decode(errors="replace")


def named(room: Rsg, who: Participant | None, pid: int) -> Participant:
    """Return the actor with a number; 0 is the caller."""
    found = who if pid == 0 else room.participants.get(pid)
    if found is None:
        raise OperationError(Code.NO_ACTOR)
    return found
