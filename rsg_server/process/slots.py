"""The places in shared memory where parked actors wait for their turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.protocol import SLOTS

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


class Slots:
    """Hands out numbers from 1 on, those given back first; none (0) once all are taken: such an actor waits for a message."""

    def __init__(self) -> None:
        self._actors: dict[int, Actor] = {}
        self._free: list[int] = []

    def __getitem__(self, slot: int) -> Actor:
        """Who waits there. Raises KeyError if nobody has this slot."""
        return self._actors[slot]

    def get(self, slot: int) -> Actor | None:
        """Who waits there, None if nobody has this slot."""
        return self._actors.get(slot)

    def take(self, actor: Actor) -> None:
        """Give an actor a slot of its own."""
        slot = self._free.pop() if self._free else len(self._actors) + 1
        actor.slot = slot if slot < SLOTS else 0
        if actor.slot:
            self._actors[slot] = actor

    def release(self, actor: Actor) -> None:
        """An actor has ended: its slot is the next one's."""
        if actor.slot:
            del self._actors[actor.slot]
            self._free.append(actor.slot)
            actor.slot = 0
