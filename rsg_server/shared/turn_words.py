"""The words by which server and shims share the state of the current turn: who has it, who may be woken, how it ends.

The shims may hand the turn on without the server: to threads of the holder's process, or with `remote_handoffs` to other
processes.
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
    """The words of the current turn. The shims write here as well: no slot is trusted to be an actor's."""

    def __init__(self, words: memoryview) -> None:
        self._words = words
        words[_SLICE] = FOREVER_NS

    def end_at(self, moment_ns: int) -> None:
        """End the turn with the first call from a moment on, even if no other actor is ready."""
        self._words[_SLICE] = moment_ns

    def end_when_it_waits(self) -> None:
        """Let the turn last until its holder waits for something."""
        self._words[_SLICE] = FOREVER_NS

    @property
    def may_have_woken(self) -> bool:
        """Whether something in this turn may have made another actor ready, so that the server has to look."""
        return self._words[_MAY_HAVE_WOKEN] != 0

    # Hand-offs

    @property
    def runner_slot(self) -> int:
        """The slot of the thread to which the turn was handed on; 0 if the holder still has the turn from the server."""
        running: int = self._words[_RUNNING]
        return running

    @property
    def was_handed_on(self) -> bool:
        """Whether the turn was handed on to another thread, and the server has not yet been informed."""
        return self._words[_RUNNING] != 0

    @property
    def siblings_are_ready(self) -> bool:
        """Whether threads wait for the turn to which it may be handed on without the server."""
        return self._words[_SIBLINGS_READY] != 0

    # Computing without a call

    def demand_back(self) -> None:
        """Ask the runner for the turn: the signal that the server is about to send then makes the runner give it back."""
        self._words[_PREEMPT] = 1

    def demand_no_more(self) -> None:
        """End the demand for the turn, so that a signal that comes late changes nothing."""
        self._words[_PREEMPT] = 0

    def is_to_charge(self, slot: int) -> bool:
        """Whether the thread with a slot has not yet noted that its CPU time passes (`charge_computing`)."""
        return slot != 0 and self._words[_COMPUTING_SLOT] == slot

    def charge_computing(self, slot: int, since_ns: int) -> None:
        """Make CPU time of the thread with a slot pass in virtual time, as far as its process uses more than `since_ns`.

        The shim takes note when the thread next reads the clock, until the turn ends.
        """
        words = self._words
        words[_COMPUTING_SINCE], words[_COMPUTING_SLOT] = since_ns, slot
