"""Finds the failures of a run in the run's folder, and gives failures of one kind one name (the signature) in all runs."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simunix.results.run_json import read_record
from simunix.scenario.model import Scenario

CRASHES = {
    number.value: number.name
    for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP, signal.SIGSYS)
}
"""Signals by which the kernel, or a program itself, ends a program that has gone wrong."""
DEADLOCK = "virtual time stopped"
"""The beginning of the report of a deadlock (rsg_server.diagnosis.stalls)."""
UNFINISHED_JOBS = ("UNFINISHED", "UNKNOWN")
SANITIZER = re.compile(r"(ERROR: (\w+Sanitizer): [\w-]+|runtime error: .*|WARNING: (\w+Sanitizer): [\w -]+)")


@dataclass(frozen=True, slots=True)
class Finding:
    """A failure: its `kind`, its place `where` (a program, a check), what happened, and its virtual time if that is known."""

    kind: str
    where: str
    text: str
    at_ns: int | None = None

    @property
    def signature(self) -> str:
        """A text that is equal for failures that are assumed to have one cause: kind, place, and the message without
        moments and long numbers. A failed check has one signature, whatever a process has written.
        """
        if self.kind == "check":
            return f"check: {self.where}"
        text = re.sub(r" at [0-9.]+ s\b.*", "", self.text)
        text = re.sub(r"0x[0-9a-f]+|[0-9]{4,}|(?<=\[)[0-9]+(?=[],])|[0-9]+\.[0-9]+", "#", text)
        return f"{self.kind}: {self.where}: {text}" if self.where else f"{self.kind}: {text}"

    def as_json(self) -> dict[str, Any]:
        """Return the finding in the form in which files contain it."""
        return {"kind": self.kind, "where": self.where, "text": self.text, "at_ns": self.at_ns, "signature": self.signature}


def findings(folder: Path, scenario: Scenario) -> list[Finding]:
    """Return all failures of a run that has ended, the most telling kind first."""
    record = read_record(folder / "run.json")
    return [
        *_crashes(folder / "events.jsonl"),
        *_sanitizers(folder / "hosts"),
        *_of_record(record),
        *_unfinished(record, scenario),
    ]


def _crashes(events: Path) -> Iterator[Finding]:
    with events.open() as lines:
        for line in lines:
            if '"process_exit"' not in line:
                continue
            event = json.loads(line)
            name = CRASHES.get((event.get("status") or 0) & 0x7F)
            if name is not None:
                program = str(event["program"]).rpartition("/")[2]
                yield Finding("crash", program, f"{program} on {event['host']} was ended by {name}", event["t"])


def _sanitizers(hosts: Path) -> Iterator[Finding]:
    for file in sorted(hosts.glob("*/*.err")):
        match = SANITIZER.search(file.read_text(errors="replace"))
        if match is not None:
            yield Finding("sanitizer", file.stem, match[0])


def _of_record(record: dict[str, Any]) -> Iterator[Finding]:
    failure = record.get("failure")
    if failure:
        first = str(failure).splitlines()[0]
        kind = "deadlock" if first.startswith(DEADLOCK) else "failed"
        yield Finding(kind, "", first, _moment(first))
    for text in record.get("failed_checks") or []:
        name, _, what = str(text).partition(": ")
        yield Finding("check", name, what)
    for text in record.get("failed_processes") or []:
        host, _, what = str(text).partition(": ")
        name = what.split(" ", 1)[0]
        kind = "check" if name.startswith("check-") else "process"
        yield Finding(kind, name, f"on {host}: {what}", _moment(what))


def _moment(text: str) -> int | None:
    match = re.search(r" at ([0-9]+\.[0-9]+) s\b", text)
    return int(float(match[1]) * 1e9) if match else None


def _unfinished(record: dict[str, Any], scenario: Scenario) -> Iterator[Finding]:
    """Yield a failure if processes that decide the end of the run have not ended, and one if jobs have not ended."""
    if record.get("ended") == "time limit" and scenario.stop != ("time",):
        waits = "its workload" if scenario.workload and scenario.stop is None else "its processes"
        yield Finding("unfinished", "", f"{waits} had not ended when the time of the run was over (until)")
    lost = sum(count for state, count in (record.get("jobs") or {}).items() if state in UNFINISHED_JOBS)
    if lost and record.get("ended") != "time limit" and not record.get("failure"):
        yield Finding("job", "", f"{lost} submitted jobs of which the RJMS has recorded no end")
