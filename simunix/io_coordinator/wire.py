"""The messages between applications and the coordinator: lines of ASCII words over a stream, one after the other.

    REGISTER ID ALONE_NS GROUP    first; ALONE_NS is how long the application takes on its own, 0 if it does not know
    REQUEST BYTES ORDER           an I/O phase wants to begin; ORDER counts only with the policy `order`
    GRANT RATE                    from the coordinator: it may begin, at RATE bytes per second at most, 0: as fast as it can
    RELEASE                       the phase is over
    ERROR TEXT                    from the coordinator, which then closes the connection

GROUP is a word: applications of a group have the disk one after the other (chapter V); `-` is the group of those without one.
Nothing is said at the end: who closes the connection, or dies, has released what it had.
"""

from __future__ import annotations

import socket

NO_GROUP = "-"
LINE_MAX = 200
"""Longest message in bytes. Who sends more without an end of line is cut off."""
PORT = 7000


class WireError(Exception):
    """What came over a connection, or was given as an address, is not what this module describes."""


def parse_address(text: str) -> tuple[int, str | tuple[str, int]]:
    """Family and address of a socket from HOST:PORT, or unix:PATH. Raises WireError."""
    if text.startswith("unix:") and len(text) > len("unix:"):
        return socket.AF_UNIX, text.removeprefix("unix:")
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise WireError(f"address {text!r}: expected HOST:PORT or unix:PATH")
    return socket.AF_INET, (host, int(port))


def words_of(line: bytes) -> list[str]:
    """The words of a message. Raises WireError."""
    try:
        words = line.decode("ascii").split()
    except UnicodeDecodeError:
        raise WireError("a message is ASCII text") from None
    if not words:
        raise WireError("an empty message")
    return words


def numbers(words: list[str], count: int, of: str) -> list[int]:
    """So many whole numbers from 0 on. Raises WireError."""
    if len(words) != count or not all(word.isdecimal() and len(word) < 20 for word in words):
        raise WireError(f"{of}: expected {count} whole numbers, got {' '.join(words)!r}")
    return [int(word) for word in words]


class Lines:
    """Cuts what comes over a connection into messages."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The messages that are whole now. Raises WireError for one that is too long."""
        *whole, self._rest = (self._rest + data).split(b"\n")
        if any(len(line) > LINE_MAX for line in (*whole, self._rest)):
            raise WireError(f"a message of more than {LINE_MAX} bytes")
        return whole
