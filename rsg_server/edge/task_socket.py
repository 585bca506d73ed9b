"""Sockets for tasks: a call that would have the thread wait has the task wait, and the others go on."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any, Self

from rsg_server.edge.tasks import READABLE, WRITABLE, Until


class TaskSocket:
    """A socket whose calls have the task wait where they would have the thread wait."""

    def __init__(self, plain: socket.socket) -> None:
        plain.setblocking(False)
        self.plain = plain

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.plain.close()

    async def accept(self) -> TaskSocket:
        """The next connection."""
        connection, _ = await self._when(READABLE, self.plain.accept)
        return TaskSocket(connection)

    async def recvmsg(self, most: int, ancillary: int) -> tuple[bytes, list[tuple[int, int, bytes]], int, Any]:
        """As that of a socket."""
        received: tuple[bytes, list[tuple[int, int, bytes]], int, Any]
        received = await self._when(READABLE, lambda: self.plain.recvmsg(most, ancillary))
        return received

    async def send(self, data: bytes, rights: list[tuple[int, int, Any]] | None = None) -> None:
        """Send a datagram, with descriptors."""
        await self._when(WRITABLE, lambda: self.plain.sendmsg([data], rights or []))

    async def _when(self, ready: int, call: Callable[[], Any]) -> Any:
        while True:
            try:
                return call()
            except BlockingIOError:
                await Until(fd=self.plain.fileno(), ready=ready)
