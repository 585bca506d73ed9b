"""Waits for other processes or for signals: for children, the child of a vfork, a tracer, a signal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rsg_server.process.wait import ActorWait, DescriptorWords
from rsg_server.protocol import WAKE_READY
from rsg_server.waits.words import listed

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor

_SIGNALS = 64


class ChildWait(ActorWait):
    """A wait that ends when a child dies, stops or goes on (wait(2))."""

    def is_for_children(self) -> bool:
        return True

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        children = [repr(child) for child in actor.process.children if not child.dead]
        return f"a child: {listed(children)}" if children else "a child, although it has none"


class VforkWait(ActorWait):
    """A wait that ends when the child of a vfork, given by the number of its first thread, has called exec or died."""

    __slots__ = ("_actors", "child")

    def __init__(self, actors: Mapping[int, Actor], child: int, b: int, c: int) -> None:
        super().__init__()
        self._actors, self.child = actors, child

    def prepare(self, actor: Actor) -> tuple[int, int] | None:
        """Note in the child which actor waits for it.

        If the actor has no such child (any more), return the values with which it goes on.
        """
        child = self._actors.get(self.child)
        if child is None or child.process.parent is not actor.process or child.process.has_let_go:
            return WAKE_READY, 0
        child.process.vfork_parent = actor
        return None

    def open_to(self) -> int:
        return 0

    def is_for_vfork(self) -> bool:
        return True

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        child = self._actors.get(self.child)
        return "the exec or end of its vfork child" + (f" {child.process!r}" if child is not None else "")


class TracedWait(ActorWait):
    """A wait that ends when the tracer lets the thread go on (ptrace(2)). No signal ends this wait."""

    def takes(self, bit: int, is_for_all: bool) -> bool:
        return False

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        return "its tracer, which has not let it go on (ptrace)"


class SignalWait(ActorWait):
    """A wait that ends with one of the signals in the mask `wanted`, even if the signal is blocked (sigwait(3))."""

    __slots__ = ("wanted",)

    def __init__(self, wanted: int, b: int, c: int) -> None:
        super().__init__()
        self.wanted = wanted

    def wants(self, bit: int) -> bool:
        return bool(self.wanted & bit)

    def open_to(self) -> int:
        return ~self.blocked | self.wanted

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        wanted = [str(number + 1) for number in range(_SIGNALS) if self.wanted >> number & 1]
        return f"signal {listed(wanted)}" if 0 < len(wanted) < _SIGNALS else "a signal"
