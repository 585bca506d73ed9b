"""Turn the records of a trace into jobs for a cluster: cut out a window, scale sizes, and fill in unknown values."""

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
    """Which jobs of a trace are taken, and how they are scaled.

    At most `max_jobs` jobs submitted in [begin_s, end_s) are taken. One processor of the trace becomes `processors`
    cores; requested times are multiplied by `margin`.
    """

    begin_s: float = 0.0
    end_s: float = math.inf
    max_jobs: int | None = None
    processors: int = 1
    margin: float = 1.0


def select_jobs(records: Sequence[SwfRecord], selection: Selection) -> tuple[list[Job], list[SkippedJob]]:
    """Return the selected jobs, and the records that cannot be submitted, in the order of the file.

    Jobs are in the order of submission (of equal moments, in the order of the file); times count from the window's beginning.
    """
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
    """Return the reason why a record cannot become a job; None if it can."""
    if record.submit_s < 0:
        return "submit time unknown"
    if record.runtime_s < 0 and record.requested_s < 0:
        return "neither run time nor requested time is known"
    if record.requested <= 0 and record.allocated <= 0:
        return "neither requested nor allocated processors are known"
    return None


def to_job(record: SwfRecord, selection: Selection) -> Job:
    """Convert a record to a job. An unknown number of requested processors is replaced by the allocated number.

    An unknown run time is replaced by the requested time, and an unknown requested time by the run time.
    """
    processors = record.requested if record.requested > 0 else record.allocated
    runtime = record.runtime_s if record.runtime_s >= 0 else record.requested_s
    requested = record.requested_s if record.requested_s >= 0 else runtime
    return Job(
        id=record.job,
        submit_s=record.submit_s - selection.begin_s,
        runtime_s=runtime,
        requested_s=requested * selection.margin,
        cores=processors * selection.processors,
        user=record.user,
        group=record.group,
        executable=record.executable,
        queue=record.queue,
        partition=record.partition,
        preceding=record.preceding,
        think_s=record.think_s,
        wait_s=record.wait_s,
    )
