"""vfork(2): the parent waits until its child has called exec or died."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.process.actor import FIRST_TURN, State
from rsg_server.protocol import Wake

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.parking import Parking
    from rsg_server.process.process import Process

FIRST_REPLY, READY_REPLY = (FIRST_TURN, 0), (int(Wake.READY), 0)


class Vforks:
    """Makes parents wait for their vfork children, and wakes the parents again."""

    def __init__(self, parking: Parking) -> None:
        self._parking = parking

    def begin(self, parent: Actor, child: Actor, is_next: bool = True) -> None:
        """Begin a vfork: the parent waits for the child's exec or death. If `is_next`, the child has the next turn.

        Else the child queues for its turn like other actors. If both have slots, the child waits at its slot for its turn,
        and the parent goes on at its slot.
        """
        parent.state, parent.reply = State.VFORK, FIRST_REPLY if is_next else READY_REPLY
        if child.slot and parent.slot:
            child.process.is_quiet = child.answer_at_slot = True
        if is_next:
            child.state = State.READY
            self._parking.run_queue.first(child)
        else:
            self._parking.make_ready(child)

    def release(self, process: Process) -> None:
        """Let the parent of a vfork run again, because the child has called exec or died.

        The parent gets its turn at its slot; without a slot, it sends FORK_DONE first.
        """
        parent = process.vfork_parent
        process.vfork_parent = None
        process.has_let_go = True
        if parent is None or parent.process.dead:
            return
        if parent.state is State.VFORK:
            if process.is_quiet:
                parent.answer_at_slot = True
            else:
                parent.owes_message = True
            self._parking.make_ready(parent)
        elif parent.parked is not None and parent.parked.is_for_vfork():
            self._parking.wake(parent, Wake.READY)
