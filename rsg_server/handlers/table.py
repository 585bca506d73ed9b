"""The types of message handlers and their replies, and the check of arguments that an emulated process has sent.

A handler is called with the sender (an actor) and the arguments of a message. If it returns a Reply, the sender keeps
the turn. If it returns None, the sender waits, is ready or is dead, and another actor can have the turn. (Only a held
program's reply comes later although the sender has the turn: see rsg_server/diagnosis/debugger.py.) If a handler raises
because of the message's content, the sender's process is ended, and no other process.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rsg_server.messages import SHAPES, Op

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


class Reply:
    """The reply to a message: its values, the first of which is the status, and its descriptors.

    The descriptors are closed after sending if `close`. No actor runs until `newborn`, a new actor, has sent HELLO. If
    the newborn's channel is among the descriptors, the receiver of the reply is about to fork it; otherwise it has been
    forked, and its HELLO comes before the reply is sent. The class is no dataclass, because an object is made for every
    message, and the generated __init__ of a dataclass is not compiled.
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
    """A handler with the types of its message's arguments: `i` an integer, `b` bytes, `s` text.

    A handler that `makes_descriptors` changes nothing if the server has no descriptor left; the sender then gets an
    errno.
    """

    shape: str
    run: Run
    makes_descriptors: bool = False
    types: tuple[type, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(_TYPES[kind] for kind in self.shape))

    def fits(self, arguments: Sequence[Any]) -> bool:
        """Return whether the arguments of a message have the declared types."""
        types = self.types
        if len(arguments) != len(types):
            return False
        for place in range(len(types)):  # noqa: SIM110  compiled, a generator costs as much as the rest of a message
            if type(arguments[place]) is not types[place]:
                return False
        return True


def handled(runs: Mapping[Op, Run], makes_descriptors: Container[Op] = ()) -> dict[int, Handler]:
    """Return handlers by the number of their message, with the types of its arguments from csrc/tables/messages.def."""
    return {int(op): Handler(SHAPES[op], run, op in makes_descriptors) for op, run in runs.items()}


def failed(code: int) -> Reply:
    """Return the reply that reports an error; `code` is a positive errno."""
    return Reply((-code,))
