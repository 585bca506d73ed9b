"""Make traces from traces: cut, scale, shuffle, merge. Each function returns a new trace, whose header has a Note on
what was done.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.workload.formats.columns import COLUMNS
from simunix.workload.formats.job_table import base_numbers, renumbered
from simunix.workload.formats.swf import LIMIT, UNKNOWN, SwfTrace

TIMES = ("submit_s", "wait_s", "runtime_s", "cpu_s", "requested_s", "think_s")
PROFILE = "profile"
SIZES = ("allocated", "requested")
_TABLE_SIZES = ("ReqNodes", "NTasks", "NTasksPerNode", "CPUsPerTask", "ReqTRES", "Steps")
_TABLE_TIMES = ("TimeMin", "Begin", "Hold", "CancelAfter", "Steps")
"""The columns of job tables that contain sizes or times as texts."""
_MACHINE = re.compile(r"^(\s*Max(?:Procs|Nodes):\s*)(\d+)\s*$")


def cut(trace: SwfTrace, begin_s: float = 0.0, end_s: float = math.inf) -> SwfTrace:
    """Return the jobs submitted in [begin_s, end_s), in seconds of the trace; begin_s becomes 0.

    Raises SimunixError for a window without submissions.
    """
    submit = trace.jobs["submit_s"]
    jobs = trace.jobs[(submit >= begin_s) & (submit < end_s)].copy()
    if jobs.empty:
        raise SimunixError(f"no job is submitted between {begin_s:g} s and {end_s:g} s of the trace; widen the window")
    jobs["submit_s"] -= begin_s
    return _moved(trace, begin_s).with_jobs(jobs, f"cut to submissions from {begin_s:.15g} s to {end_s:.15g} s")


def scale(trace: SwfTrace, processors: float = 1.0, times: float = 1.0) -> SwfTrace:
    """Multiply the sizes of jobs by `processors` (rounded, at least 1) and all times, including submissions, by
    `times`; return the new trace.

    Unknown values stay unknown. The size of the machine in the header (MaxProcs, MaxNodes) is scaled like the sizes of
    jobs. Raises SimunixError for values that become too large, and for a job whose profile fixes the size of its work.
    """
    if (processors, times) != (1.0, 1.0) and PROFILE in trace.jobs and len(bound := trace.jobs[trace.jobs[PROFILE] != ""]):
        job, name = bound[["job", PROFILE]].iloc[0]
        raise SimunixError(f"job {job} does the profile {name!r}, whose work has a size of its own; change it in the profile")
    for factor, columns in ((processors, _TABLE_SIZES), (times, _TABLE_TIMES)):
        if factor != 1.0 and (said := [name for name in columns if name in trace.jobs]):
            raise SimunixError(f"column {said[0]} of the job table cannot be scaled; take the column out of the table first")
    jobs = trace.jobs.copy()
    for name in SIZES:
        scaled = np.floor(jobs[name] * processors + 0.5).clip(lower=1, upper=LIMIT).astype("int64")
        jobs[name] = jobs[name].where(jobs[name] <= 0, scaled)
    for name in TIMES:
        jobs[name] = jobs[name].where(jobs[name] < 0, jobs[name] * times)
    for name in (*SIZES, *TIMES):
        if (beyond := jobs[jobs[name] >= LIMIT]).size:
            raise SimunixError(f"job {beyond['job'].iloc[0]}: its {name} would be out of range; scale by less")
    machine = replace(trace, comments=tuple(_scaled_size(comment, processors) for comment in trace.comments))
    return machine.with_jobs(jobs, f"processors scaled by {processors:.15g}, times by {times:.15g}", are_the_same=times == 1.0)


def factor_to(trace: SwfTrace, processors: int) -> float:
    """Return the factor for sizes with which the trace's machine gets this number of processors.

    Raises SimunixError if the header does not give the size of the machine.
    """
    size = trace.number("MaxProcs") or trace.number("MaxNodes")
    if not size:
        raise SimunixError("the header has no MaxProcs: how large its machine was is unknown; scale by a factor instead")
    return processors / size


def _scaled_size(comment: str, factor: float) -> str:
    found = _MACHINE.match(comment)
    if found is None or factor == 1.0:
        return comment
    return f"{found[1]}{max(1, math.floor(int(found[2]) * factor + 0.5))}"


def shuffle(trace: SwfTrace, seed: int) -> SwfTrace:
    """Put the jobs into random order, and submit them at equal intervals over the trace's time span; return the new
    trace.

    Preceding jobs and think times become unknown. Barberato (MPhil thesis, ANU 2018, section 4.2) compares metrics over such
    orders: a single trace does not show how far a metric depends on the order.
    """
    order = list(range(len(trace.jobs)))
    random.Random(seed).shuffle(order)
    jobs = trace.jobs.iloc[order].copy()
    first, last = trace.jobs["submit_s"].min(), trace.jobs["submit_s"].max()
    jobs["submit_s"] = np.linspace(first, last, len(jobs))
    jobs["preceding"], jobs["think_s"] = UNKNOWN, float(UNKNOWN)
    jobs = jobs.drop(columns="Dependency", errors="ignore")
    return trace.with_jobs(jobs, f"shuffled with seed {seed}, submitted at equal distances")


def merge(traces: Sequence[SwfTrace], by_date: bool = False) -> SwfTrace:
    """Merge traces in the order of submission (equal moments: in the order of the traces). Jobs get new numbers; users
    of different traces stay different.

    All traces begin at 0 or, with `by_date`, at their dates (UnixStartTime). Raises SimunixError if a needed date is
    missing, and if one name means different profiles.
    """
    starts = [trace.number("UnixStartTime") for trace in traces]
    if by_date and None in starts:
        raise SimunixError(f"trace {starts.index(None) + 1} has no UnixStartTime in its header, which merging by date needs")
    zero = min((start for start in starts if start is not None), default=0.0) if by_date else 0.0
    parts, users = [], 0
    for index, trace in enumerate(traces):
        part = trace.jobs.assign(source=index, old_job=trace.jobs["job"])
        part["submit_s"] += (starts[index] or 0.0) - zero if by_date else 0.0
        part["user"] = part["user"].where(part["user"] < 0, part["user"] + users)
        users = max(users, int(part["user"].max()) + 1)
        parts.append(part)
    jobs = pd.concat(parts).sort_values("submit_s", kind="stable").reset_index(drop=True)
    jobs["job"] = np.arange(1, len(jobs) + 1)
    jobs = _texts_of_tables(jobs)
    numbers = {(row.source, row.old_job): row.job for row in jobs[["source", "old_job", "job"]].itertuples(index=False)}
    pairs = zip(jobs["source"], jobs["preceding"], strict=True)
    jobs["preceding"] = np.array([numbers.get(pair, UNKNOWN) for pair in pairs], "int64")
    head = traces[starts.index(zero)] if by_date else traces[0]
    if PROFILE in jobs:
        jobs[PROFILE] = jobs[PROFILE].fillna("")
    made = head.with_jobs(jobs.drop(columns=["source", "old_job"]), f"merged from {len(traces)} traces")
    return replace(made, profiles=_joined(traces))


def _texts_of_tables(jobs: pd.DataFrame) -> pd.DataFrame:
    """Return the text columns of job tables (empty for jobs of other traces), in which job numbers are those of the
    merged trace.

    The number of a job array is that of its first element.
    """
    texts = [name for name in jobs if name in COLUMNS]
    if not texts:
        return jobs
    jobs = jobs.assign(**{name: jobs[name].fillna("") for name in texts})
    if "JobID" not in jobs and "Dependency" not in jobs:
        return jobs
    parts = []
    for _, part in jobs.groupby("source", sort=True):
        bases = base_numbers(part.assign(job=part["old_job"]))
        numbers = dict(reversed(list(zip(bases.tolist(), part["job"].tolist(), strict=True))))
        parts.append(renumbered(part, numbers))
    return pd.concat(parts).sort_index()


def _joined(traces: Sequence[SwfTrace]) -> dict[str, dict[str, Any]]:
    """Return the profiles of all traces. Raises SimunixError if one name means different profiles."""
    found: dict[str, dict[str, Any]] = {}
    for number, trace in enumerate(traces, 1):
        for name, profile in trace.profiles.items():
            if found.setdefault(name, profile) != profile:
                raise SimunixError(
                    f"trace {number}: the profile {name!r} is another one in a trace before; give it another name"
                )
    return found


def _moved(trace: SwfTrace, seconds: float) -> SwfTrace:
    """Return the trace with a UnixStartTime that is later by `seconds`, so that the dates of jobs stay correct."""
    start = trace.number("UnixStartTime")
    if start is None:
        return trace
    moved = f" UnixStartTime: {start + seconds:.15g}"
    comments = (moved if line.partition(":")[0].strip() == "UnixStartTime" else line for line in trace.comments)
    return replace(trace, comments=tuple(comments))
