"""jobs.csv: one row per job of the workload, with Batsim's column names, from the RJMS's own accounting.

Times are seconds of virtual time since the start of the run; unknown ones are empty. The columns are those of
https://batsim.readthedocs.io/en/latest/output-jobs.html, but `final_state` is the RJMS's own word. Further columns,
which Batsim does not have, are at the end. `allocated_hosts` is the node list as the RJMS writes it, `allocated_cores`
how many cores it counted. `suspended_time` is the time for which the job was suspended, as its own log says
(docs/guide/jobs.md); it is not part of `execution_time`, and is empty without a log. `user`, `account`, `partition` and
`qos` are what the RJMS recorded, else empty. `io_time` is the time in which at least one of the job's processes waited
for a storage (empty without storages). `allocated_resources` are the job's cores by their numbers in machines.csv
(`simunix.results.machines` chooses them). `recorded_submission_time` is the RJMS's own moment of the submission.
`restarts`, `preemptions`, `lost_core_seconds` and `lost_gpu_seconds` (with `allocated_gpus`) tell of runs before the
last one, and are empty if the RJMS does not record such runs. `removal_time` is the moment at which a job that never
started left the queue. `waiting_time`, `turnaround_time` and `stretch` are filled in by `simunix.report.batsim_files`
with the functions of `simunix.metrics.per_job`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from rsg_server.whole_files import whole_file
from simunix.rjms.adapter import Clients, CompletedJob, EarlierRun, nodes_of
from simunix.workload.job import Job, SkippedJob

UNFINISHED, UNKNOWN = "UNFINISHED", "UNKNOWN"
"""The `final_state` of a submitted job whose end the RJMS has not recorded, and that of a job whose RJMS could not be
asked.
"""
LOST = ("PREEMPTED", "NODE_FAIL", "BOOT_FAIL")
"""The final states of a job's last run if neither the job, its user nor its time limit ended the run: the work of such
a run is lost.
"""
PREEMPTED = "PREEMPTED"
NO_LIMIT_S = -1.0
"""The `requested_time` of a job without a time limit, as Batsim writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRow:
    """A row of jobs.csv; None is written as an empty field."""

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
    consumed_energy: float | None = None
    metadata: str = ""
    allocated_hosts: str = ""
    allocated_cores: int = 0
    suspended_time: float | None = None
    user: str = ""
    account: str = ""
    partition: str = ""
    qos: str = ""
    io_time: float | None = None
    recorded_submission_time: float | None = None
    restarts: int | None = None
    preemptions: int | None = None
    lost_core_seconds: float | None = None
    allocated_gpus: int | None = None
    lost_gpu_seconds: float | None = None
    removal_time: float | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """A row of submissions.csv, which the submitting program writes. `number` is the RJMS's job number; None if the job
    was refused, or if its client prints no number.
    """

    id: int
    submitted_s: float
    number: str | None
    message: str


