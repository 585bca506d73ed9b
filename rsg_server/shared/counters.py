"""The counts that the shims of all processes keep in shared memory for the whole run."""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import PAGE_FIELDS

_CLOCK_READS: Final = PAGE_FIELDS["clock_reads"]
_TRAPS: Final = PAGE_FIELDS["traps"]
_PRELOADED: Final = PAGE_FIELDS["preloaded"]
_OF_RECORD: Final = {
    "local_sleeps": PAGE_FIELDS["local_sleeps"],
    "steps": PAGE_FIELDS["handoffs"],
    "clock_reads": _CLOCK_READS,
    "traps": _TRAPS,
    "preloaded_calls": _PRELOADED,
    "messages": PAGE_FIELDS["messages"],
}
"""The place in shared memory of each count, by its name in run.json."""


class Counters:
    """The counts of calls, clock reads, turns given without the server, and messages. Only the shims write these counts."""

    def __init__(self, words: memoryview) -> None:
        self._words = words

    @property
    def clock_reads(self) -> int:
        """How often all actors have read the clock."""
        reads: int = self._words[_CLOCK_READS]
        return reads

    @property
    def system_calls(self) -> int:
        """How many calls, without clock reads, all actors have made."""
        words = self._words
        calls: int = words[_TRAPS] + words[_PRELOADED]
        return calls

    @property
    def calls(self) -> int:
        """How many calls and clock reads all actors have made. Computing does not change this number."""
        return self.system_calls + self.clock_reads

    def of_record(self) -> dict[str, int]:
        """Return all counts, by their names in run.json."""
        return {name: self._words[word] for name, word in _OF_RECORD.items()}
