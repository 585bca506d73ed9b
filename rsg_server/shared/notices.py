"""Words in shared memory that save messages: each word says whether the shims must ask the server, or report to the
server, something.

`Notices` are about processes, queues and files; those about devices are in rsg_server.shared.devices.
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
    """The words by which shims know what they must ask or report, and the signals that the shims have reported."""

    def __init__(self, words: memoryview) -> None:
        self._words = words
        self._cgroup_moves = 0  # counted here and not read from shared memory, where an emulated process may write any number

    def tell_storage_conditions(self, count: int) -> None:
        """Tell the shims how many storages are read-only, full or failing.

        If the number is 0, a thread that writes to a storage need not ask the server.
        """
        self._words[_STORAGE_CONDITIONS] = count

    def tell_exclusive_files(self) -> None:
        """Tell the shims that threads wait for files of the kernel with EPOLLEXCLUSIVE.

        From now on the shims report each write.
        """
        self._words[_EXCLUSIVE_FILES] = 1

    def tell_queue_notifies(self, count: int) -> None:
        """Tell the shims for how many POSIX message queues a process wants a signal.

        If the number is 0, the shims do not report messages to queues.
        """
        self._words[_QUEUE_NOTIFIES] = count

    def tell_tracees(self, count: int) -> None:
        """Tell the shims how many threads are traced, or have ended before their tracer asked.

        If the number is 0, a thread that calls wait(2) need not ask the server.
        """
        self._words[_TRACEES] = count

    def tell_trace_news(self, count: int) -> None:
        """Tell the shims how many traced threads must stop and do not know it yet.

        While the number is above 0, threads ask the server before they go on.
        """
        self._words[_TRACE_NEWS] = count

    def tell_cgroup_moves(self) -> None:
        """Tell the shims that a process moved to another cgroup, or that a cgroup changed the controllers for its children."""
        self._cgroup_moves += 1
        self._words[_CGROUP_MOVES] = self._cgroup_moves

    @property
    def signals_from_outside(self) -> int:
        """A mask of signals, the lowest bit for signal 1: a process has run a handler for such a signal, although no
        process of its host has sent the signal.
        """
        signals: int = self._words[_FROM_OUTSIDE]
        return signals
