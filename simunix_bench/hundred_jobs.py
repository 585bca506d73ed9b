"""Measure 100 jobs `sleep 60` on 4 nodes of 16 cores: in real time, with a clock accelerated by faketime, and emulated.

All programs of Slurm share the clock of one `faketime -m`, which runs the command that starts the daemons and submits.
faketime accelerates the time but not the work, so that work of milliseconds takes seconds of the faked time.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from simunix.rjms.adapter import CompletedJob
from simunix.workload.job import Job
from simunix_bench import emulated_cluster, real_cluster
from simunix_bench.context import Context
from simunix_bench.real_cluster import Machine
from simunix_bench.requirements import lacks
from simunix_bench.row import Aim, Row, at_most, missing

COUNT, LENGTH_S, NODES, CORES = 100, 60, 4, 16
RATES = (10, 100, 1000)
LIMIT_S, FAKED_LIMIT_S = 300.0, 60.0
STARTS = 3
TOLERANCE = 0.1
RESOLUTION_S = 1
"""The resolution, in seconds, of the times that Slurm records."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run. Makespan and lengths are of the completed jobs, in seconds of the time that Slurm saw."""

    lost: int
    wall_s: float
    makespan_s: float | None = None
    lengths_s: tuple[float, ...] = ()


def make_jobs() -> list[Job]:
    """Return the hundred jobs, all submitted as soon as sbatch can take them."""
    return [Job(number, 0, LENGTH_S, 10 * LENGTH_S, cores=1) for number in range(1, COUNT + 1)]


def outcome(noted: Mapping[str, CompletedJob], wall_s: float, count: int = COUNT) -> Outcome:
    """Return the result from Slurm's records; a job that did not complete counts as lost."""
    done = [job for job in noted.values() if job.state == "COMPLETED" and job.start_s is not None]
    if not done:
        return Outcome(count, wall_s)
    makespan_s = max(job.end_s for job in done) - min(job.submit_s for job in done)
    lengths_s = tuple(sorted(job.end_s - (job.start_s or 0) for job in done))
    return Outcome(count - len(done), wall_s, makespan_s, lengths_s)


def hundred_jobs(context: Context) -> Iterator[Row]:
    """Run the jobs in real time, under faketime and under simunix, and yield the rows and a comparison. --quick leaves
    out real time.
    """
    real = None
    real_why = "left out by --quick: it takes two minutes" if context.is_quick else lacks(["namespaces"])
    if real_why:
        yield missing("hundred-real", "100 jobs, real time", real_why)
    else:
        context.say("100 jobs in real time")
        run = real_cluster.run_jobs(context, make_jobs(), Machine(NODES, CORES), limit_s=LIMIT_S)
        real = outcome(run.jobs, run.wall_s)
        yield from rows_of("real", "real time", real, run.trouble)
    faked: list[Outcome] = []
    if why := lacks(["faketime", "namespaces"]):
        yield missing("hundred-faketime", "100 jobs, faketime", why)
    else:
        for rate in RATES:
            context.say(f"100 jobs under faketime, {rate:,} times as fast")
            found, trouble = under_faketime(context, rate)
            faked.append(found)
            yield from rows_of(f"faketime-{rate}", f"faketime ×{rate}", found, trouble)
    context.say("100 jobs under simunix")
    emulated = emulated_cluster.run_jobs(context, make_jobs(), NODES, CORES)
    ours = outcome(emulated.jobs, emulated.wall_s)
    yield from rows_of("simunix", "simunix", ours, lost_aim=at_most(0))
    yield from comparison(ours, real, faked)


def under_faketime(context: Context, rate: int) -> tuple[Outcome, str]:
    """Run the jobs under faketime; return the result, and a text on what went wrong.

    If daemons end by time-outs before the first job, the run is repeated.
    """
    failures: list[str] = []
    for _ in range(STARTS):
        run = real_cluster.run_jobs(context, make_jobs(), Machine(NODES, CORES), rate=rate, limit_s=FAKED_LIMIT_S)
        if run.jobs:
            break
        failures.append(run.trouble or "no job completed")
    said = [f"{len(failures)} of {STARTS} starts failed, the first one: {failures[0]}"] if failures else []
    return outcome(run.jobs, run.wall_s), "; ".join([*said, *([run.trouble] if run.jobs and run.trouble else [])])


def rows_of(name: str, text: str, found: Outcome, trouble: str = "", lost_aim: Aim | None = None) -> Iterator[Row]:
    """Yield the rows of one run: makespan, lengths, jobs lost, wall time."""
    name, text = f"hundred-{name}", f"100 jobs, {text}:"
    if found.makespan_s is None:
        yield missing(f"{name}-makespan", f"{text} makespan", trouble or "no job completed")
    else:
        least, middle, most = found.lengths_s[0], statistics.median(found.lengths_s), found.lengths_s[-1]
        yield Row(f"{name}-makespan", f"{text} makespan", found.makespan_s, "s")
        yield Row(f"{name}-shortest", f"{text} shortest job", least, "s", is_detail=True)
        yield Row(f"{name}-median", f"{text} median job", middle, "s", is_detail=True)
        lengths = f"jobs of 60 s took {least:g} to {most:g} s, median {middle:g} s"
        yield Row(f"{name}-longest", f"{text} longest job", most, "s", note=lengths)
    yield Row(f"{name}-lost", f"{text} jobs lost", found.lost, "", lost_aim, trouble)
    yield Row(f"{name}-wall", f"{text} wall time", found.wall_s, "s")


def comparison(ours: Outcome, real: Outcome | None, faked: list[Outcome]) -> Iterator[Row]:
    """Yield rows that say how exact simunix is, and how many times as fast as the fastest faketime, and as the fastest
    that is equally exact.
    """
    if ours.makespan_s is None:
        return
    if real is not None and real.makespan_s is not None:
        error_s = abs(ours.makespan_s - real.makespan_s)
        yield Row("hundred-error", "100 jobs, simunix: makespan off real time's by", error_s, "s", at_most(RESOLUTION_S))
        for rate, each in zip(RATES, faked, strict=False):
            if each.makespan_s is not None:
                off = abs(each.makespan_s - real.makespan_s)
                yield Row(f"hundred-error-{rate}", f"100 jobs, faketime ×{rate}: makespan off real time's by", off, "s")
    # a run whose daemons die at once does not count as fast
    ran_s = [each.wall_s for each in faked if each.makespan_s is not None]
    if ran_s:
        ratio = ours.wall_s / min(ran_s)
        yield Row("hundred-ratio", "100 jobs: wall, simunix ÷ fastest faketime", ratio, "×", at_most(1))
    if faked and real is not None:
        text = "100 jobs: wall, simunix ÷ fastest faketime that is near the truth"
        near = f"no job lost, makespan within {TOLERANCE:.0%} of real time's"
        exact_s = [each.wall_s for each in faked if each.lost == 0 and is_exact(each, real)]
        if exact_s:
            yield Row("hundred-exact-ratio", text, ours.wall_s / min(exact_s), "×", at_most(1), f"near the truth: {near}")
        else:
            yield missing("hundred-exact-ratio", text, f"no faketime was: {near}", at_most(1))


def is_exact(found: Outcome, real: Outcome | None) -> bool:
    """Return whether a run's makespan is about as long as in real time."""
    if found.makespan_s is None or real is None or real.makespan_s is None:
        return False
    return abs(found.makespan_s - real.makespan_s) <= TOLERANCE * real.makespan_s
