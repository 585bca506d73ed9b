"""Report on the terminal which jobs the RJMS refused: how many for each reason, and the first such jobs with their
lines in the trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from simunix.results.jobs_csv import JobRow
from simunix.workload.formats.places import lines_of

REASONS = 5
JOBS = 3
"""The number of reasons that are reported, and the number of jobs that are named for each reason. jobs.csv has all
refused jobs.
"""


_NAME = re.compile(r"\d+[_+]\d+; ")
"""The identifier of an element of a job array or of a component of a heterogeneous job, with which the metadata of its
row begins.
"""


def refused_lines(rows: Sequence[JobRow], traces: Mapping[str, Path]) -> Iterator[str]:
    """Yield a line of text for each reason for which the RJMS refused jobs, the most frequent reason first.

    `traces` has the trace file of each workload, by the workload's name.
    """
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
    """Return the file and the line of each of these jobs in its trace, or the workload's name for a job without a trace
    file.
    """
    found = {(row.workload_name, row.job_id): row.workload_name for row in rows}
    for label, trace in traces.items():
        lines = lines_of(trace, [job for workload, job in found if workload == label])
        found |= {(label, job): f"{trace}:{line}" for job, line in lines.items()}
    return found
