"""Generate a workload like that of the CEA's machine Curie in 2012, from the quantiles of its log that J. Emeras
published.

J. Emeras: Workload Traces Analysis and Replay in Large Scale Distributed Systems, PhD thesis, Univ. Grenoble, 2013. The log is
not part of the thesis; this generator makes a synthetic stand-in. Numbers of the thesis (T) are those of Curie's log from
February 2011 to October 2012 or of its part since March 2012; our own (O) fill what the thesis leaves open:

* Sizes. T: 30 % of the jobs up to one node (16 cores), median 32, the five last deciles 32, 128, 256, 512 and about the whole
  of 80,640 cores. O: the smallest is 1; another machine gets the same shares of itself, rounded, at least one core.
* Run times. T: 68 % below 1 min, 81 % below 10 min (whole log), 82 % below 20 min, 87 % below 1 h (since March 2012). O: 1 s to
  24 h; independent of the size, but no job has more work than an hour of the whole machine.
* Requested times. T: 75 % above 2 h. O: 10 min to 24 h, independent, but never below the run time; whole minutes.
* Inter-arrival times. T: deciles 0, 0, 1, 3, 4, 5, 8, 28, 80 s (Table 2.1). O: the last decile, of which the thesis has the
  maximum only (434 h), ends at 2,000 s, so that the mean is that of 773,138 jobs in 20 months, 69 s. All are then stretched by
  one factor, so that the jobs fill the duration: their shape is the thesis', their mean follows from the load.
* O: users, drawn with weights 1, 1/2, 1/3 …; no days and nights, no sessions, no failures.
* Waits (O): those of first come, first served with EASY back-filling on one list of processors (`transforms/easy.py`), from
  an empty machine. Curie itself had Slurm's priorities. The waits decide which jobs run where `cut --context` cuts.

Between two published points the logarithm of (1 + value) is linear. Times are whole seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rsg_server.errors import SimunixError
from simunix.workload.formats.swf import SwfTrace
from simunix.workload.generators.build import build
from simunix.workload.transforms.easy import easy_starts

CURIE_PROCESSORS = 80_640
"""Cores of Curie's thin nodes: 5,040 nodes of 16 cores."""
Points = tuple[tuple[float, float], ...]
"""Points of a distribution function: a share of the jobs, and the value that this share of jobs does not exceed."""
SIZES: Points = ((0, 1), (0.3, 16), (0.5, 32), (0.6, 32), (0.7, 128), (0.8, 256), (0.9, 512), (1, CURIE_PROCESSORS))
RUN_TIMES_S: Points = ((0, 1), (0.68, 60), (0.81, 600), (0.82, 1200), (0.87, 3600), (1, 86400))
REQUESTED_S: Points = ((0, 600), (0.28, 7200), (1, 86400))
"""Points of the distribution of requested times, in seconds. The share 0.28 below 2 h leads to the thesis's 25 %,
because 3 % of the jobs run longer than 2 h and get a longer request.
"""
GAPS_S: Points = tuple(zip(np.linspace(0, 1, 11).tolist(), (0, 0, 0, 1, 3, 4, 5, 8, 28, 80, 2000), strict=True))
LARGEST_WORK_S = 3600.0
"""The most work of a job, in seconds of the whole machine."""
MINUTE_S = 60
BLOCK = 1024
MOST_JOBS = 1_000_000
NOTES = (
    "synthetic: from quantiles of Curie's log in J. Emeras' thesis (Grenoble 2013); no job of it is real",
    "thesis: sizes 30% <= 16, median 32, last deciles 32 128 256 512 all of 80640; run times 68% < 1 min, 81% < 10 min, "
    "82% < 20 min, 87% < 1 h; requested times 75% > 2 h; inter-arrival deciles 0 0 1 3 4 5 8 28 80 s, stretched by the load",
    "ours: everything between and beyond these points, at most an hour of the whole machine a job, independence, users, "
    "waits (first come, first served with EASY back-filling)",
)


