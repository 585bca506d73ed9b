"""What the server and the shims tell each other of the turn that runs: who has it, whom it may have woken, how it ends.

The shims may hand the turn on without the server: to siblings of the holder, or with `remote_handoffs` to other processes.
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
    """The words of the turn that runs. The shims write here as well: no slot is trusted to be an actor's."""

    def __init__(self, words: memoryview) -> None:
        self._words = words
        words[_SLICE] = FOREVER_NS

    def end_at(self, moment_ns: int) -> None:
        """Have the turn end with the first call from a moment on, whoever else is ready."""
        self._words[_SLICE] = moment_ns

    def end_when_it_waits(self) -> None:
        """Let the turn last until its holder waits."""
        self._words[_SLICE] = FOREVER_NS

    @property
    def may_have_woken(self) -> bool:
        """Whether something in this turn may have made another actor ready, so that the server has to look."""
        return self._words[_MAY_HAVE_WOKEN] != 0

    # Hand-offs

    @property
    def runner_slot(self) -> int:
        """The slot of the thread that a hand-off has given the turn to; 0: the holder has the turn from the server."""
        running: int = self._words[_RUNNING]
        return running

    @property
    def was_handed_on(self) -> bool:
        """Whether a hand-off has given the turn to another thread, and the server has not been told yet."""
        return self._words[_RUNNING] != 0

    @property
    def siblings_are_ready(self) -> bool:
        """Whether threads to which the turn may be handed without the server wait for it."""
        return self._words[_SIBLINGS_READY] != 0

    # Computing without a call

    def demand_back(self) -> None:
        """Have the signal that the server is about to send make the runner give the turn back."""
        self._words[_PREEMPT] = 1

    def demand_no_more(self) -> None:
        """End the demand for the turn: a signal that comes late changes nothing."""
        self._words[_PREEMPT] = 0

    def is_to_charge(self, slot: int) -> bool:
        """Whether the thread with a slot has still to take note that its CPU time passes (`charge_computing`)."""
        return slot != 0 and self._words[_COMPUTING_SLOT] == slot

    def charge_computing(self, slot: int, since_ns: int) -> None:
        """Have the CPU time of the thread with a slot pass in virtual time, from that CPU time of its process on.

        The shim takes note when the thread next reads the clock, until the turn ends.
        """
        words = self._words
        words[_COMPUTING_SINCE], words[_COMPUTING_SLOT] = since_ns, slot
