"""Makes a wait from what a message says: a table has a maker for each kind.

The makers are objects rather than classes or functions: compiled, a method of an object from a table takes some 10 ns to call,
a class or a function from a table over 1 µs, and a wait is made at every turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rsg_server.process.wait import ActorWait


class Maker:
    """Makes the waits of a kind from the three numbers whose meaning the kind decides (enum simunix_wait).

    A kind of which a wait is made seldom hands in a function; the others have a maker of their own, which overrides `make`.
    """

    def __init__(self, construct: Callable[[int, int, int], ActorWait]) -> None:
        self._construct = construct

    def make(self, a: int, b: int, c: int) -> ActorWait:
        """A wait of this kind. Raises ValueError for numbers that no shim sends."""
        return self._construct(a, b, c)


class Waits:
    """The kinds of waits of a kernel, by the number that messages give them."""

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
        """The wait of a PARK message, whose values are in this order. Raises ValueError if there is no such wait."""
        maker = self._makers.get(kind)
        if maker is None:
            raise ValueError(f"wait {kind}: no such kind")
        wait = maker.make(a, b, c)
        wait.set_terms(syscall, deadline_ns, blocked, since_ns, siblings_may_wake)
        return wait

    def of(self, wait: Any) -> ActorWait:
        """The object of a wait that the core has begun, a struct turn_wait."""
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
