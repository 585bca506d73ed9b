"""The messages between applications and the I/O coordinator: lines of ASCII words over a stream, one after the other.

    REGISTER ID ALONE_NS GROUP    first; ALONE_NS is how long the application takes on its own, 0 if it does not know
    REQUEST BYTES ORDER           an I/O phase wants to begin; ORDER counts only with the policy `order`
    GRANT RATE                    from the coordinator: it may begin, at RATE bytes per second at most, 0: as fast as it can
    RELEASE                       the phase is over
    ERROR TEXT                    from the coordinator, which then closes the connection

GROUP is a word: applications of one group use the disk one after the other (chapter V of the thesis); `-` is the group
of applications without one. An application sends no message at its end: if its connection closes, the coordinator
releases what it had.
"""

from __future__ import annotations

import socket

NO_GROUP = "-"
LINE_MAX = 200
"""The greatest length of a message in bytes. If an application sends more bytes without an end of line, the coordinator
closes its connection.
"""
PORT = 7000


class WireError(Exception):
    """The error that a message or an address does not follow the rules of this module."""


def parse_address(text: str) -> tuple[int, str | tuple[str, int]]:
    """Return the family and the address of a socket from the text HOST:PORT or unix:PATH. Raises WireError for a
    malformed text.
    """
    if text.startswith("unix:") and len(text) > len("unix:"):
        return socket.AF_UNIX, text.removeprefix("unix:")
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise WireError(f"address {text!r}: expected HOST:PORT or unix:PATH")
    return socket.AF_INET, (host, int(port))


def words_of(line: bytes) -> list[str]:
    """Return the words of a message. Raises WireError for bytes that are not printable ASCII."""
    try:
        words = line.decode("ascii").split()
    except UnicodeDecodeError:
        raise WireError("a message is ASCII text") from None
    if not words:
        raise WireError("an empty message")
    return words


def numbers(words: list[str], count: int, of: str) -> list[int]:
    """Return the `count` non-negative whole numbers in the words of a message; `of` names the message in errors. Raises
    WireError.
    """
    if len(words) != count or not all(word.isdecimal() and len(word) < 20 for word in words):
        raise WireError(f"{of}: expected {count} whole numbers, got {' '.join(words)!r}")
    return [int(word) for word in words]


class Lines:
    """Splits the bytes from a connection into messages."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Add bytes from the connection, and return the messages that are complete now. Raises WireError if a message
        is longer than LINE_MAX.
        """
        *whole, self._rest = (self._rest + data).split(b"\n")
        if any(len(line) > LINE_MAX for line in (*whole, self._rest)):
            raise WireError(f"a message of more than {LINE_MAX} bytes")
        return whole
