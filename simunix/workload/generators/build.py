"""Make a trace with a header from the columns of a generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.workload.formats.swf import FIELDS, UNKNOWN, SwfTrace

JOBS_MAX = 10_000_000


def check_count(jobs: int) -> int:
    """Return the number of jobs unchanged. Raises SimunixError unless it is from 1 to JOBS_MAX."""
    if not 1 <= jobs <= JOBS_MAX:
        raise SimunixError(f"jobs {jobs}: expected at least 1, and at most {JOBS_MAX:,}")
    return jobs


def build(
    columns: Mapping[str, np.ndarray],
    processors: int,
    parameters: Mapping[str, object],
    notes: Sequence[str] = (),
    nodes: int | None = None,
) -> SwfTrace:
    """Return a trace with these SWF columns, ordered by submission and numbered from 1; all other columns are unknown.

    The machine has one processor per node unless `nodes` is given. `parameters` go into one line of the header: the model, the
    seed, and everything else that determines the trace.
    """
    count = len(next(iter(columns.values())))
    jobs = pd.DataFrame({name: columns.get(name, np.full(count, UNKNOWN)) for name in FIELDS})
    jobs = jobs.sort_values("submit_s", kind="stable").reset_index(drop=True)
    jobs["job"] = np.arange(1, count + 1)
    whole = ("job", "allocated", "requested", "status", "user", "group", "executable", "queue", "partition", "preceding")
    jobs = jobs.astype({name: "int64" if name in whole else "float64" for name in FIELDS})
    given = " ".join(f"{name}={value}" for name, value in parameters.items())
    head = [" Version: 2.2", f" MaxJobs: {count}", f" MaxRecords: {count}"]
    head += [f" MaxNodes: {processors if nodes is None else nodes}", f" MaxProcs: {processors}"]
    head += [f" Note: made with: {given}", *(f" Note: {note}" for note in notes)]
    return SwfTrace(tuple(head), jobs)
