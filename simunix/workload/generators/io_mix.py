"""Generate jobs that alternate between computing and I/O, after N. Vidal's thesis.

Dash: Data-aware scheduling at higher scale, PhD thesis, Bordeaux 2022, chapter IV. Job i runs on Q_i nodes and has n_i
iterations, each of a_i seconds of computing and b_i seconds of I/O at the full bandwidth of the storage; all jobs are released
at 0. There are two families: `uniform` (the thesis's BU and NU), and `mira` (MB and MN: sizes and durations of Argonne's Mira).
Comments mark the parameters that the thesis leaves open and that are chosen here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix.workload.formats.swf import SwfTrace
from simunix.workload.generators.build import build, check_count

LOW, HIGH = 0.1, 0.9
VARIANCE = 0.1
"""The variance of the normal distributions. The thesis's 0.1 must be the variance, since only then do the truncated
distributions have the means 0.289 and 0.711 that it prints.
"""
UNIFORM_JOBS, UNIFORM_ITERATIONS, UNIFORM_COMPUTE_S = (100, 500), (1000, 10000), (10.0, 100.0)
UNIFORM_SIZES = 2 ** np.arange(12)
MIRA_RATE, MIRA_BLOCK, MIRA_NODES = 1.35e-4, 512, 49152
MIRA_ITERATIONS = (10, 100)
MIRA_DURATIONS = ((4096, 3600.0), (16384, 8100.0), (MIRA_NODES + 1, 1800.0))
"""(nodes, mean duration in seconds) for jobs with fewer nodes than this. For the second entry, the thesis says "more
than 2 hours".
"""
DURATION_DEVIATION = 0.1
"""The standard deviation of durations, as a part of the mean (the thesis says "variance 10 percent"). Durations are
positive.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class IoMix:
    """The jobs as columns of equal length: nodes, iterations, and the seconds of computing and of I/O in one iteration."""

    nodes: np.ndarray
    iterations: np.ndarray
    compute_s: np.ndarray
    io_s: np.ndarray
    processors: int
    parameters: Mapping[str, object]

    def trace(self) -> SwfTrace:
        """Return the jobs as an SWF trace. SWF has no I/O: the run time is that without contention for the storage, the
        CPU time that of the computing.
        """
        runtime = self.iterations * (self.compute_s + self.io_s)
        columns = {
            "submit_s": np.zeros(len(self.nodes)),
            "runtime_s": np.round(runtime, 3),
            "cpu_s": np.round(self.iterations * self.compute_s, 3),
            "allocated": self.nodes,
            "requested": self.nodes,
            "requested_s": np.ceil(runtime),
            "status": np.ones(len(self.nodes)),
        }
        return build(columns, self.processors, self.parameters, ["run time - CPU time is I/O alone on the storage"])

    @property
    def load(self) -> float:
        """The I/O load, without a unit: processors × sum(n b) / sum(nodes n (a + b)), equation III.5 of the thesis."""
        alone = self.iterations * (self.compute_s + self.io_s)
        return float(self.processors * (self.iterations * self.io_s).sum() / (self.nodes * alone).sum())


def uniform(
    seed: int, jobs: int | None = None, ratio: float | None = None, low_share: float = 0.5, saturation: float = 1.0
) -> IoMix:
    """Return the workload BU of the thesis or, if `ratio` is given, NU.

    b_i / a_i is normal around `ratio`; without it, around 0.1 for `low_share` of the jobs and around 0.9 for the others. n_i is
    uniform from 1,000 to 10,000, a_i from 10 to 100 s, and the number of jobs, unless given, from 100 to 500. Sizes are powers
    of 2 up to the machine's 2,048, with mean P x / (saturation (1 + x)) for the mean ratio x. The thesis tells no more of the
    sizes; here they have the distribution of most entropy. Raises SimunixError for parameters out of range.
    """
    random = np.random.default_rng(seed)
    count = int(random.integers(UNIFORM_JOBS[0], UNIFORM_JOBS[1] + 1)) if jobs is None else check_count(jobs)
    ratios = _io_shares(random, count, ratio, low_share)
    mean_ratio = float(ratios.mean())
    processors = int(UNIFORM_SIZES[-1])
    wanted = processors * mean_ratio / (_positive("saturation", saturation) * (1 + mean_ratio))
    nodes = random.choice(UNIFORM_SIZES, count, p=size_weights(wanted))
    compute_s = random.uniform(*UNIFORM_COMPUTE_S, count)
    iterations = random.integers(UNIFORM_ITERATIONS[0], UNIFORM_ITERATIONS[1] + 1, count)
    parameters = _parameters("uniform", count, ratio, low_share, seed) | {"saturation": f"{saturation:g}"}
    return IoMix(
        nodes=nodes,
        iterations=iterations,
        compute_s=compute_s,
        io_s=ratios * compute_s,
        processors=processors,
        parameters=parameters,
    )


