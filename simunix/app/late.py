"""Warnings, before a run starts, about processes, events and jobs that the scenario sets for a moment after the end of
the run.
"""

from __future__ import annotations

from collections.abc import Iterator

from simunix.planning.expand import Expansion
from simunix.scenario.model import ProcessSection, Scenario

NAMED = 5
"""At most this many late processes, and this many late events, are named in a warning; the others are only counted."""
NS = 10**9


def late_lines(scenario: Scenario, expansion: Expansion, until_ns: int | None, said_by: str = "until") -> tuple[str, ...]:
    """Return a warning for each process and event that is due at `until_ns` or later, and one for each workload with
    jobs submitted then.

    `until_ns` is the end of the run in virtual nanoseconds, None if the run has no such end. `said_by` is the name of
    the key or option that sets the end of the run.
    """
    if until_ns is None:
        return ()
    end = f"and the run ends at {_moment(until_ns)} ({said_by})"
    processes = _processes(scenario, until_ns)
    events = (
        (f"events[{index}].at", f"happens at {_moment(event.at)}")
        for index, event in enumerate(scenario.events)
        if event.at >= until_ns
    )
    return (
        *_named(scenario, list(processes), f"{end}: it never starts", "processes"),
        *_named(scenario, list(events), f"{end}: it never happens", "events"),
        *_jobs(scenario, expansion, until_ns, end),
    )


def _processes(scenario: Scenario, until_ns: int) -> Iterator[tuple[str, str]]:
    """Yield, for each process and actor that starts at `until_ns` or later, its key in the scenario and the text of its
    start.
    """
    sections: dict[str, list[ProcessSection]] = {"processes": scenario.processes, "actors": [*scenario.actors]}
    for key, found in sections.items():
        for index, section in enumerate(found):
            if section.start >= until_ns:
                yield f"{key}[{index}].start", f"{section.name} starts at {_moment(section.start)}"


def _named(scenario: Scenario, late: list[tuple[str, str]], end: str, noun: str) -> Iterator[str]:
    for key, what in late[:NAMED]:
        yield f"{_where(scenario, key)}: {what}, {end}"
    if len(late) > NAMED:
        yield f"{len(late) - NAMED:,} more {noun} are that late"


def _jobs(scenario: Scenario, expansion: Expansion, until_ns: int, end: str) -> Iterator[str]:
    for index, workload in enumerate(expansion.workloads):
        late = sum(workload.section.start + job.submit_s * NS >= until_ns for job in workload.jobs)
        if late:
            key = f"workload[{index}].trace" if len(expansion.workloads) > 1 else "workload.trace"
            jobs = f"{late:,} of {len(workload.jobs):,} jobs come too late"
            yield f"{_where(scenario, key)}: {jobs}, {end}: they are not submitted"


def _where(scenario: Scenario, key: str) -> str:
    """Return a key of a scenario, with the file and line where the key stands if the scenario was read from a file."""
    place = scenario.place_of_key(key)
    return key if place is None else f"{place}: {key}"


def _moment(ns: int) -> str:
    return f"{ns / NS:,.9f}".rstrip("0").rstrip(".") + " s"
