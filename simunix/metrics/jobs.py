"""Read the job tables of runs and traces (`simunix.results.job_table` lists the columns), and select the jobs that
count for metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from rsg_server.errors import SimunixError
from simunix.results.job_table import FINISHED, NUMBERS, job_table, numbers, read_jobs_csv, settled
from simunix.results.run_json import read_record
from simunix.workload.formats.swf import SwfTrace

__all__ = [
    "FINISHED",
    "NUMBERS",
    "from_swf",
    "job_table",
    "numbers",
    "read_jobs_csv",
    "replayed",
    "settled",
    "why_invalid",
    "without_context",
]


def replayed(jobs: pd.DataFrame, run: Path) -> pd.DataFrame:
    """Return the jobs of a run without those of a context (`simunix workload cut --context`), which began before the replay.

    Raises SimunixError if run.json cannot be read, and for a run whose context was not established, since its metrics mean
    nothing.
    """
    try:
        record = read_record(run / "run.json")
    except FileNotFoundError as error:
        raise SimunixError(f"{run / 'run.json'}: {error.strerror}; expected a run directory") from error
    if reason := why_invalid(record):
        raise SimunixError(f"{run}: INVALID, its context was not established: {reason}")
    return without_context(jobs, record)


def why_invalid(record: Mapping[str, Any]) -> str:
    """Return why run.json calls the run INVALID; "" for a valid run."""
    if record.get("valid") is not False:
        return ""
    reasons = [reason for context in record.get("contexts") or [] for reason in context.get("reasons", [])]
    return "; ".join(reasons) or "no reason given"


def without_context(jobs: pd.DataFrame, record: Mapping[str, Any]) -> pd.DataFrame:
    """Return the jobs without those that run.json lists as a context (jobs that ran or waited when the run began)."""
    contexts = record.get("contexts") or []
    context = {(one["workload"], str(job)) for one in contexts for job in (*one["running"], *one["waiting"])}
    if not context:
        return jobs
    names = zip(jobs["workload_name"], jobs["job_id"].astype(str), strict=True)
    return jobs[[name not in context for name in names]]


def from_swf(trace: SwfTrace) -> pd.DataFrame:
    """Return the job table of a trace: the schedule of the machine that the trace was recorded on.

    A job of unknown wait, run time or size counts as unfinished.
    """
    records = trace.jobs
    known = records.astype(float).where(records >= 0)
    processors = known["allocated"].where(known["allocated"] > 0, known["requested"])
    ran = known["wait_s"].notna() & known["runtime_s"].notna() & (processors >= 1)
    start = (known["submit_s"] + known["wait_s"]).where(ran)
    return job_table(
        pd.DataFrame(
            {
                "job_id": records["job"].astype(int).astype(str),
                "submission_time": known["submit_s"],
                "starting_time": start,
                "finish_time": start + known["runtime_s"],
                "execution_time": known["runtime_s"].where(ran),
                "requested_number_of_resources": processors,
                "requested_time": known["requested_s"],
                "user": records["user"].astype(int),
            }
        ),
        "trace",
    )
