"""Join the runs of jobs that ran several times, for RJMSs whose accounting has a record for each run of a job."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from simunix.rjms.adapter import CompletedJob, EarlierRun, nodes_of


def by_number(records: Iterable[CompletedJob]) -> dict[str, CompletedJob]:
    """Return all jobs by number, elements of job arrays by NUMBER_INDEX. The records must be in the order in which runs
    ended.

    The last record of a job counts, with the first record's submission, since which the job's user has waited. The records
    before the last one become `earlier`, except for those without a start: a job that waited again has lost no run.
    """
    found: dict[str, CompletedJob] = {}
    for job in records:
        key = job.element or str(job.number)
        before = found.get(key)
        if before is None:
            found[key] = replace(job, earlier=())
            continue
        lost = () if before.start_s is None else (_run(before, before.start_s),)
        found[key] = replace(job, submit_s=before.submit_s, earlier=(*(before.earlier or ()), *lost))
    return found


def requeued(job: CompletedJob) -> CompletedJob:
    """Return a job that was requeued after its last record, as a job that has not started: its last run becomes an
    earlier one.
    """
    if job.start_s is None:
        return job
    return replace(job, start_s=None, nodes="", waits_again=True, earlier=(*(job.earlier or ()), _run(job, job.start_s)))


def _run(job: CompletedJob, start_s: float) -> EarlierRun:
    return EarlierRun(job.end_s - start_s, job.state, job.cores, nodes_of(job.nodes))
