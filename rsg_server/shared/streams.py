"""The states of TCP sockets, in a table in shared memory from which the shims read them without asking the server."""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import STREAMS, STREAMS_OFFSET

_BYTES: Final = 4
_WORD: Final = 0xFFFFFFFF


class Streams:
    """A table with a word of 32 bits for each socket's number modulo the table's size.

    A later socket overwrites an earlier one.
    """

    def __init__(self, memory: memoryview) -> None:
        self._words = memory[STREAMS_OFFSET : STREAMS_OFFSET + _BYTES * STREAMS].cast("I")

    def tell(self, number: int, what: int) -> None:
        """Write the state of a TCP socket for the shims: bits of enum simunix_stream, 0 if it is connected."""
        self._words[number % STREAMS] = (number | what) & _WORD

    def forget(self, number: int) -> None:
        """Delete the state of a TCP socket from the table, so that the shims ask the server about the socket again."""
        self._words[number % STREAMS] = 0

    def close(self) -> None:
        """Release the view of the shared memory."""
        self._words.release()
