"""The run queue: the actors (threads) that are ready for a turn. Only this class chooses which of these actors has the
next turn.

Invariant 5: the queue lists actors in the order in which they have become ready, and an order (rsg_server.order) picks
one of them. The queue is changed only by methods of this class (`tests/contract/test_run_queue.py`) and by functions of
csrc/turn/waits/run_queue.c. The C code stores the queue, and picks the first actor by itself if the order is first in,
first out.

The queue contains the READY actors of all processes that are neither stopped nor frozen, each once. The queue also
contains waiting (PARKED) actors that are nominated: when the place of such an actor comes, the server looks whether its
wait is over (rsg_server.turn.wakeups). A run of `simunix explore` keeps some READY actors out of the queue for a while
(`put_off`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rsg_server._native import ffi, lib
from rsg_server.order import Order
from rsg_server.process.actor import STATE_READY, Actor, actor_of
from rsg_server.process.process import Process


class RunQueue:
    """The queue of actors for the next turns, and the order in which they are picked. `core` is its struct run_queue of C."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.core: Any = ffi.new("struct run_queue *")
        self._put_off: set[Actor] = set()

    # Actors that are added

    def ready(self, actor: Actor) -> None:
        """Add an actor that has become ready at the end of the queue."""
        lib.run_queue_append(self.core, actor.record)

    def first(self, actor: Actor) -> None:
        """Add an actor that has become ready at the head of the queue, as the child of a vfork."""
        lib.run_queue_prepend(self.core, actor.record)

    def nominate(self, actor: Actor) -> None:
        """Add a waiting actor at the end of the queue.

        The actor keeps this place if it becomes ready before its place comes.
        """
        actor.is_nominated = True
        lib.run_queue_append(self.core, actor.record)

    def resume(self, process: Process) -> None:
        """Add the ready actors of a process that was stopped or frozen at the end of the queue, in the order of their birth."""
        for actor in process.actors:
            if actor.state is STATE_READY:
                self._put_off.discard(actor)
                lib.run_queue_append(self.core, actor.record)

    def come_back(self, actor: Actor) -> None:
        """Add an actor, which `put_off` has removed, at the end of the queue, unless it has ended or is in the queue
        already.
        """
        if actor in self._put_off and not actor.process.is_held:
            self._put_off.remove(actor)
            lib.run_queue_append(self.core, actor.record)

    # Actors that are removed

    def withdraw(self, actor: Actor) -> None:
        """Remove an actor that ends; do nothing if it is not in the queue."""
        lib.run_queue_remove(self.core, actor.record)
        self._put_off.discard(actor)
        actor.is_nominated = False

    def put_off(self, actor: Actor) -> None:
        """Keep a ready actor, which `pick` has just returned, out of the queue until `come_back`."""
        self._put_off.add(actor)

    def is_put_off(self, actor: Actor) -> bool:
        """Return whether a ready actor is kept out of the queue by `put_off`."""
        return actor in self._put_off

    def stop(self, process: Process) -> list[Actor]:
        """Remove the actors of a process that is stopped or frozen, and return them. None of them stays nominated."""
        taken = [actor for actor in self._line() if actor.process is process]
        for actor in taken:
            lib.run_queue_remove(self.core, actor.record)
            actor.is_nominated = False
        return taken

    def pick(self) -> Actor:
        """Remove and return the actor that has the next turn under the order. The queue must not be empty."""
        record = lib.run_queue_at(self.core, self.order.place(self._line()))
        lib.run_queue_remove(self.core, record)
        return actor_of(record)

    # Places of actors

    def put_behind(self, count: int) -> None:
        """Move the first `count` actors, which spin (compute without system calls), behind all others, so that actors
        that an event has woken go first.
        """
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
