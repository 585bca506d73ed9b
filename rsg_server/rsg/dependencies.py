"""Activities that begin after others (S4U: add_successor), as in SimGrid 3.32 (include/simgrid/s4u/Activity.hpp).

A dependency is solved when an actor has learned by a wait or a test that the predecessor is done. SimGrid, too, solves
the dependency at that moment, and not when the predecessor ends. A predecessor of which no actor can learn, because it
is detached or forgotten, solves the dependency by its end. A predecessor that fails or is cancelled never solves the
dependency. The successors of one predecessor begin in the reverse order in which they were added. Three things differ
from SimGrid. An activity that has begun or is over cannot be a successor, no activity waits for its own end, and a
cancelled activity stays cancelled.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from rsg_server.rsg.activity import DONE, FAILED, MADE, VETOED, Activity, Handle, Made
from rsg_server.rsg.errors import Code, OperationError

if TYPE_CHECKING:
    from rsg_server.rsg.room import Rsg

DEPENDENCIES_MAX = 1 << 22


class Dependencies:
    """Begins activities that were made before, as soon as they wait for no other activity."""

    def __init__(self, room: Rsg) -> None:
        self._room = room
        self._count = 0  # the number of dependencies that are not solved yet
        self._solved: deque[Handle] = deque()

    def start(self, handle: Handle) -> bool:
        """Begin the activity of a handle, unless it waits for others or has begun; return whether it begins now."""
        made = handle.activity
        if not isinstance(made, Made) or made.is_over:
            return False
        made.state = VETOED
        if made.after:
            return False
        self._begin(made)
        return True

    def _begin(self, made: Made) -> None:
        for who in made.owners():
            who.activities.pop(made, None)
        try:
            begun = made.begin(made)
        except OperationError as failure:
            made.error = failure.code
            self._room.comms.end(made, FAILED)
            raise
        made.handle.activity = begun
        begun.unasked += made.unasked
        begun.waits += [wait for wait in made.waits if wait not in begun.waits]
        if made.is_held:
            self._room.hold(begun)
        if begun.is_over:
            self._room.ended(begun)

    def add(self, handle: Handle, successor: Handle) -> None:
        """Make an activity that has not begun wait for the end of another one."""
        made = self._made(successor)
        if handle is successor or self._leads(successor, handle):
            raise OperationError(Code.CYCLE)
        if handle in made.after:
            raise OperationError(Code.DEPENDENCY)
        if self._count >= DEPENDENCIES_MAX:
            raise OperationError(Code.MEMORY)
        self._count += 1
        made.after[handle] = handle.before[successor] = None

    def remove(self, handle: Handle, successor: Handle) -> None:
        """Let `successor` no longer wait for the activity `handle`. As in SimGrid, `successor` does not begin by that, even
        if it waits for no other activity.
        """
        if successor not in handle.before:
            raise OperationError(Code.DEPENDENCY)
        self._forget(handle, successor)

    def set_term(self, handle: Handle, term: int, value: float) -> None:
        """Change a term of an activity that has not begun."""
        made = self._made(handle)
        if term not in made.terms:
            raise OperationError(Code.BAD_VALUE)
        made.terms[term] = value

    def _made(self, handle: Handle) -> Made:
        made = handle.activity
        if not isinstance(made, Made) or made.is_over:
            raise OperationError(Code.HAS_BEGUN)
        return made

    def _leads(self, start: Handle, end: Handle) -> bool:
        """Return whether `end` is among the activities that wait for `start`, directly or through others."""
        seen, pending = {start}, [start]
        while pending:
            for handle in pending.pop().before:
                if handle is end:
                    return True
                if handle not in seen:
                    seen.add(handle)
                    pending.append(handle)
        return False

    def _forget(self, handle: Handle, successor: Handle) -> Made:
        del handle.before[successor]
        made = successor.activity
        assert isinstance(made, Made)
        del made.after[handle]
        self._count -= 1
        return made

    def told(self, handle: Handle) -> None:
        """Note that an actor has learned how an activity has ended.

        If it is done, begin each activity that waits for nothing else.
        """
        if handle.activity.state != DONE or not handle.before:
            return
        self._solved.append(handle)
        if len(self._solved) > 1:
            return  # an activity that began and ended at once; the loop below handles its successors in their turn
        while self._solved:
            self._solve(self._solved[0])
            self._solved.popleft()

    def _solve(self, handle: Handle) -> None:
        while handle.before:
            made = self._forget(handle, next(reversed(handle.before)))
            if not made.after:
                with suppress(OperationError):  # the actor that waits for this activity gets the result
                    self._begin(made)

    def dropped(self, handle: Handle) -> None:
        """Note that no program can ask for an activity any more.

        If it was not started, and waits for no other, it is cancelled.
        """
        activity = handle.activity
        self.told(handle)
        if handle.before and not activity.is_over:
            activity.unasked.append(handle)
        if isinstance(activity, Made) and activity.state == MADE and not activity.after:
            self._room.comms.cancel(activity)

    def ended(self, activity: Activity) -> None:
        """Solve the dependencies of an activity that has ended, whether it had begun or not."""
        if isinstance(activity, Made):
            for handle in list(activity.after):
                self._forget(handle, activity.handle)
        for handle in activity.unasked:
            self.told(handle)
