"""jobs.csv: one row per job of the workload, with Batsim's column names, from the RJMS's own accounting.

Times are seconds of virtual time since the start of the run; unknown ones are empty. Columns as in
https://batsim.readthedocs.io/en/latest/output-jobs.html, but for `final_state`, which is the RJMS's own word, and five more at
the end: `allocated_hosts`, the node list as the RJMS writes it, `allocated_cores`, how many cores it counted, `suspended_time`,
for how long the job was suspended by its own log (docs/guide/jobs.md), nothing if it says nothing, which is not part of
`execution_time`, and `user` and `account`, which the RJMS recorded (empty where it has no record).
`allocated_resources` are those cores by their numbers in machines.csv (`simunix.results.machines` chooses them).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from simunix.rjms.slurm.accounting import CompletedJob
from simunix.rjms.slurm.clients import job_name, time_limit_min
from simunix.workload.job import Job, SkippedJob

TAU_S = 10.0
"""Bound of the bounded slowdown (Feitelson: Metrics for parallel job scheduling and their convergence, JSSPP 2001)."""


@dataclass(frozen=True, slots=True)
class JobRow:
    """A row of jobs.csv; None is written as nothing."""

    job_id: int
    workload_name: str
    profile: str
    submission_time: float | None
    requested_number_of_resources: int
    requested_time: float
    success: int
    final_state: str
    starting_time: float | None = None
    execution_time: float | None = None
    finish_time: float | None = None
    waiting_time: float | None = None
    turnaround_time: float | None = None
    stretch: float | None = None
    allocated_resources: str = ""
    consumed_energy: str = ""
    metadata: str = ""
    allocated_hosts: str = ""
    allocated_cores: int = 0
    suspended_time: float | None = None
    user: str = ""
    account: str = ""

    @property
    def bounded_slowdown(self) -> float | None:
        """max(1, turnaround / max(run time, TAU_S)); None if it did not finish."""
        if self.turnaround_time is None or self.execution_time is None:
            return None
        return max(1.0, self.turnaround_time / max(self.execution_time, TAU_S))


@dataclass(frozen=True, slots=True)
class Submission:
    """A row of submissions.csv: what the submitter saw. `number` is None if the job was refused, or its client tells none."""

    id: int
    submitted_s: float
    number: str | None
    message: str


def read_submissions(path: Path) -> dict[int, Submission]:
    """By the trace's job id; empty if nothing was submitted. A last line cut off by a crash is left out."""
    found: dict[int, Submission] = {}
    if not path.exists():
        return found
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["message"] is None:
                continue
            id = int(row["id"])
            moment = found[id].submitted_s if id in found else float(row["submitted_s"])  # a second row: the client has failed
            found[id] = Submission(id, moment, row["job_number"] or None, row["message"])
    return found


def make_rows(
    workload: str,
    jobs: Iterable[Job],
    skipped: Iterable[SkippedJob],
    submissions: Mapping[int, Submission],
    completed: Mapping[str, CompletedJob],
    origin_s: float,
    epoch_s: float,
    suspended: Mapping[int, float] | None = None,
) -> list[JobRow]:
    """Every job is accounted for. `origin_s` is when submission began (seconds of the run), `epoch_s` the run's start.

    `suspended` are seconds by the RJMS's number of the job.
    """
    found = {job.id: submissions.get(job.id) for job in jobs}
    by_name = {done.name: done for done in completed.values()}
    done_of = {
        id: completed.get(submission.number) if submission.number else by_name.get(job_name(id))
        for id, submission in found.items()
        if submission is not None
    }
    rows = [_named(job, _row(workload, job, found[job.id], done_of.get(job.id), origin_s, epoch_s)) for job in jobs]
    if suspended:
        numbers = {id: done.number for id, done in done_of.items() if done is not None}
        rows = [_suspended(row, suspended.get(numbers.get(row.job_id, -1), 0.0)) for row in rows]
    rows += [JobRow(job.id, workload, "", None, 0, -1, 0, "SKIPPED", metadata=job.reason) for job in skipped]
    return rows


def _suspended(row: JobRow, seconds: float) -> JobRow:
    """Seconds of suspension are no run time; the accounting's whole seconds may leave less than none of it."""
    if not seconds or row.execution_time is None or row.turnaround_time is None:
        return row
    run_s = max(0.0, row.execution_time - seconds)
    stretch = row.turnaround_time / run_s if run_s > 0 else None
    return replace(row, execution_time=run_s, stretch=stretch, suspended_time=seconds)


def _named(job: Job, row: JobRow) -> JobRow:
    """What the trace calls a job, where that is no number, comes first in its metadata."""
    return replace(row, metadata="; ".join(filter(None, (job.name, row.metadata)))) if job.name else row


def _row(
    workload: str,
    job: Job,
    submission: Submission | None,
    done: CompletedJob | None,
    origin_s: float,
    epoch_s: float,
) -> JobRow:
    limit_min = time_limit_min(job)
    limit_s = -1.0 if limit_min is None else limit_min * 60.0
    profile = f"sleep {job.runtime_s:g}" if job.work is None else job.work.profile
    if submission is None:
        return JobRow(job.id, workload, profile, None, job.cores, limit_s, 0, "NOT_SUBMITTED")
    submit_s = round(origin_s + submission.submitted_s, 6)
    if submission.number is None and submission.message and done is None:
        message = submission.message
        return JobRow(job.id, workload, profile, submit_s, job.cores, limit_s, 0, "REJECTED", metadata=message)
    if done is None or done.start_s is None:
        state = "UNFINISHED" if done is None else done.state
        user, account = (done.user, done.account) if done else ("", "")
        return JobRow(job.id, workload, profile, submit_s, job.cores, limit_s, 0, state, user=user, account=account)
    start_s, end_s = done.start_s - epoch_s, done.end_s - epoch_s
    run_s = end_s - start_s
    recorded_s = done.submit_s - epoch_s
    return JobRow(
        job.id,
        workload,
        profile,
        submit_s,
        job.cores,
        limit_s,
        int(done.state == "COMPLETED"),
        done.state,
        start_s,
        run_s,
        end_s,
        start_s - recorded_s,
        end_s - recorded_s,
        (end_s - recorded_s) / run_s if run_s > 0 else None,
        allocated_hosts=done.nodes,
        allocated_cores=done.cores,
        user=done.user,
        account=done.account,
    )


def write_rows(path: Path, rows: Sequence[JobRow]) -> None:
    """Write jobs.csv."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        names = [field.name for field in fields(JobRow)]
        writer.writerow(names)
        writer.writerows([_text(getattr(row, name)) for name in names] for row in rows)


def _text(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return "" if value is None else value
