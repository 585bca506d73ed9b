"""The slots in shared memory: where the server answers parked threads, and reads the numbers of new ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rsg_server._native import lib

if TYPE_CHECKING:
    from rsg_server.shared.boxes import Boxes


class AnswerSlots:
    """What lies in the slots; which actor has which slot is known to rsg_server.process.slots."""

    def __init__(self, address: Any, boxes: Boxes) -> None:
        self._address = address
        self._boxes = boxes

    def answer(self, slot: int, wake: int, value: int) -> None:
        """Give the turn to the thread that waits at a slot."""
        lib.slot_answer(self._address, slot, wake, value)

    def answer_operation(self, slot: int, wake: int, status: int, data: bytes) -> None:
        """Give the turn to the thread that waits at a slot, with the bytes of an answer in its box."""
        self._boxes.answer(slot, data)
        lib.slot_answer(self._address, slot, wake, status)

    def begin(self, slot: int) -> None:
        """Prepare a slot for a thread that is about to be born."""
        lib.slot_reset(self._address, slot)

    def tid(self, slot: int) -> int:
        """The thread id, in the PID namespace of its process, of a thread that waits at its slot for its first turn."""
        return int(lib.slot_tid(self._address, slot))

    def close(self) -> None:
        """Forget where the memory was."""
        self._address = None
