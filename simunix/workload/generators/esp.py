"""ESP-2, the Effective System Performance benchmark, and Light-ESP: 230 jobs of 14 types that fill any machine.

A. T. Wong, L. Oliker, W. T. C. Kramer, T. L. Kaltz, D. H. Bailey: ESP: A system utilization benchmark, SC 2000; version 2 as
distributed by NERSC. Light-ESP divides the run times by about 12: Y. Georgiou, Contributions for resource and job management in
high performance computing, PhD thesis, Grenoble 2010, and Glesser (PhD thesis, Grenoble 2016), Table 6.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rsg_server.errors import SimunixError
from simunix.workload.formats.swf import SwfTrace
from simunix.workload.generators.build import build


@dataclass(frozen=True, slots=True)
class JobType:
    """A type of job: its `fraction` of the machine's processors, the `count` of its jobs, and its run times in seconds.

    `runtime_s` is the run time of ESP-2, `light_s` that of Light-ESP.
    """

    name: str
    fraction: float
    count: int
    runtime_s: int
    light_s: int


JOB_TYPES = (
    JobType("A", 0.03125, 75, 267, 22),
    JobType("B", 0.06250, 9, 322, 27),
    JobType("C", 0.50000, 3, 534, 45),
    JobType("D", 0.25000, 3, 616, 51),
    JobType("E", 0.50000, 3, 315, 26),
    JobType("F", 0.06250, 9, 1846, 154),
    JobType("G", 0.12500, 6, 1334, 111),
    JobType("H", 0.15820, 6, 1067, 89),
    JobType("I", 0.03125, 24, 1432, 119),
    JobType("J", 0.06250, 24, 725, 60),
    JobType("K", 0.09570, 15, 487, 41),
    JobType("L", 0.12500, 36, 366, 30),
    JobType("M", 0.25000, 15, 187, 15),
    JobType("Z", 1.00000, 2, 100, 20),
)
WHOLE_MACHINE = "Z"
ORDINARY_QUEUE, URGENT_QUEUE = 1, 2
LIMIT_FACTOR = 1.5
"""The time limit of a job divided by its run time: ESP's scripts ask for half as much time again."""
LIGHT = 12.0
LEAST_PROCESSORS = 4


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The submissions: `burst` jobs at intervals of `mean_s`, a pause, and the other jobs at normally distributed
    intervals, in seconds.

    Emeras (PhD thesis, Grenoble 2013) submits 50 jobs, then the others at intervals of mean 6 and deviation 1. The
    thesis gives neither the intervals of the first jobs nor the pause; here these are one mean and ten means.
    """

    burst: int = 50
    mean_s: float = 6.0
    deviation_s: float = 1.0
    pause_s: float = 60.0

    def light(self) -> Arrivals:
        """Return the submissions with all intervals divided by LIGHT, as for Light-ESP's run times."""
        return Arrivals(self.burst, self.mean_s / LIGHT, self.deviation_s / LIGHT, self.pause_s / LIGHT)


def esp(processors: int, seed: int, light: bool = False, arrivals: Arrivals | None = None) -> SwfTrace:
    """Return the 230 jobs in random order, each of round(fraction x processors) processors, at least 1.

    The two Z jobs take the whole machine. These jobs come after a third and two thirds of the other jobs, and are in
    queue 2, to which the RJMS should give the higher priority. `executable` is the place of the job's type in the
    table, from 1. Raises SimunixError for fewer than 4 processors.
    """
    if processors < LEAST_PROCESSORS:
        raise SimunixError(f"processors {processors}: ESP's mix needs at least {LEAST_PROCESSORS}")
    arrivals = arrivals or (Arrivals().light() if light else Arrivals())
    random = np.random.default_rng(seed)
    ordinary = np.array(
        [place for place, kind in enumerate(JOB_TYPES) for _ in range(kind.count) if kind.name != WHOLE_MACHINE]
    )
    random.shuffle(ordinary)
    whole = next(place for place, kind in enumerate(JOB_TYPES) if kind.name == WHOLE_MACHINE)
    order = np.insert(ordinary, [len(ordinary) // 3, 2 * len(ordinary) // 3], whole)
    kinds = [JOB_TYPES[place] for place in order]
    sizes = np.array([max(1, int(kind.fraction * processors + 0.5)) for kind in kinds])
    runtimes = np.array([kind.light_s if light else kind.runtime_s for kind in kinds])
    columns = {
        "submit_s": _moments(random, len(order), arrivals),
        "runtime_s": runtimes,
        "allocated": sizes,
        "requested": sizes,
        "requested_s": np.floor(LIMIT_FACTOR * runtimes),
        "status": np.ones(len(order)),
        "executable": order + 1,
        "queue": np.where(order == whole, URGENT_QUEUE, ORDINARY_QUEUE),
    }
    parameters = {
        **{"model": "light-esp" if light else "esp2", "processors": processors, "seed": seed, "burst": arrivals.burst},
        **{"mean_s": f"{arrivals.mean_s:g}", "deviation_s": f"{arrivals.deviation_s:g}", "pause_s": f"{arrivals.pause_s:g}"},
    }
    notes = [f"executable {place}: type {kind.name}" for place, kind in enumerate(JOB_TYPES, 1)]
    return build(columns, processors, parameters, [*notes, "queue 2: whole machine, to be run before all others"])


def _moments(random: np.random.Generator, count: int, arrivals: Arrivals) -> np.ndarray:
    burst = min(arrivals.burst, count)
    first = np.arange(burst) * arrivals.mean_s
    gaps = np.maximum(random.normal(arrivals.mean_s, arrivals.deviation_s, count - burst), 0.0)
    begin = (first[-1] if burst else 0.0) + arrivals.pause_s
    return np.round(np.concatenate([first, begin + np.cumsum(gaps)]), 3)


def ideal_s(light: bool = False) -> float:
    """Return the sum of fraction x count x run time, in seconds: the makespan on a machine that is never idle.

    11,003 s for ESP-2; for Light-ESP the 935 s that Georgiou and Glesser print.
    """
    return sum(kind.fraction * kind.count * (kind.light_s if light else kind.runtime_s) for kind in JOB_TYPES)
