"""Generate a substitute for the trace of NCI's machine Raijin, which is not public, from what was published about it.

M. Barberato: Supercomputer emulation for evaluating scheduling algorithms, MPhil thesis, Australian National University, 2018,
used 4,417,018 jobs of 1 April to 1 November 2016 on 57,472 processors. The trace is not public. Published are:

* Table 4.1, shares of the jobs by size; Table 4.2, shares of the work (processors x run time) by size; that 1.2 % of the jobs
  had more than 1,000 processors, and the largest, 14 of them, 20,000;
* Figure 4.3: 58 % of the jobs ran for at most a tenth of the time that they had asked for, 0.7 % for more than nine tenths;
* the working set W1's mean run time, 128.1 s (its turnaround less its wait, Table 4.3); submissions at equal distances; in its
  variant `rand` a fifth of the jobs, at random, of high priority.

Both tables together give the mean run time of each size. All other choices are ours: see `CLASSES`, `TENTHS`, and these:

* run times are exponentially distributed around the mean of their size, at most LONGEST times the mean of the distribution, and
  at least 1 s; they are tenths of a second, since whole seconds would fall into step with the scheduler's period;
* a run time of at most a tenth of its request is at least a hundredth; within each tenth all ratios are equally likely;
* the number of jobs of each size is not random, and run times are drawn from equal shares of their distribution, so that a few
  hundred jobs have the mix of the whole trace;
* on a smaller machine, no job takes a larger share of it than LARGEST, the share of Raijin's largest jobs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rsg_server.errors import SimunixError
from simunix.workload.formats.swf import SwfTrace
from simunix.workload.generators.build import build

LARGEST = 20000 / 57472
"""The share of Raijin that its largest jobs took: 14 jobs of 20,000 processors each."""
MEAN_RUNTIME_S = 128.1
LEAST_RUNTIME_S = 1.0
LONGEST = 3.0
"""The multiple of its mean at which the distribution of run times is cut off. The cut lowers the mean by 16 %, which is
compensated by scaling.
"""
LOW, HIGH = 1, 2
"""The numbers of Raijin's queues for jobs of low and of high priority."""


@dataclass(frozen=True, slots=True)
class SizeClass:
    """The jobs of one size. `jobs` and `work` are shares of the whole trace, in per cent."""

    processors: int
    jobs: float
    work: float


CLASSES = (
    # both numbers are published
    SizeClass(1, 49.0, 1.6),
    SizeClass(8, 7.0, 4.3),
    SizeClass(16, 8.0, 5.2),
    SizeClass(64, 6.0, 16.0),
    # the share of jobs is published; the work follows from the mean run times of sizes 1 (for 2 and 4) and 64
    SizeClass(2, 11.0, 0.7),
    SizeClass(4, 5.0, 0.7),
    SizeClass(48, 4.0, 8.0),
    # the share of work is published; the jobs follow from the mean run time of size 64
    SizeClass(128, 2.1, 11.2),
    SizeClass(256, 0.58, 6.2),
    SizeClass(320, 0.47, 6.3),
    SizeClass(512, 0.21, 4.4),
    # the remaining jobs have a size that the tables do not name, and get the mean run time of size 64
    SizeClass(32, 5.44, 7.3),
    # more than 1,000 processors: 1.2 % of the jobs, each size a quarter as many as the next smaller one; these get the
    # remaining work
    SizeClass(1024, 0.9035, 15.0),
    SizeClass(2048, 0.2259, 7.5),
    SizeClass(4096, 0.0565, 3.7),
    SizeClass(8192, 0.0141, 1.9),
)
TENTHS = (58.0, *(5.1625,) * 8, 0.7)
"""The per cent of the jobs whose run time is in (0, 0.1], (0.1, 0.2] … (0.9, 1] of their request. The first and the
last are published.
"""
LEAST_RATIO = 0.01


