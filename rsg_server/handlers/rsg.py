"""Handles RSG, by which a program that uses Remote SimGrid asks for an operation such as sending a message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.handlers.table import Handler, Reply, handled
from rsg_server.protocol import WAKE_READY, Op
from rsg_server.rsg.operations.table import operate

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process
    from rsg_server.rsg.room import Rsg
    from rsg_server.shared.boxes import Boxes


class RsgHandlers:
    """Handles RSG: operations of Remote SimGrid, and the boxes (shared memory) in which threads may ask for them."""

    def __init__(self, room: Rsg, boxes: Boxes) -> None:
        self._room, self._boxes = room, boxes

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled({Op.RSG: self.rsg})

    def rsg(self, actor: Actor, arguments: Sequence[Any]) -> Reply | None:
        """Begin an operation of Remote SimGrid.

        [a value of enum simunix_rsg_operation, blocked signals, request] -> [wake, status, answer], at once or when the
        operation is done.
        """
        operation, blocked, request = arguments
        if not actor.process.has_boxes:
            self._give_boxes(actor.process)
        told = operate(self._room, actor, operation, blocked, request)
        return None if told is None else Reply((WAKE_READY, int(told[0]), told[1]))

    def _give_boxes(self, process: Process) -> None:
        """Let the threads of a process ask in their boxes from the next operation on. Requests of former owners are deleted."""
        process.has_boxes = self._boxes.open()
        for thread in process.actors if process.has_boxes else ():
            self._boxes.clear(thread.slot)
