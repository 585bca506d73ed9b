"""What the shims need to know to spare the server messages: each word says whether there is anything to ask or to tell.

`Notices` are about processes, queues and files; `rsg_server.shared.devices` has those about devices.
"""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import PAGE_FIELDS

_CGROUP_MOVES: Final = PAGE_FIELDS["cgroup_moves"]
_EXCLUSIVE_FILES: Final = PAGE_FIELDS["exclusive_files"]
_FROM_OUTSIDE: Final = PAGE_FIELDS["from_outside"]
_QUEUE_NOTIFIES: Final = PAGE_FIELDS["queue_notifies"]
_STORAGE_CONDITIONS: Final = PAGE_FIELDS["storage_conditions"]
_TRACE_NEWS: Final = PAGE_FIELDS["trace_news"]
_TRACEES: Final = PAGE_FIELDS["tracees"]


class Notices:
    """Counts of what the shims have to ask about, and the signals of which they have told."""

    def __init__(self, words: memoryview) -> None:
        self._words = words
        self._cgroup_moves = 0  # not read back: an emulated process may have written any number there

    def tell_storage_conditions(self, count: int) -> None:
        """Tell the shims how many storages are read-only, full or failing: with none, a thread that writes need not ask."""
        self._words[_STORAGE_CONDITIONS] = count

    def tell_exclusive_files(self) -> None:
        """Tell the shims that threads wait for files of the kernel with EPOLLEXCLUSIVE: each write is told from now on."""
        self._words[_EXCLUSIVE_FILES] = 1

    def tell_queue_notifies(self, count: int) -> None:
        """Tell the shims of how many POSIX message queues a process wants a signal: with none, no send is told."""
        self._words[_QUEUE_NOTIFIES] = count

    def tell_tracees(self, count: int) -> None:
        """Tell the shims how many threads are traced, or have ended without their tracer having asked: wait(2) asks then."""
        self._words[_TRACEES] = count

    def tell_trace_news(self, count: int) -> None:
        """Tell the shims how many traced threads are to stop and do not know yet: these look before they go on."""
        self._words[_TRACE_NEWS] = count

    def tell_cgroup_moves(self) -> None:
        """Tell the shims that a process has come into another cgroup, or that some cgroup passes on other controllers."""
        self._cgroup_moves += 1
        self._words[_CGROUP_MOVES] = self._cgroup_moves

    @property
    def signals_from_outside(self) -> int:
        """The signals that handlers were entered for and that no process of their host has sent, a bit each, signal 1 first."""
        signals: int = self._words[_FROM_OUTSIDE]
        return signals
