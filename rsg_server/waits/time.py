"""Waits for virtual time to pass, or for the next turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rsg_server.process.wait import ActorWait, DescriptorWords
from rsg_server.protocol import WAIT_TIME, WAKE_READY
from rsg_server.waits.table import Maker

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


class TimeWait(ActorWait):
    """A wait that ends at its deadline or with a signal."""

    def in_core(self) -> tuple[int, int, int, int]:
        return WAIT_TIME, 0, 0, 0

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        return "the clock"


class TimeMaker(Maker):
    """Makes waits for time, which end most turns of daemons."""

    def __init__(self) -> None:
        super().__init__(self.make)

    def make(self, a: int, b: int, c: int) -> ActorWait:
        return TimeWait()


class YieldWait(ActorWait):
    """A wait that ends when all actors that are ready by now have had their turns."""

    def over(self) -> int | None:
        return WAKE_READY

    def computes(self) -> bool:
        return True

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        return "its next turn"


class YieldMaker(Maker):
    """Makes waits for the next turn. A program that looks again and again for a change makes one such wait after the other."""

    def __init__(self) -> None:
        super().__init__(self.make)

    def make(self, a: int, b: int, c: int) -> ActorWait:
        return YieldWait()


class Preemption(Protocol):
    """The part of rsg_server.turn.preemption that this wait uses: turns that were taken back."""

    def gave_back(self, actor: Actor) -> None:
        """Handle that an actor has given the turn back at the server's demand."""


class PreemptedWait(YieldWait):
    """The wait of an actor from which the server has taken the turn, because it computed without a call."""

    __slots__ = ("_preemption",)

    def __init__(self, preemption: Preemption) -> None:
        super().__init__()
        self._preemption = preemption

    def prepare(self, actor: Actor) -> tuple[int, int] | None:
        self._preemption.gave_back(actor)
        return None
