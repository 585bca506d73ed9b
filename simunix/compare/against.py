"""Reads a site's own accounting as a job table, and computes how far the jobs of runs differ from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from rsg_server.errors import SimunixError
from simunix.compare.study import Validation
from simunix.metrics.changes import errors
from simunix.metrics.jobs import from_swf
from simunix.report.run_data import Run
from simunix.results.as_trace import read_trace
from simunix.workload.formats.by_name import job_names
from simunix.workload.formats.swf import SwfTrace

_NAME = re.compile(r"^ ?Note: (user|group|partition|queue) ([0-9]{1,15}): (.*)$")
COLUMNS = {"user": "user", "group": "account", "partition": "partition", "queue": "qos"}
"""The columns of a pair table for those fields of a trace whose values have names in the trace's notes."""


def validation(path: Path, runs: Sequence[Run]) -> Validation:
    """Return the errors of every run with jobs against the accounting in `path`, a trace with waits in any known format.

    Raises SimunixError if the file is no such trace, or if no job of the base has the number of a job in the trace.
    """
    site = site_jobs(path)
    tables = {run.label: _errors(site, run, path) for run in runs if run.counted is not None}
    if not tables:
        raise SimunixError(f"--against {path}: the runs have no jobs to be compared")
    return Validation(path.name, tables)


def site_jobs(path: Path) -> pd.DataFrame:
    """Return the site's job table, with the names of jobs, and the names of users, accounts, partitions and QOS that
    its header gives. A job that was ended before it got a processor counts as not started, whatever the record says.
    Raises SimunixError.
    """
    trace = read_trace(path)
    jobs = from_swf(trace)
    jobs["name"] = jobs["job_id"] if path.is_dir() else job_names(path, trace)
    names = _names(trace)
    for field, column in COLUMNS.items():
        numbers = trace.jobs[field].astype(int)
        jobs[column] = numbers.map(names.get(field, {})).where(numbers > 0).fillna("") if field in names else ""
    never = (trace.jobs["allocated"] <= 0) & (trace.jobs["runtime_s"] <= 0)
    for column in ("starting_time", "finish_time"):
        jobs[column] = jobs[column].where(~never)
    if jobs["starting_time"].isna().all():
        raise SimunixError(
            f"--against {path}: none of its {len(jobs):,} jobs has a start; give accounting of jobs that have run"
        )
    return jobs


def _names(trace: SwfTrace) -> dict[str, dict[int, str]]:
    found: dict[str, dict[int, str]] = {}
    for line in trace.comments:
        if note := _NAME.match(line):
            found.setdefault(note[1], {})[int(note[2])] = note[3]
    return found


def _errors(site: pd.DataFrame, run: Run, path: Path) -> pd.DataFrame:
    """Return the table of errors of a run.

    Jobs are matched by name or number; the name of the run's workload does not matter.
    """
    assert run.counted is not None
    counted = run.counted
    if not counted["job_id"].is_unique:
        raise SimunixError(
            f"--against {path}: {run.label} has several workloads with jobs of one number; compare a run of one workload"
        )
    own, site = _matched(counted.assign(workload_name=""), site)
    if not own["job_id"].isin(site["job_id"]).any():
        raise SimunixError(
            f"--against {path}: none of its {len(site):,} jobs is one of {run.label}'s (numbers {site['job_id'].iloc[0]}, … "
            f"and {own['job_id'].iloc[0]}, …); give the accounting that the trace was made from"
        )
    table, _ = errors(site.assign(workload_name=""), own)
    return table


def _matched(own: pd.DataFrame, site: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both tables with that `job_id` by which more jobs are in both: the name of a job in the accounting, or its
    number in the trace.

    The numbers in a trace are those of the accounting only if the accounting has no job arrays. If the name of a job is
    no number, a run has the name as the first part of the job's metadata.
    """
    told = own["metadata"].str.partition("; ")[0] if "metadata" in own else own["job_id"]
    named = own.assign(job_id=told.where(told.isin(site["name"]), own["job_id"]))
    by_name = site.assign(job_id=site["name"])
    same = [int(one["job_id"].isin(other["job_id"]).sum()) for one, other in ((named, by_name), (own, site))]
    return (named, by_name) if by_name["job_id"].is_unique and same[0] >= same[1] else (own, site)
