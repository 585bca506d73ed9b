"""Lets several parts of the server follow an event of the simulation, such as "the load of a host has changed".

The part of the server in which the event happens owns the `Observers`, connects no functions itself, and works alike
without any. xbt::signal of SimGrid and Instrument of trio do the same. Virtual time and the order of turns may depend
on what observers do, so observers are called in a fixed order, the order in which they were connected.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec

P = ParamSpec("P")
"""The arguments with which observers are called."""


class Observers(Generic[P]):
    """The functions that are to be called when one event happens, in the order in which they were connected.

    An object without observers is false, so that its owner need not compute the arguments for them. An exception of an
    observer reaches the caller of `tell`; the later observers are not called then.
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
        """Call the observers because the event has happened: those that are connected now, even if one of them connects
        or disconnects others.
        """
        for function in self._functions:
            function(*args, **kwargs)
