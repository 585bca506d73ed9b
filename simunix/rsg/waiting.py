"""What communications, executions, reads and writes have in common: they begin, take time, and somebody waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.connection import call, number
from simunix.rsg.errors import TimeoutException


class Activity:
    """Something that takes time, known by a number once it has begun."""

    def __init__(self, number: int = 0) -> None:
        self._number = number
        self._is_over = False

    def __del__(self) -> None:
        if self._number and not self._is_over:
            lib.rsg_forget(self._number)

    def _state(self) -> Any:
        state = ffi.new("struct rsg_activity_state *")
        call(lib.rsg_activity, self._number, state)
        return state

    @property
    def remaining(self) -> float:
        """The bytes or flops that are left."""
        return 0.0 if self._is_over else float(self._state().remaining)

    def start(self) -> Any:
        """Begin, unless it has begun."""
        return self

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
        self.start()
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
        self._came(message)
        return self

    def _timed_out(self) -> None:
        """The time is over; a communication is, too."""

    def _came(self, message: Any) -> None:
        """A message has come with the end."""

    def test(self) -> bool:
        """Whether it is over."""
        self.start()
        if self._is_over or not number(lib.rsg_test, self._number):
            return self._is_over
        self.wait()
        return True

    def cancel(self) -> Any:
        """End it now."""
        if not self._is_over:
            call(lib.rsg_cancel, self._number)
            lib.rsg_forget(self._number)
            self._is_over = True
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
        place = number(lib.rsg_wait_any, [one.start()._number for one in activities], len(activities), timeout)
        if place >= 0:
            activities[place].wait()
        return place
