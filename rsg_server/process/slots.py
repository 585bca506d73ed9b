"""Slots: futexes in shared memory at which waiting actors (threads) wait for their turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rsg_server._native import ffi
from rsg_server.protocol import SLOTS

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


class Slots:
    """Gives slots to actors, from number 1 on; slots that were given back are used first.

    When all slots are in use, an actor gets slot 0, which is no slot: it waits for a message at its channel instead.
    """

    def __init__(self) -> None:
        self._actors: dict[int, Actor] = {}
        self._free: list[int] = []
        self.core: Any = ffi.new("struct slot_table *")

    def __getitem__(self, slot: int) -> Actor:
        """Return the actor that has a slot. Raises KeyError if none has it."""
        return self._actors[slot]

    def get(self, slot: int) -> Actor | None:
        """Return the actor that has a slot; None if none has it."""
        return self._actors.get(slot)

    def take(self, actor: Actor) -> None:
        """Give an actor a slot of its own, or 0 if all slots are in use."""
        slot = self._free.pop() if self._free else len(self._actors) + 1
        actor.slot = slot if slot < SLOTS else 0
        if actor.slot:
            self._actors[slot] = actor
            self.core.actors[slot] = actor.record

    def release(self, actor: Actor) -> None:
        """Take back the slot of an actor that has ended."""
        if actor.slot:
            del self._actors[actor.slot]
            self.core.actors[actor.slot] = ffi.NULL
            self._free.append(actor.slot)
            actor.slot = 0
