"""Mailboxes: where messages that are sent (puts) meet requests to receive one (gets).

A communication begins when both its put and its get have come. At a mailbox with a permanent receiver, a communication
begins when the put has come. Puts and gets are served in the order of their arrival, which depends on the order of
turns alone, never on real time.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from rsg_server.rsg.activity import Comm

if TYPE_CHECKING:
    from rsg_server.rsg.actor import Participant


class Mailbox:
    """A mailbox: puts that wait, or gets that wait.

    `arrived` are the puts that have begun before their get, at a mailbox with a permanent receiver.
    """

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
        """Remove a communication that has ended before both its put and its get had come."""
        for queue in (self.puts, self.gets, self.arrived):
            if comm in queue:
                queue.remove(comm)
