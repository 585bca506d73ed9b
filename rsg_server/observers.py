"""An event of the simulation that several parts follow, such as "the load of a host has changed".

The part at which the event happens owns the `Observers`, connects nobody itself, and works the same without any. SimGrid has
xbt::signal for this, trio Instrument. Virtual time and the order of turns may depend on what observers do, so they are called
in a fixed order: that in which they were connected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")
"""The arguments with which observers are called."""


class Observers(Generic[P]):
    """The functions that are to be called when one event happens, in the order in which they were connected.

    Without observers it is false, so that what they are to be told need not be computed. An exception of an observer reaches
    the part that tells; the observers after that one are not called.
    """

    __slots__ = ("_functions",)

    def __init__(self) -> None:
        self._functions: tuple[Callable[P, object], ...] = ()

    def __bool__(self) -> bool:
        return len(self._functions) > 0

    def connect(self, function: Callable[P, object]) -> None:
        """Have a function called at each event from the next one on, after all that are connected already."""
        self._functions = (*self._functions, function)

    def disconnect(self, function: Callable[P, object]) -> None:
        """Call a function no longer, from the next event on. Raises ValueError if the function is not connected."""
        functions = list(self._functions)
        functions.remove(function)
        self._functions = tuple(functions)

    def tell(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """The event has happened: call those that are connected now, also if one of them connects or disconnects others."""
        for function in self._functions:
            function(*args, **kwargs)
