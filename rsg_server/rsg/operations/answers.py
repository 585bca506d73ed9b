"""The parameters and results that the functions for all operations of Remote SimGrid have in common.

A function gets the object that has all actors and activities (`Rsg`), the actor that asks (None: the thread is no
actor), the fields of the request, and the text or bytes that follow the fields. The function returns the answer, or
None if the actor has to wait.
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
    """Return integers, packed as the fields of an answer."""
    return pack(f"<{len(numbers)}q", *numbers)


def text(raw: bytes) -> str:
    """Return a name from a request as text."""
    return raw.decode(errors="replace")


def named(room: Rsg, who: Participant | None, pid: int) -> Participant:
    """Return the actor with a number; 0 means the caller. Raises OperationError if there is no such actor."""
    found = who if pid == 0 else room.participants.get(pid)
    if found is None:
        raise OperationError(Code.NO_ACTOR)
    return found
