"""The wait for the outcome of connect(2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.process.wait import ActorWait, DescriptorWords
from rsg_server.protocol import WAKE_READY

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.sockets.table import SocketTable


class ConnectWait(ActorWait):
    """A wait that ends when the peer has answered the socket with this number. The actor gets 0 or a negative errno."""

    __slots__ = ("_sockets", "socket")

    def __init__(self, sockets: SocketTable, socket: int, b: int, c: int) -> None:
        super().__init__()
        self._sockets, self.socket = sockets, socket

    def prepare(self, actor: Actor) -> tuple[int, int] | None:
        """Return the outcome if the connect has one by now; EBADF if the socket is not the actor's; else None."""
        outcome = self._sockets.handshake.outcome(actor, self.socket)
        return None if outcome is None else (WAKE_READY, outcome)

    def is_for_connect(self, socket: int) -> bool:
        return socket == self.socket

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        which = self._sockets.all.get(self.socket)
        return f"an answer to its connect to {which.remote}" if which is not None else "an answer to its connect"
