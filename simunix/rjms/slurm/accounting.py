"""Read what Slurm recorded of its jobs: the text file of jobcomp/filetxt, and while jobs run the log of slurmctld.

The times in the file of jobcomp are whole seconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime

from simunix.rjms.adapter import CompletedJob, JobNews
from simunix.rjms.requeues import by_number, requeued
from simunix.rjms.slurm.own_configuration import read_settings

WAITS_AGAIN = "PENDING"

_KEY = re.compile(r"(?:^|\s)([A-Z][A-Za-z]*)=")
_NUMBER = re.compile(r"\(\d+\)$")
_JOB = r"JobId=(?P<number>\d+(?:_\d+)?)(?:\(\d+\))?"
_NEWS = re.compile(
    r"\[(?P<at>[\d-]+T[\d:.]+)\] (?:"
    rf"_slurm_rpc_submit_batch_job: {_JOB.replace('number', 'submitted')} "
    rf"|(?:sched: Allocate|sched: _slurm_rpc_allocate_resources) {_JOB.replace('number', 'allocated')} NodeList=(?P<nodes>\S+)"
    r"(?: #CPUs=(?P<cores>\d+))?"
    rf"|sched/backfill: _start_job: Started {_JOB.replace('number', 'backfilled')} in \S+ on (?P<on>\S+)"
    rf"|(?:requeue job|Requeuing|_job_requeue_op:) {_JOB.replace('number', 'requeued')})"
)
"""Lines of slurmctld's log, at its level info, from src/slurmctld/ of Slurm 22.05 to 24.11."""
_GPUS = re.compile(r"(?:^|,)gres/gpu=(\d+)")


def parse_jobcomp(lines: Iterable[str]) -> dict[str, CompletedJob]:
    """Return all jobs of the file by number, elements of job arrays by NUMBER_INDEX.

    A requeued job has a line for each of its runs, and Slurm dates its submission anew: `by_number` takes the last line, with
    the first submission. If the last line of a job says PENDING, `scontrol requeue` has ended a run of the job, and the
    job waits again.
    """
    found = by_number(parse_line(line) for line in lines if line.startswith("JobId="))
    return {key: requeued(job) if job.state == WAITS_AGAIN else job for key, job in found.items()}


def parse_line(line: str) -> CompletedJob:
    """Return the job that a line of jobcomp describes: `JobId=1 UserId=… Name=… JobState=…`; values may contain spaces.

    In the line of a job that was cancelled while it waited, StartTime is the job's end, and there are no nodes.
    """
    keys = list(_KEY.finditer(line))
    ends = [key.start() for key in keys[1:]] + [len(line)]
    values = {key[1]: line[key.end() : end].strip() for key, end in zip(keys, ends, strict=True)}
    nodes = values["NodeList"].replace("(null)", "")
    return CompletedJob(
        number=int(values["JobId"]),
        name=values["Name"],
        state=values["JobState"],
        submit_s=_moment(values["SubmitTime"]) or 0.0,
        start_s=_moment(values["StartTime"]) if nodes else None,
        end_s=_moment(values["EndTime"]) or 0.0,
        nodes=nodes,
        cores=int(values["ProcCnt"]),
        limit_s=_limit(values["TimeLimit"]),
        element=f"{values['ArrayJobId']}_{values['ArrayTaskId']}" if "ArrayTaskId" in values else "",
        user=_NUMBER.sub("", values.get("UserId", "")),
        account=values.get("Account", "").replace("(null)", ""),
        partition=values.get("Partition", "").replace("(null)", ""),
        qos=values.get("QOS", "").replace("(null)", ""),
        gpus=int(found[1]) if (found := _GPUS.search(values.get("Tres", ""))) else None,
    )


def _moment(text: str) -> float | None:
    """Return the seconds since the Unix epoch that a date means; None for a text that is no date. The time zone of
    hosts is UTC.
    """
    if not text[:1].isdigit():
        return None
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def _limit(text: str) -> float | None:
    return float(text) * 60 if text.isdigit() else None


def diary(conf: str) -> str:
    """Return the path of slurmctld's log, by the text of a slurm.conf; "" if slurmctld writes no log to a file."""
    path = read_settings(conf).get("slurmctldlogfile", "")
    return path if path.startswith("/") and "%" not in path else ""


def news(line: str) -> JobNews | None:
    """Return the news about a job in a line of slurmctld's log; None if there is none.

    The log has times in UTC, to the millisecond.
    """
    found = _NEWS.match(line)
    at_s = _moment(found["at"]) if found else None
    if found is None or at_s is None:
        return None
    if number := found["submitted"]:
        return JobNews(number, "submitted", at_s)
    if number := found["requeued"]:
        return JobNews(number, "waits", at_s)
    cores = int(found["cores"]) if found["cores"] else None
    number = found["allocated"] or found["backfilled"]
    return JobNews(number, "started", at_s, (found["nodes"] or found["on"]).rstrip(","), cores)
