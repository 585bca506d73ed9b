"""Take representative samples of a trace's jobs, by the two methods of M. Barberato.

See Supercomputer emulation for evaluating scheduling algorithms, MPhil thesis, ANU 2018, sections 4.2.3 and 4.2.5. A
sample keeps the order of submission and all times.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.workload.formats.swf import SwfTrace

WINDOW_S = 60.0
"""The largest difference of requested times, in seconds, up to which the method counts them as similar."""


def size_of(jobs: pd.DataFrame) -> pd.Series:
    """Return the number of processors of each job: the requested number or, if unknown, the allocated one."""
    return jobs["requested"].where(jobs["requested"] > 0, jobs["allocated"])


def stratified(trace: SwfTrace, count: int, offset: int = 0) -> SwfTrace:
    """Sort the jobs by size, run time and requested time, and return the jobs floor(i s) + offset, with s = jobs /
    count (equations 4.4, 4.5).

    Raises SimunixError for a count outside of 1 … jobs, and for an offset outside of [0, s).
    """
    step = _step(trace, count)
    if not 0 <= offset < step:
        raise SimunixError(f"offset {offset}: expected at least 0 and less than jobs / count = {step:g}")
    jobs = trace.jobs.assign(size=size_of(trace.jobs))
    ranked = jobs.sort_values(["size", "runtime_s", "requested_s"], kind="stable").index
    places = [min(math.floor(step * index) + offset, len(ranked) - 1) for index in range(count)]
    return _taken(trace, np.asarray(ranked)[places], f"sampled {count} of {len(jobs)} jobs, stratified, offset {offset}")


def error_diffused(trace: SwfTrace, count: int, window_s: float = WINDOW_S) -> SwfTrace:
    """Return one job from each block of jobs / count jobs of similar size and requested time: the job whose work is
    nearest to the block's mean.

    The remaining difference is added to the next block's mean, so that the mix of sizes and the total work are kept.
    The work of the sample is that of the trace times count / jobs, except for at most one job. Requested times that
    differ by at most `window_s` seconds are similar. Raises SimunixError for a count outside of 1 … jobs, and if the
    work (size × run time) of a job is unknown.
    """
    step = _step(trace, count)
    jobs = trace.jobs.assign(size=size_of(trace.jobs))
    jobs["work"] = jobs["size"] * jobs["runtime_s"]
    if ((jobs["size"] <= 0) | (jobs["runtime_s"] < 0)).any():
        unknown = jobs["job"][(jobs["size"] <= 0) | (jobs["runtime_s"] < 0)].iloc[0]
        raise SimunixError(f"job {unknown}: its size or run time is unknown, and with it its work; leave such jobs out first")
    ranked = jobs.sort_values(["size", "requested_s", "runtime_s"], kind="stable")
    ranked = ranked.assign(group=_groups(ranked, window_s), place=ranked.index).sort_values(["group", "place"], kind="stable")
    work, places = ranked["work"].to_numpy(), ranked.index.to_numpy()
    chosen, carry = [], 0.0
    for index in range(count):
        block = slice(math.floor(step * index), math.floor(step * (index + 1)) if index + 1 < count else len(work))
        target = work[block].mean() + carry
        nearest = int(np.abs(work[block] - target).argmin())
        carry = target - work[block][nearest]
        chosen.append(places[block][nearest])
    return _taken(trace, np.array(chosen), f"sampled {count} of {len(jobs)} jobs, error diffused, window {window_s:g} s")


def _groups(ranked: pd.DataFrame, window_s: float) -> np.ndarray:
    """Return the number of the group of each row in a sorted table: rows of one size whose requested times differ from
    the group's first by at most `window_s`.
    """
    groups = np.zeros(len(ranked), dtype="int64")
    size, first, number = -1, 0.0, -1
    for row, (own, requested) in enumerate(zip(ranked["size"], ranked["requested_s"], strict=True)):
        if own != size or requested - first > window_s:
            size, first, number = own, requested, number + 1
        groups[row] = number
    return groups


def _step(trace: SwfTrace, count: int) -> float:
    if not 1 <= count <= len(trace.jobs):
        raise SimunixError(f"sample of {count}: expected between 1 and the trace's {len(trace.jobs)} jobs")
    return len(trace.jobs) / count


def _taken(trace: SwfTrace, places: np.ndarray, note: str) -> SwfTrace:
    return trace.with_jobs(trace.jobs.loc[np.sort(places)], note)
