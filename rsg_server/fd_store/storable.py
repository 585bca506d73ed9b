"""The owners of sockets that may be stored, and the epoll that watches these sockets, as protocols.

The store stands below processes and sockets, and knows neither.
"""

from __future__ import annotations

import socket
from typing import Any, Protocol


class Storable(Protocol):
    """A simulated socket, or an actor with its channel: the owner of one socket that the store may take away."""

    held: socket.socket | None
    """The socket; None while it is stored."""
    is_warm: bool
    """Whether it was used since the store last looked for sockets to store."""

    @property
    def may_be_stored(self) -> bool:
        """Whether nothing but `held` refers to the socket now."""

    @property
    def storage_token(self) -> int:
        """A number that no other owner has; of a watched socket, the token by which the server's epoll reports it."""

    @property
    def watched_events(self) -> int | None:
        """Epoll events that the server waits for at the socket; None where it never waits there."""

    def socket_of(self, descriptor: int) -> socket.socket:
        """A socket object for a descriptor that has come back from the store."""


class Watch(Protocol):
    """The server's epoll (rsg_server.turn.readiness); `target` is an owner whose `watched_events` is not None."""

    def put_away(self, descriptor: int, target: Any) -> bool:
        """Stop watching a descriptor that a holder is to watch instead; False if it was not watched."""

    def take_back(self, descriptor: int, target: Any, events: int) -> None:
        """Watch a descriptor again that a holder has given back, if it was watched before."""

    def look_also_at(self, epoll: int) -> None:
        """Ask a holder's epoll, too, from now on."""
