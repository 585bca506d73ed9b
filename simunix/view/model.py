"""What the live page knows of a run: clock, hosts, jobs, faults, what was done by hand; and what of that a browser lacks.

Invariant: a browser is told what holds now, never a queue of what has happened. For each browser the page keeps one number, up
to which change the browser has been told; a slow browser misses moments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import trio

PENDING, RUNNING, REJECTED = "PENDING", "RUNNING", "REJECTED"
FAULTS_MOST = 10_000
"""How many faults the page keeps; of a run with more, the latest."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job: moments in seconds of the run, None while unknown; `nodes` as the RJMS writes them, `name` the trace's number."""

    key: str
    name: str = ""
    state: str = PENDING
    submitted_s: float | None = None
    started_s: float | None = None
    ended_s: float | None = None
    nodes: str = ""
    cores: int | None = None

    def row(self) -> list[object]:
        """The job as the page gets it."""
        moments = [None if at is None else round(at, 3) for at in (self.submitted_s, self.started_s, self.ended_s)]
        return [self.key, self.name, self.state, *moments, self.nodes, self.cores]


@dataclass(slots=True)
class Latest:
    """Values by name, each with the number of its last change; iterated from the last change back."""

    _values: dict[str, tuple[Any, int]] = field(default_factory=dict)

    def get(self, name: str) -> Any:
        """The value of a name; None if there is none."""
        found = self._values.get(name)
        return None if found is None else found[0]

    def put(self, name: str, value: Any, change: int) -> None:
        """Set a value. Changes have rising numbers."""
        self._values.pop(name, None)
        self._values[name] = (value, change)

    def since(self, change: int) -> Iterator[tuple[str, Any]]:
        """The names and values that have changed after a change, the latest first."""
        for name, (value, number) in reversed(self._values.items()):
            if number <= change:
                return
            yield name, value

    def clear(self) -> None:
        """Forget all."""
        self._values.clear()


class Model:
    """The state of the page. `facts` are what never changes in a run: its name, clusters, hosts."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.facts = facts
        self.clock: dict[str, Any] = {"virtual_s": 0.0, "paused": False, "pace": None, "speed": None}
        self.status = "waiting"
        """waiting (for the run to begin), running, ending (results are being written), ended."""
        self.status_text = ""
        self.faults: list[tuple[int, dict[str, Any]]] = []
        self._hosts, self._jobs, self._actions = Latest(), Latest(), Latest()
        self._change = 1  # 0 is what a browser knows at first
        self._fresh = trio.Event()

    def _next(self) -> int:
        self._change += 1
        return self._change

    def tell(self) -> None:
        """Wake those that wait for news."""
        self._fresh.set()
        self._fresh = trio.Event()

    async def news(self) -> None:
        """Wait until something has changed."""
        await self._fresh.wait()

    def set_status(self, status: str, text: str = "") -> None:
        """Say how far the run is."""
        self.status, self.status_text = status, text
        self.tell()

    def set_clock(self, **values: Any) -> None:
        """Set what the clock shows."""
        self.clock |= values
        self.tell()

    def set_host(self, name: str, power: str, processes: int) -> None:
        """Set what is known of a host."""
        if self._hosts.get(name) != [power, processes]:
            self._hosts.put(name, [power, processes], self._next())

    def set_job(self, key: str, change: Callable[[Job], Job]) -> None:
        """Change what is known of a job, which may be new."""
        before = self._jobs.get(key)
        after = change(before or Job(key))
        if after != before:
            self._jobs.put(key, after, self._next())

    def replace_jobs(self, jobs: list[Job]) -> None:
        """Replace all jobs, by those of a run that has ended."""
        self._jobs.clear()
        for job in jobs:
            self._jobs.put(job.key, job, self._next())

    def note_fault(self, fault: dict[str, Any]) -> None:
        """Note what has happened to the machine."""
        self.faults.append((self._next(), fault))
        del self.faults[:-FAULTS_MOST]

    def note_action(self, number: int, action: dict[str, Any]) -> None:
        """Note what was done by hand, by its number, from 1; again when more is known of it."""
        self._actions.put(f"{number}", {"number": number, **action}, self._next())
        self.tell()

    def message(self, since: int) -> tuple[dict[str, Any], int]:
        """What a browser lacks that was told all changes up to `since` (0: all); and up to which change it is told by that."""
        told: dict[str, Any] = {
            "status": self.status,
            "text": self.status_text,
            "clock": self.clock,
            "hosts": dict(self._hosts.since(since)),
            "jobs": [job.row() for _, job in self._jobs.since(since)],
            "faults": list(reversed([fault for number, fault in _latest(self.faults, since)])),
            "actions": [action for _, action in self._actions.since(since)],
        }
        if not since:
            told["facts"] = self.facts
        return told, self._change


def _latest(entries: list[tuple[int, dict[str, Any]]], since: int) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, entry in reversed(entries):
        if number <= since:
            return
        yield number, entry
