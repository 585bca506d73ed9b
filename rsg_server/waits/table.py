"""Makes the object for a wait from the numbers in a message: a table contains a maker for each kind of wait.

The makers are objects rather than classes or functions. In the compiled server, calling a method of an object from a
table takes some 10 ns; calling a class or a function from a table takes over 1 µs. A wait is made at every turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rsg_server.process.wait import ActorWait


class Maker:
    """Makes the waits of one kind from three numbers, whose meaning depends on the kind (enum simunix_wait).

    A kind that is seldom waited for passes a function to the constructor; the others have a maker of their own, which
    overrides `make`.
    """

    def __init__(self, construct: Callable[[int, int, int], ActorWait]) -> None:
        self._construct = construct

    def make(self, a: int, b: int, c: int) -> ActorWait:
        """Make a wait of this kind. Raises ValueError for numbers that no shim sends."""
        return self._construct(a, b, c)


class Waits:
    """Makes waits of all kinds, by the number that a kind has in messages."""

    def __init__(self, makers: Mapping[int, Maker]) -> None:
        self._makers = dict(makers)

    def make(
        self,
        kind: int,
        syscall: int,
        deadline_ns: int,
        blocked: int,
        a: int,
        b: int,
        c: int,
        since_ns: int,
        siblings_may_wake: bool = False,
    ) -> ActorWait:
        """Return the wait for a PARK message, whose values are in this order. Raises ValueError for an unknown kind."""
        maker = self._makers.get(kind)
        if maker is None:
            raise ValueError(f"wait {kind}: no such kind")
        wait = maker.make(a, b, c)
        wait.set_terms(syscall, deadline_ns, blocked, since_ns, siblings_may_wake)
        return wait

    def of(self, wait: Any) -> ActorWait:
        """Return the object for a wait that the C code has begun; `wait` is its struct turn_wait."""
        return self.make(
            wait.kind,
            wait.syscall,
            wait.deadline,
            wait.blocked,
            wait.a,
            wait.b,
            wait.c,
            wait.since,
            wait.siblings_may_wake != 0,
        )
