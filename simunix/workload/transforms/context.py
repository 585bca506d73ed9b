"""Cut a window out of a trace together with its context: the jobs that ran or waited when the window begins, and that
exist again when the replay begins.

The method is that of J. Emeras (Workload Traces Analysis and Replay in Large Scale Distributed Systems, PhD thesis,
Grenoble 2013, part II). A line of the trace's header lists the jobs of the context:

    ; Context: T0=3456000 settle=60 running=17,21,22 waiting=25,26

T0 is the beginning of the window, in seconds of the original trace. The replay begins `settle` seconds after the start
of the submission. Until then, the running jobs start, and the waiting jobs are submitted and held.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pandas as pd

from rsg_server.errors import SimunixError
from simunix.workload.formats.swf import SwfTrace, is_context
from simunix.workload.transforms.shape import cut

SETTLE_S = 60.0
PLAIN_NUMBERS = "a context needs jobs that each have a number of their own, and this table has elements of arrays or components"
_LINE = re.compile(r"^ *Context: T0=(\S+) settle=(\S+) running=([\d,]*) waiting=([\d,]*) *$")


@dataclass(frozen=True, slots=True)
class Context:
    """A context: the numbers of its jobs, the window's beginning in the original trace, and the time to settle, in seconds."""

    begin_s: float
    settle_s: float
    running: tuple[int, ...]
    waiting: tuple[int, ...]

    def line(self) -> str:
        """Return the line of a trace's header that describes this context, without the semicolon."""
        numbers = (",".join(map(str, jobs)) for jobs in (self.running, self.waiting))
        return " Context: T0={:.15g} settle={:.15g} running={} waiting={}".format(self.begin_s, self.settle_s, *numbers)


def context_of(comments: Iterable[str]) -> Context | None:
    """Return the context that a trace's header describes; None without one. Raises SimunixError for a malformed line."""
    lines = [comment for comment in comments if is_context(comment)]
    if not lines:
        return None
    found = _LINE.match(lines[-1])
    try:
        if found is None:
            raise ValueError
        running, waiting = (tuple(int(number) for number in found[place].split(",") if number) for place in (3, 4))
        return Context(float(found[1]), float(found[2]), running, waiting)
    except ValueError:
        raise SimunixError(f"header: expected{Context(0, 60, (1, 2), (3,)).line()}, got {lines[-1][:80].strip()!r}") from None


def cut_with_context(trace: SwfTrace, begin_s: float, end_s: float, settle_s: float = SETTLE_S) -> SwfTrace:
    """Return the jobs submitted in [begin_s, end_s), moved so that the window begins at `settle_s`, with the window's
    context at 0.

    The context consists of the jobs that ran or waited at begin_s. Running jobs (submit + wait ≤ begin < submit + wait
    + run time) end at their former dates if they start at once: their run time and requested time are reduced by the
    time that had passed, and extended by the time to settle. Waiting jobs (submit < begin < submit + wait) are
    unchanged and keep their order. Raises SimunixError if a wait or run time that decides this is unknown (a trace
    without waits has no known context), and if the numbers of the jobs are not unique.
    """
    if "JobID" in trace.jobs:
        raise SimunixError(f"{PLAIN_NUMBERS}; cut without context")
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
    running, waiting = _running(earlier, begin_s, settle_s), _waiting(earlier, begin_s)
    replay = cut(trace, begin_s, end_s)
    shifted = replay.jobs.assign(submit_s=replay.jobs["submit_s"] + settle_s)
    jobs = pd.concat([running, waiting, shifted])
    if (twice := jobs["job"][jobs["job"].duplicated()]).size:
        raise SimunixError(
            f"job {twice.iloc[0]} is there twice: a context needs numbers that tell its jobs; merge numbers them anew"
        )
    note = (
        f"context: {len(running)} running, {len(waiting)} waiting at {begin_s:.15g} s; the replay begins at {settle_s:.15g} s"
    )
    context = Context(begin_s, settle_s, tuple(running["job"].tolist()), tuple(waiting["job"].tolist()))
    made = replay.with_jobs(jobs, note)
    return replace(made, comments=(*made.comments, context.line()))


def _running(earlier: pd.DataFrame, begin_s: float, settle_s: float) -> pd.DataFrame:
    start = earlier["submit_s"] + earlier["wait_s"]
    jobs = earlier[(start <= begin_s) & (begin_s < start + earlier["runtime_s"])].copy()
    passed = begin_s - (jobs["submit_s"] + jobs["wait_s"]) - settle_s
    jobs["runtime_s"] -= passed
    jobs["requested_s"] = jobs["requested_s"].where(jobs["requested_s"] < 0, (jobs["requested_s"] - passed).clip(lower=0.0))
    return jobs.assign(submit_s=0.0, wait_s=0.0)


def _waiting(earlier: pd.DataFrame, begin_s: float) -> pd.DataFrame:
    jobs = earlier[earlier["submit_s"] + earlier["wait_s"] > begin_s].copy()
    waited = begin_s - jobs["submit_s"]
    return jobs.assign(submit_s=0.0, wait_s=jobs["wait_s"] - waited)
