"""What the turn needs of the kernel that composes the server (rsg_server.kernel), as a protocol.

The turn stands above the handlers, below the kernel and the edge.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from rsg_server.handlers import needs as handlers

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.turn.preemption import Preemption
    from rsg_server.turn.readiness import Readiness


class Kernel(handlers.Kernel, Protocol):
    """Everything that handlers need, and what decides who runs next."""

    at_terminals: dict[int, Actor]
    """By number, the actors that wait for the master of a terminal."""

    @property
    def readiness(self) -> Readiness: ...
    @property
    def preemption(self) -> Preemption: ...
    @property
    def on_warning(self) -> Callable[[str], None]: ...
