"""The words in shared memory by which server and shims know the state of the turn: which thread has it, which threads
may be woken, how it ends.

A thread may give the turn to another thread without the server: to a thread of its process, or with `remote_handoffs`
to one of another process.
"""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import PAGE_FIELDS
from rsg_server.shared.clock import FOREVER_NS

_COMPUTING_SINCE: Final = PAGE_FIELDS["computing_since_ns"]
_COMPUTING_SLOT: Final = PAGE_FIELDS["computing_slot"]
_MAY_HAVE_WOKEN: Final = PAGE_FIELDS["may_have_woken"]
_PREEMPT: Final = PAGE_FIELDS["preempt"]
_RUNNING: Final = PAGE_FIELDS["running"]
_SLICE: Final = PAGE_FIELDS["slice_ns"]
_SIBLINGS_READY: Final = PAGE_FIELDS["siblings_ready"]


class TurnWords:
    """The words about the current turn. The shims write here as well, so a slot that stands here may have no actor."""

    def __init__(self, words: memoryview) -> None:
        self._words = words
        words[_SLICE] = FOREVER_NS

    def end_at(self, moment_ns: int) -> None:
        """Have the turn end with the first call at or after a moment (virtual ns), even if no other actor is ready."""
        self._words[_SLICE] = moment_ns

    def end_when_it_waits(self) -> None:
        """Let the turn last until its holder waits for something."""
        self._words[_SLICE] = FOREVER_NS

    @property
    def may_have_woken(self) -> bool:
        """Whether something in this turn may have made another actor ready, so that the server must look before the
        clock moves.
        """
        return self._words[_MAY_HAVE_WOKEN] != 0

    # Turns that threads give each other without the server

    @property
    def runner_slot(self) -> int:
        """The slot of the thread that has got the turn from another thread; 0 if the thread that got it from the server
        still has it.
        """
        running: int = self._words[_RUNNING]
        return running

    @property
    def was_handed_on(self) -> bool:
        """Whether a thread has given the turn to another one, and the server has not been told yet."""
        return self._words[_RUNNING] != 0

    @property
    def siblings_are_ready(self) -> bool:
        """Whether threads wait for the turn to which another thread may give it without the server."""
        return self._words[_SIBLINGS_READY] != 0

    # Threads that compute without a call

    def demand_back(self) -> None:
        """Ask the thread that has the turn to give it back, when it gets the signal that the server sends next."""
        self._words[_PREEMPT] = 1

    def demand_no_more(self) -> None:
        """Withdraw the demand for the turn, so that a signal that arrives late has no effect."""
        self._words[_PREEMPT] = 0

    def is_to_charge(self, slot: int) -> bool:
        """Return whether the thread with a slot has not noticed yet that its CPU time passes in virtual time
        (`charge_computing`).
        """
        return slot != 0 and self._words[_COMPUTING_SLOT] == slot

    def charge_computing(self, slot: int, since_ns: int) -> None:
        """Until the turn ends, let the CPU time of the thread with a slot pass in virtual time, as far as its process
        uses more CPU time than `since_ns`. The thread's shim notices this when the thread next reads the clock.
        """
        words = self._words
        words[_COMPUTING_SINCE], words[_COMPUTING_SLOT] = since_ns, slot
