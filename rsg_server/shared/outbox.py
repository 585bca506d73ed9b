"""The outbox, into which the actor that has the turn puts its message for the server, and the inbox for the answer.

There is one of each, since one actor has the turn (csrc/shim/core/message/outbox.c). Emulated processes can write here at
any moment: all of a message is copied before it is looked at, and a length or count beyond the memory raises ValueError.
"""

from __future__ import annotations

import mmap
import struct
from typing import Any, Final

from rsg_server._native import ffi, lib
from rsg_server.protocol import MESSAGE_MAX

IN_OUTBOX: Final = b"in the outbox"
"""Stands for a message that lies in the outbox. Compare by identity: a message may have equal bytes."""
TO_PARK: Final[int] = lib.ASKED_TO_PARK
_KIND: Final = "struct simunix_outbox"
_AT: Final[int] = lib.SIMUNIX_OUTBOX_OFFSET
_PARK: Final = struct.Struct("=iiqQQQQq")
_PARK_AT: Final[int] = _AT + ffi.offsetof(_KIND, "park")
_MESSAGE_AT: Final[int] = _AT + ffi.offsetof(_KIND, "message")
_INBOX_AT: Final[int] = _AT + ffi.sizeof(_KIND)
_LENGTH: Final = struct.Struct("=Q")
_ANSWER_AT: Final[int] = _INBOX_AT + _LENGTH.size


class Outbox:
    """The message that the core has taken last (csrc/turn/listener.c); `core` is the core's struct turn_outbox.

    If `asked` is TO_PARK, the sender only wants to give the turn back. If `slot` is 0, the sender waits at its channel.
    """

    def __init__(self, memory: mmap.mmap, address: Any) -> None:
        self._memory, self._address = memory, address
        self.core: Any = ffi.new("struct turn_outbox *")

    @property
    def asked(self) -> int:
        """What the sender asks for, as enum simunix_asked."""
        asked: int = self.core.asked
        return asked

    @property
    def slot(self) -> int:
        """The slot at which the sender waits for the answer."""
        slot: int = self.core.slot
        return slot

    def take(self) -> None:
        """Copy the message out of the shared memory."""
        lib.turn_outbox_take(self._address, self.core)

    def park(self) -> tuple[int, ...]:
        """Return the arguments of PARK, and whether threads of its process may wake the sender (struct simunix_park)."""
        return _PARK.unpack_from(self._memory, _PARK_AT)

    def message(self) -> bytes:
        """Return the bytes of the message. Raises ValueError if it is longer than the memory."""
        length: int = self.core.length
        if length > MESSAGE_MAX:
            raise ValueError(f"{length} bytes in the outbox")
        return self._memory[_MESSAGE_AT : _MESSAGE_AT + length]

    def answer(self, data: bytes) -> bool:
        """Put an answer into the inbox for the actor that gets the turn next; False if the answer does not fit."""
        if len(data) > MESSAGE_MAX:
            return False
        _LENGTH.pack_into(self._memory, _INBOX_AT, len(data))
        self._memory[_ANSWER_AT : _ANSWER_AT + len(data)] = data
        return True

    def close(self) -> None:
        """Drop the address of the shared memory."""
        self._address = None
