"""Boxes: for each thread a place in shared memory for its request of Remote SimGrid, and for the answer.

csrc/shared/wire/rsg_protocol.h has the layout of a box. The box of a thread has the number of the thread's slot. Until
a program uses Remote SimGrid there are no boxes, and the shared file ends before the place of the boxes. Emulated
processes can write to boxes at any time, so a request is copied before it is examined.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import Final

from rsg_server._native import lib
from rsg_server.protocol import SLOTS

BYTES: Final[int] = lib.SIMUNIX_RSG_BOX_BYTES
OFFSET: Final[int] = lib.SIMUNIX_RSG_BOXES_OFFSET
REQUEST_MAX: Final[int] = lib.SIMUNIX_RSG_REQUEST_MAX
ANSWER_MAX: Final[int] = lib.SIMUNIX_RSG_ANSWER_MAX
IN_BOX: Final = b"in its box"
"""Stands for a message that is in the box of its sender. It is compared by identity, since a message may have equal bytes."""
_HEAD: Final = struct.Struct("<QqQQQ")
_HEAD_BYTES: Final = 40
_ANSWER_WORD: Final = 4
_WORDS: Final = BYTES // 8


class Boxes:
    """The boxes of all slots, once `open` has made them."""

    def __init__(self, shared_fd: int) -> None:
        self._fd = shared_fd
        self._memory: mmap.mmap | None = None
        self._words: memoryview | None = None
        self._was_tried = False

    def open(self) -> bool:
        """Make the boxes if they do not exist yet. Return False if that has failed; then requests come over channels."""
        if self._was_tried:
            return self._words is not None
        self._was_tried = True
        size = OFFSET + SLOTS * BYTES
        try:
            if os.fstat(self._fd).st_size < size:
                os.ftruncate(self._fd, size)  # pages to which nothing is written take no memory
            self._memory = mmap.mmap(self._fd, SLOTS * BYTES, offset=OFFSET)
        except OSError:
            return False
        self._words = memoryview(self._memory).cast("Q")
        return True

    def is_asked(self, slot: int) -> bool:
        """Return whether the box of a slot contains a request that the server has not taken."""
        words = self._words
        return words is not None and words[slot * _WORDS] != 0

    def take(self, slot: int) -> tuple[int, int, bytes]:
        """Take a request out of a box. Return operation, blocked signals, bytes.

        Raises ValueError for a request that no box can hold.
        """
        memory, words = self._memory, self._words
        if memory is None or words is None or not slot:
            raise ValueError("a request in a box that is not there")
        at = slot * BYTES
        _, operation, blocked, length, _ = _HEAD.unpack_from(memory, at)
        words[slot * _WORDS] = 0
        if length > REQUEST_MAX:
            raise ValueError(f"{length} bytes in a box")
        begin = at + _HEAD_BYTES
        return operation, blocked, memory[begin : begin + length]

    def answer(self, slot: int, data: bytes) -> None:
        """Put the bytes of an answer into a box.

        The caller then answers at the thread's slot, which tells the thread to read the box.
        """
        memory, words = self._memory, self._words
        assert memory is not None and words is not None
        length = min(len(data), ANSWER_MAX)
        words[slot * _WORDS + _ANSWER_WORD] = length
        if length:
            begin = slot * BYTES + _HEAD_BYTES
            memory[begin : begin + length] = data[:length]

    def clear(self, slot: int) -> None:
        """Delete the request that the last owner of a slot has left in its box."""
        if self._words is not None:
            self._words[slot * _WORDS] = 0

    def close(self) -> None:
        """Release the mapping of the boxes."""
        if self._words is not None:
            self._words.release()
            self._words = None
        if self._memory is not None:
            self._memory.close()
            self._memory = None
