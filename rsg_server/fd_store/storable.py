"""Protocols for the descriptor store: the owner of a socket that may be stored, and the server's epoll.

Because of these protocols, the store need not import the code of processes and sockets.
"""

from __future__ import annotations

import socket
from typing import Any, Protocol


class Storable(Protocol):
    """The owner of one socket that the store may take away: a simulated socket, or an actor with its channel."""

    held: socket.socket | None
    """The socket; None while the socket is in the store."""
    is_warm: bool
    """Whether the socket was used since the store last looked for sockets to take."""

    @property
    def may_be_stored(self) -> bool:
        """Whether the socket may be stored now, because nothing but `held` refers to it."""

    @property
    def storage_token(self) -> int:
        """A number that no other owner has. The server's epoll reports a watched socket by this number."""

    @property
    def watched_events(self) -> int | None:
        """The epoll events that the server waits for at the socket; None if the server never waits there."""

    def socket_of(self, descriptor: int) -> socket.socket:
        """Return a socket object for the descriptor, which has come back from the store."""


class Watch(Protocol):
    """The server's epoll (rsg_server.turn.readiness). `target` is an owner whose `watched_events` is not None."""

    def put_away(self, descriptor: int, target: Any) -> bool:
        """Stop watching a descriptor that a holder is going to watch; return False if it was not watched."""

    def take_back(self, descriptor: int, target: Any, events: int) -> None:
        """Watch again a descriptor that a holder process has given back, if the server watched it before."""

    def look_also_at(self, epoll: int) -> None:
        """Watch the epoll of a new holder as well from now on."""