def mira(seed: int, jobs: int = 250, ratio: float | None = None, low_share: float = 0.5) -> IoMix:
    """Return the workload MB of the thesis or, if `ratio` is given, MN.

    The share of I/O in a job's time is normal around `ratio`; without it, as in `uniform`. Nodes are exponential with rate
    1.35e-4 from 512 to 49,152, in blocks of 512 (Mira's smallest partition); durations depend on the size; jobs have 10 to 100
    iterations. The volume of I/O grows with the nodes: a job needs b_i seconds with its nodes' share of the bandwidth of the
    storage, and b_i nodes / 49,152 seconds with the full bandwidth. Raises SimunixError for parameters out of range.
    """
    random = np.random.default_rng(seed)
    count = check_count(jobs)
    blocks = np.arange(MIRA_BLOCK, MIRA_NODES + 1, MIRA_BLOCK)
    weights = np.exp(-MIRA_RATE * blocks)
    nodes = random.choice(blocks, count, p=weights / weights.sum())
    places = np.searchsorted([least for least, _ in MIRA_DURATIONS], nodes, side="right")
    means = np.array([mean_s for _, mean_s in MIRA_DURATIONS])[places]
    durations = means * _truncated(random, np.ones(count), DURATION_DEVIATION, 0.0, 2.0)
    shares = _io_shares(random, count, ratio, low_share)
    iterations = random.integers(MIRA_ITERATIONS[0], MIRA_ITERATIONS[1] + 1, count)
    compute_s = durations * (1 - shares) / iterations
    io_s = durations * shares / iterations * nodes / MIRA_NODES
    return IoMix(
        nodes=nodes,
        iterations=iterations,
        compute_s=compute_s,
        io_s=io_s,
        processors=MIRA_NODES,
        parameters=_parameters("mira", count, ratio, low_share, seed),
    )


def _parameters(model: str, count: int, ratio: float | None, low_share: float, seed: int) -> dict[str, object]:
    shape = {"low_share": f"{low_share:g}"} if ratio is None else {"ratio": f"{ratio:g}"}
    return {"model": model, "jobs": count, **shape, "seed": seed}


def _io_shares(random: np.random.Generator, count: int, ratio: float | None, low_share: float) -> np.ndarray:
    if not 0 <= low_share <= 1:
        raise SimunixError(f"low share {low_share:g}: expected between 0 and 1")
    if ratio is not None and not 0 <= ratio <= 1:
        raise SimunixError(f"ratio {ratio:g}: expected between 0 and 1")
    means = np.where(random.random(count) < low_share, LOW, HIGH) if ratio is None else np.full(count, ratio)
    return _truncated(random, means, VARIANCE**0.5, 0.0, 1.0)


def _truncated(random: np.random.Generator, means: np.ndarray, deviation: float, low: float, high: float) -> np.ndarray:
    """Return draws from normal distributions around `means`; values outside of [low, high] are drawn again."""
    found = np.full(len(means), np.nan)
    while (again := np.flatnonzero(~((found >= low) & (found <= high)))).size:
        found[again] = random.normal(means[again], deviation)
    return found


def size_weights(mean: float) -> np.ndarray:
    """Return probabilities of UNIFORM_SIZES, proportional to exp(-t size), with this mean (or the nearest possible one)."""
    from scipy.optimize import brentq

    sizes = UNIFORM_SIZES / UNIFORM_SIZES[-1]

    def weights(t: float) -> np.ndarray:
        raw = np.exp(-t * sizes - np.max(-t * sizes))
        return np.asarray(raw / raw.sum())

    target = float(np.clip(mean / UNIFORM_SIZES[-1], sizes[0] * 1.01, 0.99))
    return weights(brentq(lambda t: float(weights(t) @ sizes) - target, -1e4, 1e5))


def _positive(name: str, value: float) -> float:
    if not 0 < value < np.inf:
        raise SimunixError(f"{name} {value:g}: expected a number above 0")
    return value


def write_batsim(path: Path, mix: IoMix, bandwidth: float, provenance: list[str]) -> None:
    """Write a Batsim 5 workload: each job repeats a delay and a write of b_i x bandwidth bytes to the storage `pfs`.

    `bandwidth` is in bytes per second. The profiles are DelayProfile, ParallelTaskOnStorageHomogeneousProfile and
    SequentialCompositionProfile. Raises SimunixError if the file cannot be written.
    """
    profiles: dict[str, object] = {}
    jobs = []
    for place in range(len(mix.nodes)):
        number, nodes = place + 1, int(mix.nodes[place])
        volume = float(mix.io_s[place]) * bandwidth
        profiles[f"compute_{number}"] = {"type": "DelayProfile", "delay": round(float(mix.compute_s[place]), 6)}
        profiles[f"io_{number}"] = {
            "type": "ParallelTaskOnStorageHomogeneousProfile",
            "cpu": 0,
            "bytes_to_read": 0,
            "bytes_to_write": round(volume),
            "storage": "pfs",
        }
        profiles[f"job_{number}"] = {
            "type": "SequentialCompositionProfile",
            "repeat": int(mix.iterations[place]),
            "seq": [f"compute_{number}", f"io_{number}"],
        }
        jobs.append({"id": number, "subtime": 0, "res": nodes, "profile": f"job_{number}"})
    workload = {"nb_res": mix.processors, "provenance": provenance, "jobs": jobs, "profiles": profiles}
    try:
        with whole_path(path) as draft:
            draft.write_text(json.dumps(workload, indent=1) + "\n")
    except OSError as error:
        raise SimunixError(unwritten(path, error)) from error
