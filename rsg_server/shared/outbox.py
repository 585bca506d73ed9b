"""The outbox: where the actor that has the turn leaves its message for the server, and the inbox, where the answer lies.

There is one of each, since one actor has the turn (csrc/shim/core/message/outbox.c). Emulated processes can write here at any
moment: all that a message says is copied before it is looked at, and a length or count beyond the memory raises ValueError.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from typing import Any, Final

from rsg_server._native import ffi, lib
from rsg_server.protocol import HANDOFF_MAX, MESSAGE_MAX

IN_OUTBOX: Final = b"in the outbox"
"""Stands for a message that lies in the outbox: this very object, not bytes that are equal."""
TO_PARK: Final[int] = lib.ASKED_TO_PARK
_KIND: Final = "struct simunix_outbox"
_AT: Final[int] = lib.SIMUNIX_OUTBOX_OFFSET
_HEAD: Final = struct.Struct("=IIIIQQ")
_PARK: Final = struct.Struct("=iiqQQQQq")
_PARK_AT: Final[int] = _AT + ffi.offsetof(_KIND, "park")
_NEWS_AT: Final[int] = _AT + ffi.offsetof(_KIND, "news")
_MESSAGE_AT: Final[int] = _AT + ffi.offsetof(_KIND, "message")
_NEWS: Final = "struct simunix_handoff[]"
_NEWS_BYTES: Final[int] = ffi.sizeof("struct simunix_handoff")
_INBOX_AT: Final[int] = _AT + ffi.sizeof(_KIND)
_LENGTH: Final = struct.Struct("=Q")
_ANSWER_AT: Final[int] = _INBOX_AT + _LENGTH.size


class Outbox:
    """The message that was taken last. `slot` is where its sender waits for the answer, 0: at its channel.

    The sender only wants to give the turn back if `asked` is TO_PARK. With `tells_handoffs` the turn has gone on without the
    server.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._asked = memoryview(memory)[_AT : _AT + 4].cast("I")
        self._length = self._count = 0
        self.asked = self.slot = self.digest = 0
        self.tells_handoffs = False

    @property
    def is_asked(self) -> bool:
        """Whether the outbox holds a message that has not been taken."""
        return self._asked[0] != 0

    def clear(self) -> None:
        """Forget what lies there: nobody has had the turn who may have written it."""
        self._asked[0] = 0

    def take(self) -> None:
        """Take the message out."""
        self.asked, self.slot, self._length, tells, self.digest, self._count = _HEAD.unpack_from(self._memory, _AT)
        self._asked[0] = 0
        self.tells_handoffs = tells != 0

    def park(self) -> tuple[int, ...]:
        """The arguments of PARK, and whether siblings may wake the sender (struct simunix_park)."""
        return _PARK.unpack_from(self._memory, _PARK_AT)

    def message(self) -> bytes:
        """The message. Raises ValueError if it is longer than the memory."""
        if self._length > MESSAGE_MAX:
            raise ValueError(f"{self._length} bytes in the outbox")
        return self._memory[_MESSAGE_AT : _MESSAGE_AT + self._length]

    def news(self) -> Sequence[Any]:
        """What has become of the sender's siblings, as struct simunix_handoff. Raises ValueError if there are too many."""
        if self._count > HANDOFF_MAX:
            raise ValueError(f"{self._count} handoffs in the outbox")
        if not self._count:
            return ()
        entries: Sequence[Any] = ffi.from_buffer(_NEWS, self._memory[_NEWS_AT : _NEWS_AT + self._count * _NEWS_BYTES])
        return entries

    def answer(self, data: bytes) -> bool:
        """Put an answer into the inbox, for the actor that gets the turn next; False if it does not fit."""
        if len(data) > MESSAGE_MAX:
            return False
        _LENGTH.pack_into(self._memory, _INBOX_AT, len(data))
        self._memory[_ANSWER_AT : _ANSWER_AT + len(data)] = data
        return True

    def close(self) -> None:
        """Release the view of the memory."""
        self._asked.release()
