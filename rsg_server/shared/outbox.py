"""The outbox: shared memory into which the actor that has the turn puts its message for the server; the inbox: for the answer.

One outbox and one inbox are enough, since only one actor has the turn (csrc/shim/core/message/outbox.c). Emulated
processes can write to this memory at any time. So the server copies a message before it examines it. A length or count
beyond the memory raises ValueError.
"""

from __future__ import annotations

import mmap
import struct
from typing import Any, Final

from rsg_server._native import ffi, lib
from rsg_server.protocol import MESSAGE_MAX

IN_OUTBOX: Final = b"in the outbox"
"""Stands for a message that is in the outbox. It is compared by identity, since a message may have equal bytes."""
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
    """The message that the server's C code has taken last (csrc/turn/listener.c); `core` is its struct turn_outbox.

    If `asked` is TO_PARK, the sender only wants to give the turn back and wait. If `slot` is 0, the sender waits at its
    channel.
    """

    def __init__(self, memory: mmap.mmap, address: Any) -> None:
        self._memory, self._address = memory, address
        self.core: Any = ffi.new("struct turn_outbox *")

    @property
    def asked(self) -> int:
        """The kind of the sender's request, a value of enum simunix_asked."""
        asked: int = self.core.asked
        return asked

    @property
    def slot(self) -> int:
        """The number of the slot at which the sender waits for the answer."""
        slot: int = self.core.slot
        return slot

    def take(self) -> None:
        """Copy the message out of the shared memory."""
        lib.turn_outbox_take(self._address, self.core)

    def park(self) -> tuple[int, ...]:
        """Return the arguments of PARK, then whether threads of the same process may wake the sender (struct simunix_park)."""
        return _PARK.unpack_from(self._memory, _PARK_AT)

    def message(self) -> bytes:
        """Return the bytes of the message. Raises ValueError if the message is longer than the memory."""
        length: int = self.core.length
        if length > MESSAGE_MAX:
            raise ValueError(f"{length} bytes in the outbox")
        return self._memory[_MESSAGE_AT : _MESSAGE_AT + length]

    def answer(self, data: bytes) -> bool:
        """Put an answer into the inbox for the actor that gets the turn next. Return False if the answer does not fit."""
        if len(data) > MESSAGE_MAX:
            return False
        _LENGTH.pack_into(self._memory, _INBOX_AT, len(data))
        self._memory[_ANSWER_AT : _ANSWER_AT + len(data)] = data
        return True

    def close(self) -> None:
        """Forget the address of the shared memory, which is about to be unmapped."""
        self._address = None
