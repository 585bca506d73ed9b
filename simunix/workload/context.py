"""A window of a trace with its context: what ran and what waited at its beginning is there again when the replay begins.

The method of Emeras (Workload Traces Analysis and Replay in Large Scale Distributed Systems, thesis, Grenoble 2013, chapter 4).
"""

from __future__ import annotations

import pandas as pd

from rsg_server.errors import SimunixError
from simunix.workload.shape import cut
from simunix.workload.swf import SwfTrace


def cut_with_context(trace: SwfTrace, begin_s: float, end_s: float, settle_s: float = 0.0) -> SwfTrace:
    """The jobs of [begin_s, end_s), from `settle_s` on; before them, at 0, those that ran at begin_s and those that waited.

    Running ones (submit + wait <= begin < submit + wait + run time) keep their end dates: run time and requested time lose what
    had passed. Waiting ones (submit < begin < submit + wait) are as they were, in their order. Raises SimunixError if a wait or
    run time that decides this is unknown: a trace without waits has no context that could be known.
    """
    if settle_s < 0:
        raise SimunixError(f"settle time: expected seconds from 0 up, got {settle_s:g}")
    earlier = trace.jobs[trace.jobs["submit_s"] < begin_s]
    unknown = earlier[(earlier["wait_s"] < 0) | (earlier["runtime_s"] < 0)]
    if len(unknown):
        job = unknown["job"].iloc[0]
        raise SimunixError(
            f"job {job} and {len(unknown) - 1} others before the window have no wait or run time: "
            "what ran at its beginning is unknown; cut without context"
        )
    running, waiting = _running(earlier, begin_s), _waiting(earlier, begin_s)
    replay = cut(trace, begin_s, end_s)
    shifted = replay.jobs.assign(submit_s=replay.jobs["submit_s"] + settle_s)
    note = (
        f"context: {len(running)} running, {len(waiting)} waiting at {begin_s:.15g} s; the replay begins at {settle_s:.15g} s"
    )
    return replay.with_jobs(pd.concat([running, waiting, shifted]), note)


def _running(earlier: pd.DataFrame, begin_s: float) -> pd.DataFrame:
    start = earlier["submit_s"] + earlier["wait_s"]
    jobs = earlier[(start <= begin_s) & (begin_s < start + earlier["runtime_s"])].copy()
    passed = begin_s - (jobs["submit_s"] + jobs["wait_s"])
    jobs["runtime_s"] -= passed
    jobs["requested_s"] = jobs["requested_s"].where(jobs["requested_s"] < 0, (jobs["requested_s"] - passed).clip(lower=0.0))
    return jobs.assign(submit_s=0.0, wait_s=0.0)


def _waiting(earlier: pd.DataFrame, begin_s: float) -> pd.DataFrame:
    jobs = earlier[earlier["submit_s"] + earlier["wait_s"] > begin_s].copy()
    waited = begin_s - jobs["submit_s"]
    return jobs.assign(submit_s=0.0, wait_s=jobs["wait_s"] - waited)