@dataclass(frozen=True, slots=True)
class Curie:
    """The parameters: a machine of `nodes` nodes with `cores` cores each; `users` users submit jobs over `duration_s`
    seconds.

    The submitted work is `load` times the work that the machine can do in that time.
    """

    nodes: int
    cores: int
    duration_s: float
    load: float
    users: int

    def __post_init__(self) -> None:
        """Raise SimunixError for a parameter out of its range."""
        for name in ("nodes", "cores", "users"):
            if getattr(self, name) < 1:
                raise SimunixError(f"{name} {getattr(self, name)}: expected at least 1")
        if not 1 <= self.duration_s < math.inf:
            raise SimunixError(f"duration {self.duration_s:g} s: expected at least 1 s")
        if not 0 < self.load < math.inf:
            raise SimunixError(f"load {self.load:g}: expected a number above 0, such as 1.5 for half as much again as fits")

    @property
    def processors(self) -> int:
        """The number of cores of the whole machine."""
        return self.nodes * self.cores


def quantile(points: Points, share: np.ndarray) -> np.ndarray:
    """Return the values at these shares (0 to 1) of the distribution through the points."""
    shares, values = zip(*points, strict=True)
    return np.asarray(np.expm1(np.interp(share, shares, np.log1p(values))))


def curie(asked: Curie, seed: int) -> SwfTrace:
    """Return jobs whose work reaches load × processors × duration; the last job exceeds that by at most one hour of the
    machine.

    Raises SimunixError for more than a million jobs.
    """
    random = np.random.default_rng(seed)
    jobs = _jobs(random, asked)
    count = len(jobs["runtime_s"])
    submit = _moments(random, count, asked.duration_s)
    starts = easy_starts(submit, jobs["runtime_s"], jobs["requested_s"], jobs["allocated"], asked.processors)
    weights = 1 / np.arange(1, asked.users + 1)
    columns = {
        "submit_s": submit,
        "wait_s": starts - submit,
        **jobs,
        "requested": jobs["allocated"],
        "status": np.ones(count),
        "user": 1 + random.choice(asked.users, count, p=weights / weights.sum()),
    }
    parameters = {
        **{"model": "curie", "nodes": asked.nodes, "cores": asked.cores, "duration_s": f"{asked.duration_s:g}"},
        **{"load": f"{asked.load:g}", "users": asked.users, "seed": seed},
    }
    return build(columns, asked.processors, parameters, NOTES, asked.nodes)


def _jobs(random: np.random.Generator, asked: Curie) -> dict[str, np.ndarray]:
    """Return sizes, run times and requested times, drawn for as many jobs as the load needs."""
    target = asked.load * asked.processors * asked.duration_s
    blocks: list[dict[str, np.ndarray]] = []
    work = 0.0
    while work < target:
        blocks.append(_block(random, asked.processors))
        work += float((blocks[-1]["allocated"] * blocks[-1]["runtime_s"]).sum())
        if len(blocks) * BLOCK > MOST_JOBS:
            raise SimunixError(f"load {asked.load:g} for {asked.duration_s:g} s: more than {MOST_JOBS:,} jobs; ask for less")
    jobs = {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}
    count = 1 + int(np.searchsorted(np.cumsum(jobs["allocated"] * jobs["runtime_s"]), target))
    return {name: values[:count] for name, values in jobs.items()}


def _block(random: np.random.Generator, processors: int) -> dict[str, np.ndarray]:
    shares = random.random((3, BLOCK))
    size = np.clip(np.rint(quantile(SIZES, shares[0]) * processors / CURIE_PROCESSORS), 1, processors).astype("int64")
    longest = np.maximum(np.floor(LARGEST_WORK_S * processors / size), 1)
    runtime = np.minimum(np.ceil(quantile(RUN_TIMES_S, shares[1])), longest)
    requested = np.maximum(quantile(REQUESTED_S, shares[2]), runtime)
    return {"allocated": size, "runtime_s": runtime, "requested_s": np.ceil(requested / MINUTE_S) * MINUTE_S}


def _moments(random: np.random.Generator, count: int, duration_s: float) -> np.ndarray:
    """Return moments of submission in seconds, drawn from 0 up to, but not including, the duration."""
    gaps = quantile(GAPS_S, random.random(count + 1))
    moments, end = np.cumsum(gaps)[:-1], gaps.sum()
    return np.floor(moments * (duration_s / end)) if end > 0 else np.zeros(count)
