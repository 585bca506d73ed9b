"""The result of one run of a test's cluster: virtual time, events, digest, outputs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simunix.results.jobs_csv import JobRow


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """The result of a run. `ended` is "done", "time limit", or another reason. `waiting` says, for each process alive
    at the end, what it waited for.
    """

    directory: Path
    ended: str
    virtual_s: float
    digest: str
    is_deterministic: bool
    turns: int = 0
    warnings: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    jobs: tuple[JobRow, ...] = ()

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Return the events of the event log, or those of one `kind`; `t` of an event is nanoseconds of virtual time."""
        lines = (self.directory / "events.jsonl").read_text().splitlines()
        return [event for event in map(json.loads, lines) if kind in (None, event["event"])]
