"""The run queue: the actors that are to have a turn, and the one place that picks which of them is next.

Invariant 5: actors stand in one line, in the order in which they have become ready, and an order (rsg_server.order) picks one
of them. All that changes the line is an operation here (`tests/contract/test_run_queue.py`), so whoever wants another order
changes one function.

In the line are the READY actors of all processes that are not held, each once, and PARKED actors that are nominated: these
have a place, and are asked whether they want the turn when it comes (rsg_server.turn.wakeups).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from rsg_server.order import Order
from rsg_server.process.actor import STATE_READY, Actor
from rsg_server.process.process import Process


class RunQueue:
    """The line of actors, and the order in which they are picked."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self._ready_line: deque[Actor] = deque()

    # Who joins

    def ready(self, actor: Actor) -> None:
        """Put an actor that has become ready at the end."""
        self._ready_line.append(actor)

    def first(self, actor: Actor) -> None:
        """Put an actor that has become ready in front of all others, as the child of a vfork."""
        self._ready_line.appendleft(actor)

    def nominate(self, actor: Actor) -> None:
        """Give a parked actor a place at the end, which it keeps if it becomes ready meanwhile."""
        actor.is_nominated = True
        self._ready_line.append(actor)

    def resume(self, process: Process) -> None:
        """Put the ready actors of a process that is held no longer at the end, in the order of their birth."""
        self._ready_line.extend(actor for actor in process.actors if actor.state is STATE_READY)

    # Who leaves

    def withdraw(self, actor: Actor) -> None:
        """Take an actor out that ends; nothing happens if it is not there."""
        if (actor.is_nominated or actor.state is STATE_READY) and actor in self._ready_line:
            self._ready_line.remove(actor)
        actor.is_nominated = False

    def stop(self, process: Process) -> list[Actor]:
        """Take the actors of a process that is held from now on out, and return them. None is nominated any more."""
        taken = [actor for actor in self._ready_line if actor.process is process]
        for actor in taken:
            self._ready_line.remove(actor)
            actor.is_nominated = False
        return taken

    def pick(self) -> Actor:
        """Take the actor out that is next, as the order says. There must be one."""
        line = self._ready_line
        place = self.order.place(len(line))
        if place == 0:
            return line.popleft()
        actor = line[place]
        del line[place]
        return actor

    # Who stands where

    def put_behind(self, count: int) -> None:
        """Put the first `count` actors behind all others: they spin, and those that an event has woken go first."""
        self._ready_line.rotate(-count)

    def __iter__(self) -> Iterator[Actor]:
        return iter(self._ready_line)

    def __len__(self) -> int:
        return len(self._ready_line)

    def __bool__(self) -> bool:
        return bool(self._ready_line)
