"""Jobs that the RJMS did not take, on the terminal: how many for each reason, and where the first stand in the trace."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from simunix.results.jobs_csv import JobRow
from simunix.workload.formats.places import lines_of

REASONS = 5
JOBS = 3
"""How many reasons are told, and how many jobs of each; jobs.csv has all."""


_NAME = re.compile(r"\d+[_+]\d+; ")
"""An element's or component's own name, with which its metadata begins."""


def refused_lines(rows: Sequence[JobRow], traces: Mapping[str, Path]) -> Iterator[str]:
    """A line for each reason, the most frequent first; `traces` has the file of each workload."""
    by_reason: dict[str, list[JobRow]] = {}
    for row in rows:
        if row.final_state == "REJECTED":
            by_reason.setdefault(_NAME.sub("", row.metadata, count=1), []).append(row)
    reasons = sorted(by_reason.items(), key=lambda each: -len(each[1]))
    places = _places([row for _, jobs in reasons[:REASONS] for row in jobs[:JOBS]], traces)
    for reason, jobs in reasons[:REASONS]:
        more = f" and {len(jobs) - JOBS:,} more" if len(jobs) > JOBS else ""
        count = f"{len(jobs):,} job{'s' if len(jobs) > 1 else ''} refused"
        named = ", ".join(f"job {row.job_id} ({places[row.workload_name, row.job_id]})" for row in jobs[:JOBS])
        yield f"{count}: {named}{more}: {reason}"
    if len(reasons) > REASONS:
        rest = sum(len(jobs) for _, jobs in reasons[REASONS:])
        yield f"{rest:,} jobs refused for {len(reasons) - REASONS:,} other reasons: metadata in jobs.csv has each"


def _places(rows: Sequence[JobRow], traces: Mapping[str, Path]) -> dict[tuple[str, int], str]:
    """File and line of each of these jobs, or its workload alone."""
    found = {(row.workload_name, row.job_id): row.workload_name for row in rows}
    for label, trace in traces.items():
        lines = lines_of(trace, [job for workload, job in found if workload == label])
        found |= {(label, job): f"{trace}:{line}" for job, line in lines.items()}
    return found
