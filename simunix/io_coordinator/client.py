"""The interface of the I/O coordinator for applications in Python, which call it around each I/O phase.
io_coordinator.h is the interface for C.

coordinated = Coordinated("ionode:7000", number=3, alone_s=1500)
with coordinated.phase(len(data)):
    file.write(data)
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from simunix.io_coordinator.wire import NO_GROUP, Lines, WireError, parse_address, words_of

NS = 10**9
PIECES_PER_S = 100


class Coordinated:
    """An application that asks the I/O coordinator before each I/O phase. If `address` is None, each phase begins at
    once.
    """

    def __init__(self, address: str | None, number: int, alone_s: float = 0.0, group: str = NO_GROUP) -> None:
        """Connect to the coordinator at HOST:PORT or unix:PATH and register the application. Raises OSError if no
        coordinator listens there.
        """
        self._lines = Lines()
        self._messages: list[bytes] = []
        self._stream: socket.socket | None = None
        self._rate = 0
        if address is None:
            return
        family, where = parse_address(address)
        self._stream = socket.socket(family, socket.SOCK_STREAM)
        if family == socket.AF_INET:
            self._stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream.connect(where)
        self._tell(f"REGISTER {number} {round(alone_s * NS)} {group}")

    def _tell(self, message: str) -> None:
        assert self._stream is not None
        self._stream.sendall(message.encode() + b"\n")

    def _await_grant(self) -> int:
        assert self._stream is not None
        while not self._messages:
            data = self._stream.recv(4096)
            if not data:
                raise ConnectionError("the I/O coordinator has gone")
            self._messages = self._lines.feed(data)
        kind, *rest = words_of(self._messages.pop(0))
        if kind != "GRANT" or len(rest) != 1:
            raise WireError(f"the I/O coordinator says {kind} {' '.join(rest)}")
        return int(rest[0])

    @contextmanager
    def phase(self, size_bytes: int, order: int = 0) -> Iterator[None]:
        """Wait until the coordinator grants this I/O phase; report its end after the `with` block."""
        if self._stream is None:
            yield
            return
        self._tell(f"REQUEST {size_bytes} {order}")
        self._rate = self._await_grant()
        try:
            yield
        finally:
            self._tell("RELEASE")

    def write(self, fd: int, data: bytes | memoryview, offset: int) -> None:
        """Write data within an I/O phase, no faster than the granted rate, in PIECES_PER_S pieces per second."""
        view, begin = memoryview(data), time.monotonic()
        step = max(1, self._rate // PIECES_PER_S if self._rate else len(view))
        done = 0
        while done < len(view):
            done += os.pwrite(fd, view[done : done + step], offset + done)
            if self._rate:
                time.sleep(max(0.0, begin + done / self._rate - time.monotonic()))

    def close(self) -> None:
        """Close the connection, which tells the coordinator that the application has ended."""
        if self._stream is not None:
            self._stream.close()
