"""The orders in which ready actors have their turns: of several that are ready, an order says which one is next.

The run queue (rsg_server.process.run_queue) keeps the ready actors in the order in which they have become ready, and asks one
of these for a place in that line. What an order answers may depend on nothing but its own state and on how many are ready, so
that a run can be repeated to the byte.
"""

from __future__ import annotations

from typing import Protocol


class Order(Protocol):
    """Picks who runs next."""

    @property
    def allows_handoffs(self) -> bool:
        """Whether threads may hand the turn on without the server: shims know one order only, which is first in, first out."""

    def place(self, ready: int) -> int:
        """Which of `ready` actors, one or more, has the next turn: its place in the line, from 0, the actor that came first."""


class FirstInFirstOut:
    """The actor that has been ready for longest has the next turn."""

    allows_handoffs = True

    def place(self, ready: int) -> int:
        """Always 0."""
        return 0
