"""Decides in which order ready actors (threads of emulated processes) get the turn, which is the right to run.

The run queue (rsg_server.process.run_queue) lists the ready actors in the order in which they have become ready. An
object of a class derived from `Order` chooses one of these actors. The choice may depend only on the state of this
object and on the actors' numbers, so that a run can be repeated to the byte. Orders chosen by a seed or a recording are
in rsg_server.turn.choosing.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol


class Ready(Protocol):
    """An actor that is ready to run, as far as an order knows it: by its number."""

    @property
    def number(self) -> int: ...


class Order(Protocol):
    """Chooses which of the ready actors has the next turn."""

    @property
    def allows_handoffs(self) -> bool:
        """Whether a thread may give the turn to another one without the server.

        The shims can do so only in the order first in, first out.
        """

    def place(self, line: Collection[Ready]) -> int:
        """Return which of the ready actors has the next turn, as its place in `line`; place 0 is the one that became
        ready first.
        """


class FirstInFirstOut:
    """The actor that has been ready for longest has the next turn."""

    allows_handoffs = True

    def place(self, line: Collection[Ready]) -> int:
        """Return 0, the place of the actor that became ready first."""
        return 0