def read_submissions(path: Path) -> dict[int, Submission]:
    """Return the rows of submissions.csv by the job's number in the trace; the result is empty if no job was submitted.
    A last line that was cut off is left out.
    """
    found: dict[int, Submission] = {}
    if not path.exists():
        return found
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["message"] is None:
                continue
            id = int(row["id"])
            moment = (
                found[id].submitted_s if id in found else float(row["submitted_s"])
            )  # a second row for a job says that its client has failed
            found[id] = Submission(id, moment, row["job_number"] or None, row["message"])
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The records of the submitting program and of the RJMS about a workload's jobs, and how both count time.

    `submissions` are by the trace's numbers; `completed` by the RJMS's; `suspended` and `io_times` are seconds by the
    RJMS's numbers. `origin_s` is when submission began, in seconds of the run; `epoch_s` the Unix time of the run's start.
    `tells_all` is False if the RJMS could not be asked or keeps no record: then jobs that `completed` does not list may
    have ended as well.
    """

    clients: Clients
    submissions: Mapping[int, Submission]
    completed: Mapping[str, CompletedJob]
    origin_s: float
    epoch_s: float
    suspended: Mapping[int, float] = field(default_factory=dict)
    io_times: Mapping[int, float] | None = None
    tells_all: bool = True

    def by_job(self) -> dict[int, CompletedJob | None]:
        """Return the RJMS's record of every submitted job, by the trace's number; None if the RJMS has none.

        A job is found by the number that its client printed, or, if the client prints none, by the job's name.
        """
        by_name = {done.name: done for done in self.completed.values()}
        return {
            id: self.completed.get(submission.number) if submission.number else by_name.get(self.clients.job_name(id))
            for id, submission in self.submissions.items()
        }

    def io_time(self, done: CompletedJob) -> float | None:
        """Return how long a job waited for storages; None if it never ran, or is an array element without its own number."""
        if self.io_times is None or done.start_s is None:
            return None
        if done.element and sum(other.number == done.number for other in self.completed.values()) > 1:
            return None
        return self.io_times.get(done.number, 0.0)


def make_rows(workload: str, jobs: Iterable[Job], skipped: Iterable[SkippedJob], recorded: Recorded) -> list[JobRow]:
    """Return a row for every job of a workload, also for those that were not submitted, or left out of the workload."""
    done_of = recorded.by_job()
    rows = []
    for job in jobs:
        done = done_of.get(job.id)
        row = _named(job, _row(workload, job, recorded, done))
        if done is not None:
            row = _suspended(row, recorded.suspended.get(done.number, 0.0))
            row = replace(row, io_time=recorded.io_time(done))
        rows.append(row)
    rows += [
        JobRow(
            job_id=job.id,
            workload_name=workload,
            profile="",
            submission_time=None,
            requested_number_of_resources=0,
            requested_time=NO_LIMIT_S,
            success=0,
            final_state="SKIPPED",
            metadata=job.reason,
        )
        for job in skipped
    ]
    return rows


def _suspended(row: JobRow, seconds: float) -> JobRow:
    """Subtract the seconds of suspension from the run time; accounting in whole seconds may make that 0."""
    if not seconds or row.execution_time is None:
        return row
    return replace(row, execution_time=max(0.0, row.execution_time - seconds), suspended_time=seconds)


def _named(job: Job, row: JobRow) -> JobRow:
    """Put the trace's name of a job, if the name is no number, in front of the job's metadata."""
    return replace(row, metadata="; ".join(filter(None, (job.name, row.metadata)))) if job.name else row


def _row(workload: str, job: Job, recorded: Recorded, done: CompletedJob | None) -> JobRow:
    limit_s = recorded.clients.limit_s(job)
    row = JobRow(
        job_id=job.id,
        workload_name=workload,
        profile=f"sleep {job.runtime_s:g}" if job.work is None else job.work.profile,
        submission_time=None,
        requested_number_of_resources=job.cores,
        requested_time=NO_LIMIT_S if limit_s is None else limit_s,
        success=0,
        final_state="NOT_SUBMITTED",
    )
    submission = recorded.submissions.get(job.id)
    if submission is None:
        return row
    state = UNFINISHED if recorded.tells_all else UNKNOWN
    row = replace(row, submission_time=round(recorded.origin_s + submission.submitted_s, 6), final_state=state)
    if done is not None:
        row = _with_lost(_completed(row, done, recorded.epoch_s), job, done)
        return replace(row, metadata=submission.message)
    if submission.number is None and submission.message:
        return replace(row, final_state="REJECTED", metadata=submission.message, removal_time=row.submission_time)
    return row


def _completed(row: JobRow, done: CompletedJob, epoch_s: float) -> JobRow:
    """Return the row of a job of which the RJMS has a record."""
    names = {name: getattr(done, name) for name in ("user", "account", "partition", "qos")}
    row = replace(row, final_state=done.state, recorded_submission_time=done.submit_s - epoch_s, **names)
    if done.start_s is None:
        return row if done.waits_again else replace(row, removal_time=done.end_s - epoch_s)
    start_s, end_s = done.start_s - epoch_s, done.end_s - epoch_s
    return replace(
        row,
        success=int(done.state == "COMPLETED"),
        starting_time=start_s,
        execution_time=end_s - start_s,
        finish_time=end_s,
        allocated_hosts=done.nodes,
        allocated_cores=done.cores,
    )


def _with_lost(row: JobRow, job: Job, done: CompletedJob) -> JobRow:
    """Return the row with the job's GPUs and, if the RJMS records them, the job's lost runs.

    Lost runs are all runs before the last, and the last run if it ended in a state of LOST.
    """
    runs = list(done.earlier or ())
    if done.start_s is not None:
        last = EarlierRun(done.end_s - done.start_s, done.state, done.cores, nodes_of(done.nodes))
        row = replace(row, allocated_gpus=_gpus(job, done, last.nodes))
        runs += [last] if done.state.startswith(LOST) else []
    if done.earlier is None:
        return row
    gpu_seconds = [run.run_s * (_gpus(job, done, run.nodes) or 0) for run in runs]
    return replace(
        row,
        restarts=len(done.earlier),
        preemptions=sum(run.state.startswith(PREEMPTED) for run in runs),
        lost_core_seconds=sum((run.run_s * run.cores for run in runs), 0.0),
        lost_gpu_seconds=sum(gpu_seconds, 0.0),
    )


def _gpus(job: Job, done: CompletedJob, nodes: int) -> int | None:
    """Return the number of GPUs of a run on `nodes` nodes, as the RJMS counted or the job asked; None if unknown."""
    if done.gpus is not None:
        return done.gpus
    return job.request.gpus(nodes) if job.request is not None else None


def write_rows(path: Path, rows: Sequence[JobRow]) -> None:
    """Write jobs.csv."""
    with whole_file(path) as file:
        writer = csv.writer(file)
        names = [each.name for each in fields(JobRow)]
        writer.writerow(names)
        writer.writerows([_text(getattr(row, name)) for name in names] for row in rows)


def _text(value: object) -> object:
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return "" if value is None else value
