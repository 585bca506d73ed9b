"""The common part of all activities of Remote SimGrid (communications, executions, reads and writes): they begin, take
time, and can be waited for.

The server gets to know an activity when it begins or when it gets a dependency. The activity is then created there with
its present terms (such as size and rate); terms that are set later are sent to the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.connection import call, number
from simunix.rsg.errors import AssertionError, CancelException, TimeoutException


class Activity:
    """Something that takes virtual time. An activity has a number once it has begun or has dependencies."""

    def __init__(self, number: int = 0) -> None:
        self._number = number
        self._is_over = False
        self._is_cancelled = False
        self._is_made = False  # whether the server knows the activity, and so will begin it
        self._is_started = bool(number)
        self._predecessors: dict[int, Activity] = {}  # by number; kept alive, since the activity waits for them

    def __del__(self) -> None:
        if self._number and not self._is_over:
            lib.rsg_forget(self._number)

    def _state(self) -> Any:
        state = ffi.new("struct rsg_activity_state *")
        call(lib.rsg_activity, self._number, state)
        return state

    def _create(self, begins: bool) -> int:
        """Create the activity in the server, and begin it if `begins`; return its number."""
        raise AssertionError(lib.RSG_HAS_BEGUN, repr(self))

    def _make(self) -> int:
        if not self._number:
            self._number = self._create(begins=False)
            self._is_made = True
        return self._number

    def _set_term(self, term: int, value: float) -> None:
        """Send a changed term of an activity to the server, if the server knows the activity."""
        if self._is_made:
            call(lib.rsg_set_term, self._number, term, value, about=repr(self))

    @property
    def remaining(self) -> float:
        """The bytes or flops that are still to be done."""
        return 0.0 if self._is_over else float(self._state().remaining)

    def start(self) -> Any:
        """Begin the activity, unless it has begun; if it has dependencies, it begins once they are solved. Return the
        activity.
        """
        if not self._number:
            self._number = self._create(begins=True)
        elif self._is_made and not self._is_over:
            call(lib.rsg_start, self._number, about=repr(self))
        self._is_started = True
        return self

    def add_successor(self, successor: Activity) -> Any:
        """Let another activity, which has not begun, begin only after this activity has completed and an actor has
        learned that. Return the successor.

        An actor learns of the end by a wait or by `test`. An activity that fails or is cancelled never lets its
        successors begin.
        """
        call(lib.rsg_add_successor, self._make(), successor._make(), about=f"{self!r}, {successor!r}")
        successor._predecessors[self._number] = self
        return self

    def remove_successor(self, successor: Activity) -> Any:
        """Remove a dependency on this activity. A successor without dependencies begins when it is started again.
        Return the successor.
        """
        call(lib.rsg_remove_successor, self._make(), successor._make(), about=f"{self!r}, {successor!r}")
        successor._predecessors.pop(self._number, None)
        return self

    def get_dependencies(self) -> list[Activity]:
        """Return the activities for which this activity still waits."""
        if not self._is_made or self._is_over:
            return []
        numbers, count = ffi.new("int64_t[]", max(1, len(self._predecessors))), ffi.new("size_t *")
        call(lib.rsg_dependencies, self._number, numbers, len(self._predecessors), count)
        return [self._predecessors[numbers[place]] for place in range(count[0])]

    def dependencies_solved(self) -> bool:
        """Return whether this activity waits for no other activity."""
        return not self.get_dependencies()

    def wait(self) -> Any:
        """Wait for the end of the activity; return the activity."""
        return self.wait_for(-1.0)

    def wait_until(self, date: float) -> Any:
        """Wait for the end of the activity until a date, in virtual seconds; return the activity."""
        now = ffi.new("double *")
        call(lib.rsg_clock, now)
        return self.wait_for(max(0.0, date - float(now[0])))

    def wait_for(self, timeout: float) -> Any:
        """Wait for the end of the activity, for at most `timeout` seconds; return the activity. Raises TimeoutException
        when the time is over.
        """
        self._begun()
        if self._is_cancelled:
            raise CancelException(lib.RSG_CANCELED, repr(self))
        message = ffi.new("struct rsg_message *")
        message.size = -1.0
        try:
            call(lib.rsg_wait, self._number, timeout, message, about=repr(self))
        except TimeoutException:
            self._timed_out()
            raise
        except Exception:
            self._is_over = True
            raise
        self._is_over = True
        self._predecessors.clear()
        self._came(message)
        return self

    def _begun(self) -> Any:
        return self if self._is_started else self.start()

    def _timed_out(self) -> None:
        """Note that the time limit of a wait is over; a communication is over, too."""

    def _came(self, message: Any) -> None:
        """Note the message that has arrived with the end of the activity."""

    def test(self) -> bool:
        """Return whether the activity has ended."""
        self._begun()
        if self._is_over or not number(lib.rsg_test, self._number):
            return self._is_over
        self.wait()
        return True

    def cancel(self) -> Any:
        """Cancel the activity; return it."""
        if not self._is_over:
            call(lib.rsg_cancel, self._number)
            lib.rsg_forget(self._number)
            self._is_over = self._is_cancelled = True
        return self

    def suspend(self) -> Any:
        """Stop the activity until `resume` is called; return it."""
        call(lib.rsg_hold, self._number, 1)
        return self

    def resume(self) -> Any:
        """Let a suspended activity continue; return it."""
        call(lib.rsg_hold, self._number, 0)
        return self

    @staticmethod
    def wait_any(activities: Sequence[Any]) -> int:
        """Wait until the first of the activities has ended; return its index."""
        return Activity.wait_any_for(activities, -1.0)

    @staticmethod
    def wait_any_for(activities: Sequence[Any], timeout: float) -> int:
        """Wait until the first of the activities has ended, for at most `timeout` seconds; return its index, or -1."""
        if not activities:
            raise AssertionError(lib.RSG_BAD_VALUE, "wait_any: no activities")
        place = number(lib.rsg_wait_any, [one._begun()._number for one in activities], len(activities), timeout)
        if place >= 0:
            activities[place].wait()
        return place
