"""What communications, executions, reads and writes have in common: they begin, take time, and somebody waits for them.

The server knows an activity once it begins, or before: once it has dependencies. It is then made there, of the terms that it
has, and a term that is set later is told to the server.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.connection import call, number
from simunix.rsg.errors import AssertionError, CancelException, TimeoutException


class Activity:
    """Something that takes time, known by a number once it has begun or has dependencies."""

    def __init__(self, number: int = 0) -> None:
        self._number = number
        self._is_over = False
        self._is_cancelled = False
        self._is_made = False  # the server knows it, and begins it
        self._is_started = bool(number)
        self._predecessors: dict[int, Activity] = {}  # by number; kept, since somebody is to wait for them

    def __del__(self) -> None:
        if self._number and not self._is_over:
            lib.rsg_forget(self._number)

    def _state(self) -> Any:
        state = ffi.new("struct rsg_activity_state *")
        call(lib.rsg_activity, self._number, state)
        return state

    def _create(self, begins: bool) -> int:
        """Have the server begin the activity, or only make it: its number."""
        raise AssertionError(lib.RSG_HAS_BEGUN, repr(self))

    def _make(self) -> int:
        if not self._number:
            self._number = self._create(begins=False)
            self._is_made = True
        return self._number

    def _set_term(self, term: int, value: float) -> None:
        """Tell a term that has changed of an activity that the server has made."""
        if self._is_made:
            call(lib.rsg_set_term, self._number, term, value, about=repr(self))

    @property
    def remaining(self) -> float:
        """The bytes or flops that are left."""
        return 0.0 if self._is_over else float(self._state().remaining)

    def start(self) -> Any:
        """Begin, unless it has begun; what has dependencies begins once these are solved."""
        if not self._number:
            self._number = self._create(begins=True)
        elif self._is_made and not self._is_over:
            call(lib.rsg_start, self._number, about=repr(self))
        self._is_started = True
        return self

    def add_successor(self, successor: Activity) -> Any:
        """Have another activity, which has not begun, begin once this one is done and somebody has been told so.

        That is by `wait` and its kin, or `test`. One that fails or is cancelled never lets its successors begin.
        """
        call(lib.rsg_add_successor, self._make(), successor._make(), about=f"{self!r}, {successor!r}")
        successor._predecessors[self._number] = self
        return self

    def remove_successor(self, successor: Activity) -> Any:
        """Have it no longer wait for this one. A successor that then waits for nothing begins when it is started again."""
        call(lib.rsg_remove_successor, self._make(), successor._make(), about=f"{self!r}, {successor!r}")
        successor._predecessors.pop(self._number, None)
        return self

    def get_dependencies(self) -> list[Activity]:
        """Return the activities that this one still waits for."""
        if not self._is_made or self._is_over:
            return []
        numbers, count = ffi.new("int64_t[]", max(1, len(self._predecessors))), ffi.new("size_t *")
        call(lib.rsg_dependencies, self._number, numbers, len(self._predecessors), count)
        return [self._predecessors[numbers[place]] for place in range(count[0])]

    def dependencies_solved(self) -> bool:
        """Return whether this one waits for no other."""
        return not self.get_dependencies()

    def wait(self) -> Any:
        """Wait for the end."""
        return self.wait_for(-1.0)

    def wait_until(self, date: float) -> Any:
        """Wait for the end until a date."""
        now = ffi.new("double *")
        call(lib.rsg_clock, now)
        return self.wait_for(max(0.0, date - float(now[0])))

    def wait_for(self, timeout: float) -> Any:
        """Wait for the end, for so many seconds. Raises TimeoutException after that."""
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
        """The time is over; a communication is, too."""

    def _came(self, message: Any) -> None:
        """A message has come with the end."""

    def test(self) -> bool:
        """Return whether it is over."""
        self._begun()
        if self._is_over or not number(lib.rsg_test, self._number):
            return self._is_over
        self.wait()
        return True

    def cancel(self) -> Any:
        """End it now."""
        if not self._is_over:
            call(lib.rsg_cancel, self._number)
            lib.rsg_forget(self._number)
            self._is_over = self._is_cancelled = True
        return self

    def suspend(self) -> Any:
        """Stop it until `resume`."""
        call(lib.rsg_hold, self._number, 1)
        return self

    def resume(self) -> Any:
        """Let it go on."""
        call(lib.rsg_hold, self._number, 0)
        return self

    @staticmethod
    def wait_any(activities: Sequence[Any]) -> int:
        """Wait for the first that is over: its place."""
        return Activity.wait_any_for(activities, -1.0)

    @staticmethod
    def wait_any_for(activities: Sequence[Any], timeout: float) -> int:
        """Wait for the first that is over, for so many seconds: its place, or -1."""
        if not activities:
            raise AssertionError(lib.RSG_BAD_VALUE, "wait_any: no activities")
        place = number(lib.rsg_wait_any, [one._begun()._number for one in activities], len(activities), timeout)
        if place >= 0:
            activities[place].wait()
        return place