def raijin(jobs: int, processors: int, seed: int, scale: float = 1.0, load: float = 4.0, high_share: float = 0.2) -> SwfTrace:
    """Return `jobs` jobs, whose sizes are multiplied by `scale` (rounded, at least 1) and are at most LARGEST of the
    machine.

    Jobs are submitted in random order at equal distances, over the time that their work takes on the full machine divided by
    `load`. A random `high_share` of the jobs is in queue 2, the others are in queue 1. Raises SimunixError for parameters out
    of range.
    """
    _check(jobs, processors, scale, load, high_share)
    random = np.random.default_rng(seed)
    counts = quotas(jobs, [kind.jobs for kind in CLASSES])
    runtime = np.concatenate([runtimes(random, count, mean_s(kind)) for kind, count in zip(CLASSES, counts, strict=True)])
    size = np.repeat([scaled(kind.processors, processors, scale) for kind in CLASSES], counts)
    order = random.permutation(jobs)
    runtime, size = runtime[order], size[order]
    queue = np.full(jobs, LOW)
    queue[random.permutation(jobs)[: math.floor(high_share * jobs + 0.5)]] = HIGH
    span_s = float((size * runtime).sum()) / (processors * load)
    columns = {
        "submit_s": np.round(np.linspace(0.0, span_s, jobs, endpoint=False), 3),
        "runtime_s": runtime,
        "allocated": size,
        "requested": size,
        "requested_s": np.ceil(runtime / ratios(random, jobs)),
        "status": np.ones(jobs),
        "queue": queue,
    }
    parameters = {
        **{"model": "raijin", "jobs": jobs, "processors": processors, "scale": f"{scale:g}", "load": f"{load:g}"},
        **{"high_share": f"{high_share:g}", "seed": seed},
    }
    synthetic = "synthetic: sizes and requests as published of NCI's Raijin (Barberato, MPhil thesis, ANU 2018), no job is real"
    return build(columns, processors, parameters, (synthetic, "queue 2: high priority, drawn at random"))


def mean_s(kind: SizeClass) -> float:
    """Return the mean run time of a size in seconds: work / (jobs x processors), scaled to MEAN_RUNTIME_S over all jobs."""
    total = sum(each.jobs for each in CLASSES)
    mean = sum(each.work / each.processors for each in CLASSES) / total
    return MEAN_RUNTIME_S * kind.work / (kind.jobs * kind.processors) / mean


def scaled(size: int, processors: int, scale: float) -> int:
    """Return the processors of a job of this published size on a machine of this many `processors`."""
    return max(1, min(math.floor(LARGEST * processors), math.floor(size * scale + 0.5)))


def quotas(count: int, shares: Sequence[float]) -> list[int]:
    """Divide `count` things by these shares with the method of largest remainders; of equal remainders the first wins."""
    exact = [count * share / math.fsum(shares) for share in shares]
    whole = [math.floor(number) for number in exact]
    by_remainder = sorted(range(len(shares)), key=lambda place: whole[place] - exact[place])
    for place in by_remainder[: count - sum(whole)]:
        whole[place] += 1
    return whole


def runtimes(random: np.random.Generator, count: int, mean: float) -> np.ndarray:
    """Return run times in seconds, one drawn from each of `count` equally likely parts of the cut exponential
    distribution.
    """
    below = -math.expm1(-LONGEST)
    share = below * (np.arange(count) + random.random(count)) / max(count, 1)
    kept = 1 - LONGEST * math.exp(-LONGEST) / below  # the mean of the distribution after the cut, relative to the mean before
    return np.asarray(np.round(np.maximum(-mean / kept * np.log1p(-share), LEAST_RUNTIME_S), 1))


def ratios(random: np.random.Generator, count: int) -> np.ndarray:
    """Return `count` ratios of run time to requested time, in random order."""
    tenth = np.repeat(np.arange(10), quotas(count, TENTHS))
    least = np.where(tenth == 0, LEAST_RATIO, tenth / 10)
    drawn = (tenth + 1) / 10 - random.random(count) * ((tenth + 1) / 10 - least)
    return random.permutation(drawn)


def _check(jobs: int, processors: int, scale: float, load: float, high_share: float) -> None:
    for name, count in (("jobs", jobs), ("processors", processors)):
        if count < 1:
            raise SimunixError(f"{name} {count}: expected at least 1")
    for name, factor in (("scale", scale), ("load", load)):
        if not 0 < factor < math.inf:
            raise SimunixError(f"{name} {factor:g}: expected a number above 0")
    if not 0 <= high_share <= 1:
        raise SimunixError(f"high share {high_share:g}: expected a number from 0 to 1")
