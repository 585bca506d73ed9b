"""The types of handlers and replies, and the check of the arguments that an emulated process has sent.

A handler is called with the sender of a message and the arguments of the message. Its result says which actor has the turn.
A Reply: the sender keeps the turn. None: the sender is parked, ready or dead, and the turn is free (only a debugger keeps a
reply back while the sender has the turn). If a handler raises because of the content of the message, its sender is ended,
and no other process.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rsg_server.messages import SHAPES, Op

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


class Reply:
    """The values of a reply (the first is the status), and its descriptors, which are closed after sending if `close`.

    Nothing else happens before `newborn` has said HELLO. A newborn whose channel is among the descriptors is forked by the
    actor that gets the reply; another newborn has been forked, and says HELLO before the reply is sent. The class is no
    dataclass, whose generated __init__ would be interpreted: one is made for every message.
    """

    __slots__ = ("close", "fds", "newborn", "values")

    def __init__(
        self,
        values: tuple[object, ...] = (0,),
        fds: tuple[int, ...] = (),
        close: bool = True,
        newborn: Actor | None = None,
    ) -> None:
        self.values, self.fds, self.close, self.newborn = values, fds, close, newborn


OK = Reply()
Answer = Reply | None
Run = Callable[["Actor", Sequence[Any]], Answer]


_TYPES: dict[str, type] = {"i": int, "b": bytes, "s": str}


@dataclass(frozen=True, slots=True)
class Handler:
    """A handler with the types of its arguments: `i` an integer, `b` bytes, `s` text.

    A handler that `makes_descriptors` changes nothing when the server has none left; the sender then gets an errno.
    """

    shape: str
    run: Run
    makes_descriptors: bool = False
    types: tuple[type, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(_TYPES[kind] for kind in self.shape))

    def fits(self, arguments: Sequence[Any]) -> bool:
        """Whether the arguments of a message fit the declared shape."""
        types = self.types
        if len(arguments) != len(types):
            return False
        for place in range(len(types)):  # noqa: SIM110  compiled, a generator costs as much as the rest of a message
            if type(arguments[place]) is not types[place]:
                return False
        return True


def handled(runs: Mapping[Op, Run], makes_descriptors: Container[Op] = ()) -> dict[int, Handler]:
    """Return the handlers by number, with the shapes of their messages from csrc/tables/messages.def."""
    return {int(op): Handler(SHAPES[op], run, op in makes_descriptors) for op, run in runs.items()}


def failed(code: int) -> Reply:
    """Make a reply that reports an error; `code` is a positive errno."""
    return Reply((-code,))
