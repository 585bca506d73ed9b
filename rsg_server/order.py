"""The orders in which ready actors have their turns: of several that are ready, an order says which one is next.

The run queue (rsg_server.process.run_queue) keeps the ready actors in the order in which they have become ready, and asks one
of these for a place in that line. What an order answers may depend on nothing but its own state and on the numbers of the ready
actors, so that a run can be repeated to the byte. Orders that are chosen, from a seed or a recording: rsg_server.turn.choosing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class Ready(Protocol):
    """A ready actor, of which an order knows the number."""

    @property
    def number(self) -> int: ...


class Order(Protocol):
    """Picks who runs next."""

    @property
    def allows_handoffs(self) -> bool:
        """Whether threads may hand the turn on without the server: shims know one order only, which is first in, first out."""

    def place(self, line: Collection[Ready]) -> int:
        """Which of the actors of a line, one or more, has the next turn: its place, from 0, the actor that came first."""


class FirstInFirstOut:
    """The actor that has been ready for longest has the next turn."""

    allows_handoffs = True

    def place(self, line: Collection[Ready]) -> int:
        """Always 0."""
        return 0
