"""Generate workloads by Lublin and Feitelson's model of rigid parallel jobs: batch and interactive jobs, or one type
for all jobs.

U. Lublin, D. G. Feitelson: The workload on parallel supercomputers: modeling the characteristics of rigid jobs, Journal of
Parallel and Distributed Computing 63 (2003) 1105-1122; parameters and order of the steps as in their program m_lublin99.c
(https://www.cs.huji.ac.il/labs/parallel/workload/m_lublin99/). Times are in seconds.

* Size: 1 with probability `serial`; else 2^u, u from a two-stage uniform distribution on [low, med] and [med, high]; with
  probability `power_of_2` (of all jobs) u is rounded to a whole number first.
* Run time: exp(x), x hyper-gamma: gamma(a1, b1) with probability p = pa size + pb (kept in [0, 1]), else gamma(a2, b2); x above
  12 is drawn again.
* Arrival: exp(gamma(aarr x arar, barr)) / 1800 "points" between two jobs (above exp(13) s drawn again). A half hour of the day
  costs as many points as it has of the jobs of a day, relative to the mean: the difference of the distribution function of
  gamma(anum, bnum), the day beginning at the 11th half hour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from rsg_server.errors import SimunixError
from simunix.workload.formats.swf import SwfTrace
from simunix.workload.generators.build import build, check_count

SLOTS, SLOT_S = 48, 1800.0
DAY_BEGIN_SLOT = 11
LONGEST_LOG_RUNTIME, LONGEST_LOG_INTERVAL = 12.0, 13.0
PUBLISHED_PROCESSORS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Parameters of a type of job, named as in the paper and the program (see the text of this module).

    `queue` is the number of the type in the program's output.
    """

    queue: int
    serial: float
    power_of_2: float
    low: float
    med: float
    high: float
    low_share: float
    a1: float
    b1: float
    a2: float
    b2: float
    pa: float
    pb: float
    aarr: float
    barr: float
    anum: float
    bnum: float
    arar: float

    def for_processors(self, processors: int) -> Parameters:
        """Return the parameters for a machine of another size than the published 128 processors: med and high change by
        log2(processors / 128).

        Raises SimunixError if med would not be above low.
        """
        moved = math.log2(processors / PUBLISHED_PROCESSORS)
        if self.med + moved <= self.low:
            least = math.floor(PUBLISHED_PROCESSORS * 2 ** (self.low - self.med)) + 1
            raise SimunixError(f"processors {processors}: this model needs at least {least}")
        return replace(self, med=self.med + moved, high=self.high + moved)


INTERACTIVE = Parameters(
    queue=0,
    serial=0.1541,
    power_of_2=0.625,
    low=1.0,
    med=3.0,
    high=5.5,
    low_share=0.705,
    a1=3.8351,
    b1=0.6605,
    a2=7.073,
    b2=0.6856,
    pa=-0.0118,
    pb=0.9156,
    aarr=6.5510,
    barr=0.6621,
    anum=8.9186,
    bnum=3.6680,
    arar=0.9797,
)
BATCH = Parameters(
    queue=1,
    serial=0.2927,
    power_of_2=0.6686,
    low=1.2,
    med=5.0,
    high=7.0,
    low_share=0.875,
    a1=6.57,
    b1=0.823,
    a2=639.1,
    b2=0.0156,
    pa=-0.003,
    pb=0.6986,
    aarr=6.0415,
    barr=0.8531,
    anum=6.1271,
    bnum=5.2740,
    arar=1.0519,
)
ALL_ALIKE = Parameters(
    queue=0,
    serial=0.244,
    power_of_2=0.576,
    low=0.8,
    med=4.5,
    high=7.0,
    low_share=0.86,
    a1=4.2,
    b1=0.94,
    a2=312.0,
    b2=0.03,
    pa=-0.0054,
    pb=0.78,
    aarr=10.2303,
    barr=0.4871,
    anum=8.1737,
    bnum=3.9631,
    arar=1.0225,
)
JOB_TYPES = {"both": (INTERACTIVE, BATCH), "one": (ALL_ALIKE,), "interactive": (INTERACTIVE,), "batch": (BATCH,)}


