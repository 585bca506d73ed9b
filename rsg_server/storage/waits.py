"""Measures for how long groups of processes have waited for storages.

Processes belong to one group if an environment variable has the same value in all of them, and their hosts are of one
group. The measured time is the time in which at least one thread of the group waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Label = tuple[str, str]
"""A group of processes: the group of its hosts, and the value of the variable."""


class Process(Protocol):
    """The part of a process that this module uses, to look up the process's environment."""

    @property
    def number(self) -> int: ...
    @property
    def images(self) -> int: ...
    @property
    def global_pid(self) -> int: ...
    @property
    def host_name(self) -> str: ...


@dataclass(slots=True)
class Waited:
    """How many threads of a group wait, since when at least one of them waits, and the total time of earlier waits."""

    count: int = 0
    since_ns: int = 0
    total_ns: int = 0


class StorageWaits:
    """Counts the waits on hosts that are in a group, by the value of the group's variable; without groups, none."""

    def __init__(self, groups: Mapping[str, str] | None = None, variables: Mapping[str, str] | None = None) -> None:
        self._groups = groups or {}  # by host
        self._variables = variables or {}  # by group
        # by process, and by the number of programs that the process has run
        self._labels: dict[tuple[int, int], Label | None] = {}
        self._waiting: dict[int, Label] = {}  # by waiter
        self._waited: dict[Label, Waited] = {}

    @property
    def counts(self) -> bool:
        """Whether any waits are counted."""
        return bool(self._groups)

    def begins(self, waiter: int, process: Process, now_ns: int) -> None:
        """Note that a thread of a process begins to wait for a storage."""
        label = self.label(process)
        if label is None:
            return
        self._waiting[waiter] = label
        waited = self._waited.setdefault(label, Waited())
        if not waited.count:
            waited.since_ns = now_ns
        waited.count += 1

    def ends(self, waiter: int, now_ns: int) -> None:
        """Note that a thread does not wait any more; nothing happens if the thread did not wait."""
        label = self._waiting.pop(waiter, None)
        if label is None:
            return
        waited = self._waited[label]
        waited.count -= 1
        if not waited.count:
            waited.total_ns += now_ns - waited.since_ns

    def label(self, process: Process) -> Label | None:
        """Return the label of a process, which is looked up once for each program that the process runs."""
        if not self._groups:
            return None
        key = (process.number, process.images)
        if key not in self._labels:
            self._labels[key] = self._look_up(process)
        return self._labels[key]

    def _look_up(self, process: Process) -> Label | None:
        group = self._groups.get(process.host_name)
        name = self._variables.get(group, "") if group is not None else ""
        if group is None or not name:
            return None
        try:
            words = Path(f"/proc/{process.global_pid}/environ").read_bytes().split(b"\0")
        except OSError:  # the process has just ended
            return None
        prefix = f"{name}=".encode()
        value = next((word.removeprefix(prefix) for word in words if word.startswith(prefix)), None)
        return None if value is None else (group, value.decode(errors="replace"))

    def totals(self, now_ns: int) -> dict[Label, int]:
        """Return nanoseconds by group and value, including waits that have not ended."""
        return {
            label: waited.total_ns + (now_ns - waited.since_ns if waited.count else 0) for label, waited in self._waited.items()
        }
