"""The run queue: the actors that are to have a turn, and the one place that picks the next of them.

Invariant 5: actors stand in one line, in the order in which they have become ready, and an order (rsg_server.order) picks
one of them. Each change of the line is an operation here (`tests/contract/test_run_queue.py`), or one of the core
(csrc/turn/waits/run_queue.c). The core keeps the line, and picks the first by itself if the order is first in, first out.

In the line are the READY actors of all processes that are not held, each once, and PARKED actors that are nominated. A
nominated actor is asked, when its place comes, whether it wants the turn (rsg_server.turn.wakeups). A run that explores keeps
some READY actors out of the line for a while (`put_off`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rsg_server._native import ffi, lib
from rsg_server.order import Order
from rsg_server.process.actor import STATE_READY, Actor, actor_of
from rsg_server.process.process import Process


class RunQueue:
    """The line of actors, and the order in which they are picked. `core` is the struct run_queue that contains the line."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.core: Any = ffi.new("struct run_queue *")
        self._put_off: set[Actor] = set()

    # Who joins

    def ready(self, actor: Actor) -> None:
        """Put an actor that has become ready at the end."""
        lib.run_queue_append(self.core, actor.record)

    def first(self, actor: Actor) -> None:
        """Put an actor that has become ready in front of all others, as the child of a vfork."""
        lib.run_queue_prepend(self.core, actor.record)

    def nominate(self, actor: Actor) -> None:
        """Give a parked actor a place at the end, which it keeps if it becomes ready meanwhile."""
        actor.is_nominated = True
        lib.run_queue_append(self.core, actor.record)

    def resume(self, process: Process) -> None:
        """Put the ready actors of a process that is no longer held at the end, in the order of their birth."""
        for actor in process.actors:
            if actor.state is STATE_READY:
                self._put_off.discard(actor)
                lib.run_queue_append(self.core, actor.record)

    def come_back(self, actor: Actor) -> None:
        """Put an actor that was put off at the end; nothing happens if it has ended, or joined the line with its process."""
        if actor in self._put_off and not actor.process.is_held:
            self._put_off.remove(actor)
            lib.run_queue_append(self.core, actor.record)

    # Who leaves

    def withdraw(self, actor: Actor) -> None:
        """Remove an actor that ends; nothing happens if it is not in the line."""
        lib.run_queue_remove(self.core, actor.record)
        self._put_off.discard(actor)
        actor.is_nominated = False

    def put_off(self, actor: Actor) -> None:
        """Keep a ready actor that has just been picked out of the line, until `come_back`."""
        self._put_off.add(actor)

    def is_put_off(self, actor: Actor) -> bool:
        """Whether an actor that is ready is kept out of the line."""
        return actor in self._put_off

    def stop(self, process: Process) -> list[Actor]:
        """Remove the actors of a process that is held from now on, and return them. None of them stays nominated."""
        taken = [actor for actor in self._line() if actor.process is process]
        for actor in taken:
            lib.run_queue_remove(self.core, actor.record)
            actor.is_nominated = False
        return taken

    def pick(self) -> Actor:
        """Remove the actor that is next under the order, and return it. The line must not be empty."""
        record = lib.run_queue_at(self.core, self.order.place(self._line()))
        lib.run_queue_remove(self.core, record)
        return actor_of(record)

    # Who stands where

    def put_behind(self, count: int) -> None:
        """Move the first `count` actors behind all others: they spin, and those that an event has woken go first."""
        lib.run_queue_rotate(self.core, count)

    def _line(self) -> list[Actor]:
        found = []
        record = self.core.first
        while record:
            found.append(actor_of(record))
            record = record.after
        return found

    def __iter__(self) -> Iterator[Actor]:
        return iter(self._line())

    def __len__(self) -> int:
        count: int = self.core.count
        return count

    def __bool__(self) -> bool:
        return bool(self.core.count)
