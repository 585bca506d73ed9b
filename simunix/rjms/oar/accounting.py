"""Read what OAR recorded of its jobs: rows of its database in CSV, which the query below selects."""

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
"""The SQL query for a row per job; the job's events say why it ended."""
LAST_LINE = "# all jobs\n"
"""The line that psql writes after the last row. If it is missing, rows are missing too."""
ENDED = ("Terminated", "Error")
NO_PROJECT = "default"
_STATES = {"WALLTIME": "TIMEOUT", "BESTEFFORT_KILL": "PREEMPTED", "FRAG_JOB_REQUEST": "CANCELLED"}
"""The final state by the event that ended a job, the first match counting: it reached its walltime, it was preempted,
it was deleted.
"""


def parse(lines: Iterable[str]) -> dict[str, CompletedJob]:
    """Return all ended jobs by number, elements of job arrays by NUMBER_INDEX, where NUMBER is that of the array's
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
    """Return the job's final state in the words that simunix uses for all RJMSs. OAR's exit code is a wait(2) status; a
    job without one has lost its node.
    """
    events = row["events"].split()
    for event, state in _STATES.items():
        if event in events:
            return state
    if row["state"] == "Error" or row["exit_code"] == "":
        return "NODE_FAIL"
    return "COMPLETED" if row["exit_code"] == "0" else "FAILED"
