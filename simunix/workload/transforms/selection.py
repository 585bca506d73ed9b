"""From records of a trace to jobs for a cluster: a window of it, sizes scaled, unknown values decided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simunix.workload.job import Job, SkippedJob

if TYPE_CHECKING:
    from simunix.workload.formats.swf import SwfRecord


@dataclass(frozen=True, slots=True)
class Selection:
    """`begin_s` and `end_s` cut by submit time; a processor of the trace becomes `processors` cores."""

    begin_s: float = 0.0
    end_s: float = math.inf
    max_jobs: int | None = None
    processors: int = 1
    margin: float = 1.0


def select_jobs(records: Sequence[SwfRecord], selection: Selection) -> tuple[list[Job], list[SkippedJob]]:
    """Jobs in the order of their submission (ties: of the file), times from the window's begin; and what cannot be run."""
    jobs: list[Job] = []
    skipped: list[SkippedJob] = []
    for record in records:
        if record.submit_s >= 0 and not selection.begin_s <= record.submit_s < selection.end_s:
            continue
        reason = unusable(record)
        if reason is not None:
            skipped.append(SkippedJob(record.job, record.submit_s, reason))
        else:
            jobs.append(to_job(record, selection))
    jobs.sort(key=lambda job: job.submit_s)
    return jobs[: selection.max_jobs], skipped


def unusable(record: SwfRecord) -> str | None:
    """Why a record cannot become a job; None if it can."""
    if record.submit_s < 0:
        return "submit time unknown"
    if record.runtime_s < 0 and record.requested_s < 0:
        return "neither run time nor requested time is known"
    if record.requested <= 0 and record.allocated <= 0:
        return "neither requested nor allocated processors are known"
    return None


def to_job(record: SwfRecord, selection: Selection) -> Job:
    """Unknown values: size as allocated, run time as requested, requested time as the run time needed."""
    processors = record.requested if record.requested > 0 else record.allocated
    runtime = record.runtime_s if record.runtime_s >= 0 else record.requested_s
    requested = record.requested_s if record.requested_s >= 0 else runtime
    return Job(
        record.job,
        record.submit_s - selection.begin_s,
        runtime,
        requested * selection.margin,
        processors * selection.processors,
        record.user,
        record.group,
        record.executable,
        record.queue,
        record.partition,
        record.preceding,
        record.think_s,
        record.wait_s,
    )
