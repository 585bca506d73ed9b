"""What the shims know of stream sockets without asking: a table in shared memory, by the number of the socket."""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import STREAMS, STREAMS_OFFSET

_BYTES: Final = 4
_WORD: Final = 0xFFFFFFFF


class Streams:
    """A word of 32 bits for each number modulo the size of the table: the last socket that was told of has the place."""

    def __init__(self, memory: memoryview) -> None:
        self._words = memory[STREAMS_OFFSET : STREAMS_OFFSET + _BYTES * STREAMS].cast("I")

    def tell(self, number: int, what: int) -> None:
        """Tell the shims of a stream socket, so that they need not ask: bits of enum simunix_stream, 0 if connected."""
        self._words[number % STREAMS] = (number | what) & _WORD

    def forget(self, number: int) -> None:
        """Have the shims ask about a stream socket again."""
        self._words[number % STREAMS] = 0

    def close(self) -> None:
        """Release the view of the memory."""
        self._words.release()
