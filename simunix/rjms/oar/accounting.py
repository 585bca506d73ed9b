"""What OAR recorded of its jobs: rows of its database, as the query below selects them, in CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping

from simunix.rjms.adapter import CompletedJob

QUERY = """SELECT job_id, array_id, array_index, count(*) OVER (PARTITION BY array_id) AS elements, job_name, state, job_user,
    project, queue_name, submission_time, start_time, stop_time, exit_code, moldable_walltime,
    (SELECT count(*) FROM assigned_resources WHERE moldable_job_id = moldable_id) AS cores,
    (SELECT string_agg(DISTINCT network_address, ',' ORDER BY network_address) FROM assigned_resources
        JOIN resources USING (resource_id) WHERE moldable_job_id = moldable_id) AS nodes,
    (SELECT string_agg(type, ' ' ORDER BY event_id) FROM event_logs WHERE event_logs.job_id = jobs.job_id) AS events
FROM jobs JOIN moldable_job_descriptions ON moldable_id =
    CASE WHEN assigned_moldable_job = 0 THEN (SELECT min(moldable_id) FROM moldable_job_descriptions
        WHERE moldable_job_id = job_id) ELSE assigned_moldable_job END
ORDER BY job_id"""
"""A row for each job; the events say why a job ended."""
LAST_LINE = "# all jobs\n"
"""What psql writes after the last row: rows without it are not all."""
ENDED = ("Terminated", "Error")
NO_PROJECT = "default"
_STATES = {"WALLTIME": "TIMEOUT", "BESTEFFORT_KILL": "PREEMPTED", "FRAG_JOB_REQUEST": "CANCELLED"}
"""By the event that ended a job, the first that there is: it reached its walltime; it made way; it was deleted."""


def parse(lines: Iterable[str]) -> dict[str, CompletedJob]:
    """Return all ended jobs by number, elements of arrays by NUMBER_INDEX, where the number is that of the array's
    first job.
    """
    jobs = (_job(row) for row in csv.DictReader(lines) if row["state"] in ENDED)
    return {job.element or str(job.number): job for job in jobs}


def _job(row: Mapping[str, str]) -> CompletedJob:
    started, ended = float(row["start_time"]), float(row["stop_time"])
    return CompletedJob(
        number=int(row["job_id"]),
        name=row["job_name"],
        state=_state(row),
        submit_s=float(row["submission_time"]),
        start_s=started or None,
        end_s=ended,
        nodes=row["nodes"] if started else "",
        cores=int(row["cores"]),
        limit_s=float(row["moldable_walltime"]),
        element=f"{row['array_id']}_{row['array_index']}" if int(row["elements"]) > 1 else "",
        user=row["job_user"],
        partition=row["queue_name"],
        account="" if row["project"] == NO_PROJECT else row["project"],
    )


def _state(row: Mapping[str, str]) -> str:
    """Return the state in the words of every RJMS. OAR's exit code is that of wait(2); the node of a job that has none
    was lost.
    """
    events = row["events"].split()
    for event, state in _STATES.items():
        if event in events:
            return state
    if row["state"] == "Error" or row["exit_code"] == "":
        return "NODE_FAIL"
    return "COMPLETED" if row["exit_code"] == "0" else "FAILED"