def lublin(jobs: int, processors: int, seed: int, types: str = "both") -> SwfTrace:
    """Return `jobs` jobs of the JOB_TYPES called `types`, submitted from midnight on.

    Raises SimunixError for too few or too many jobs or processors.
    """
    check_count(jobs)
    if processors < 1:
        raise SimunixError(f"processors {processors}: expected at least 1")
    random = np.random.default_rng(seed)
    parts = [_of_type(random, jobs, kind.for_processors(processors)) for kind in JOB_TYPES[types]]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    first = np.argsort(columns["submit_s"], kind="stable")[:jobs]
    chosen = {name: values[first] for name, values in columns.items()}
    chosen["submit_s"] = np.floor(chosen["submit_s"])
    parameters = {"model": "lublin", "jobs": jobs, "processors": processors, "types": types, "seed": seed}
    notes = ("queue 0: interactive, queue 1: batch",) if types != "one" else ()
    acknowledged = "model by Uri Lublin and Dror Feitelson, Hebrew University"
    return build(chosen, processors, parameters, (acknowledged, *notes))


def _of_type(random: np.random.Generator, count: int, kind: Parameters) -> dict[str, np.ndarray]:
    size = sizes(random, count, kind)
    return {
        "submit_s": arrivals(random, count, kind),
        "runtime_s": np.floor(np.exp(log_runtimes(random, size, kind))),
        "allocated": size,
        "requested": size,
        "status": np.ones(count),
        "queue": np.full(count, kind.queue),
    }


def sizes(random: np.random.Generator, count: int, kind: Parameters) -> np.ndarray:
    """Return the numbers of processors of `count` jobs, drawn at random."""
    u = random.random(count)
    is_low = random.random(count) <= kind.low_share
    share = random.random(count)
    power = np.where(is_low, kind.low + share * (kind.med - kind.low), kind.med + share * (kind.high - kind.med))
    power = np.where(u <= kind.serial + kind.power_of_2, np.floor(power + 0.5), power)
    return np.where(u <= kind.serial, 1, np.floor(2.0**power + 0.5)).astype("int64")


def log_runtimes(random: np.random.Generator, size: np.ndarray, kind: Parameters) -> np.ndarray:
    """Return the natural logarithms of the run times in seconds, drawn at random for jobs of these sizes."""
    share = np.clip(kind.pa * size + kind.pb, 0.0, 1.0)
    found = np.full(len(size), np.inf)
    while (again := np.flatnonzero(found > LONGEST_LOG_RUNTIME)).size:
        is_first = random.random(again.size) <= share[again]
        shape, scale = np.where(is_first, kind.a1, kind.a2), np.where(is_first, kind.b1, kind.b2)
        found[again] = random.gamma(shape, scale)
    return found


def arrivals(random: np.random.Generator, count: int, kind: Parameters) -> np.ndarray:
    """Return `count` moments of submission in seconds since midnight, increasing, drawn at random.

    The published program spends "points" of each half hour one after the other. Here, the inverse of the day's
    cumulative points gives the same moments.
    """
    logs = np.full(count, np.inf)
    while (again := np.flatnonzero(logs > LONGEST_LOG_INTERVAL)).size:
        logs[again] = random.gamma(kind.aarr * kind.arar, kind.barr, again.size)
    days, points = np.divmod(np.cumsum(np.exp(logs) / SLOT_S), SLOTS)
    cumulated = np.concatenate([[0.0], np.cumsum(day_cycle(kind))])
    cumulated[-1] = SLOTS
    return np.asarray(days * SLOTS * SLOT_S + np.interp(points, cumulated, np.arange(SLOTS + 1) * SLOT_S))


def day_cycle(kind: Parameters) -> np.ndarray:
    """Return the points of each half hour of the day from midnight on; their mean is 1."""
    from scipy.stats import gamma

    slots = np.arange(DAY_BEGIN_SLOT, DAY_BEGIN_SLOT + SLOTS)
    edges = gamma.cdf(np.append(slots - 0.5, slots[-1] + 0.5), kind.anum, scale=kind.bnum)
    weights = np.empty(SLOTS)
    weights[(slots - 1) % SLOTS] = np.diff(edges)
    return np.asarray(weights / weights.mean())
