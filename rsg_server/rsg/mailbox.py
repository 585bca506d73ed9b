"""Mailboxes: where puts and gets meet.

A communication begins when both have come, or, at a mailbox with a permanent receiver, when the put has come. Puts and gets
are served in the order of their arrival, which depends on the turns alone, never on real time.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from rsg_server.rsg.activity import Comm

if TYPE_CHECKING:
    from rsg_server.rsg.actor import Participant


class Mailbox:
    """Waiting puts, or waiting gets; `arrived` are puts that began before their get, for a permanent receiver."""

    def __init__(self, number: int, name: str) -> None:
        self.number = number
        self.name = name
        self.puts: deque[Comm] = deque()
        self.gets: deque[Comm] = deque()
        self.arrived: deque[Comm] = deque()
        self.receiver: Participant | None = None

    def __repr__(self) -> str:
        return f"mailbox {self.name}"

    def forget(self, comm: Comm) -> None:
        """Remove a communication that has ended before both sides had come."""
        for queue in (self.puts, self.gets, self.arrived):
            if comm in queue:
                queue.remove(comm)
