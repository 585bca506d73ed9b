"""The slots in shared memory, at which the server gives waiting threads their turn and reads the thread ids of new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rsg_server._native import lib

if TYPE_CHECKING:
    from rsg_server.shared.boxes import Boxes
    from rsg_server.shared.outbox import Outbox

_STATUS: Final[int] = lib.SLOT_STATUS
_INBOX: Final[int] = lib.SLOT_INBOX
_CHANNEL: Final[int] = lib.SLOT_CHANNEL


class AnswerSlots:
    """Reads and writes the slots. rsg_server.process.slots knows which actor has which slot."""

    def __init__(self, address: Any, boxes: Boxes, outbox: Outbox) -> None:
        self._address = address
        self._boxes, self._outbox = boxes, outbox

    def answer(self, slot: int, wake: int, value: int) -> None:
        """Give the turn to the thread that waits at a slot, with a reason and a value."""
        lib.slot_answer(self._address, slot, wake, value)

    def answer_operation(self, slot: int, wake: int, status: int, data: bytes) -> None:
        """Give the turn to the thread that waits at a slot; the bytes of the answer to its operation are in its box."""
        self._boxes.answer(slot, data)
        lib.slot_answer(self._address, slot, wake, status)

    def answer_status(self, slot: int, status: int) -> None:
        """Answer the message of the thread that waits at a slot; the reply is a status and nothing else."""
        lib.slot_answer(self._address, slot, _STATUS, status)

    def answer_message(self, slot: int, data: bytes) -> bool:
        """Answer the message of the thread that waits at a slot with the bytes of a reply. Return False if they do not fit."""
        fits = self._outbox.answer(data)
        if fits:
            lib.slot_answer(self._address, slot, _INBOX, 0)
        return fits

    def answer_at_channel(self, slot: int) -> None:
        """Tell the thread that waits at a slot to read the answer from its channel."""
        lib.slot_answer(self._address, slot, _CHANNEL, 0)

    def begin(self, slot: int) -> None:
        """Prepare a slot for a thread that is about to be created."""
        lib.slot_reset(self._address, slot)

    def tid(self, slot: int) -> int:
        """Return the thread id of a new thread, which waits at its slot for its first turn, as numbered in its PID
        namespace.
        """
        return int(lib.slot_tid(self._address, slot))

    def close(self) -> None:
        """Forget the address of the shared memory, which is about to be unmapped."""
        self._address = None
