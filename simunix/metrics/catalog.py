"""The table of all metrics of a whole schedule: name, title, unit, formula, which jobs count, and the equal column of
Batsim's schedule.csv.

`simunix.metrics.schedule.summary` computes the metrics. The terminal, the page, run.json, results.csv of a sweep, schedule.csv
and comparisons show these numbers and compute none of their own. `docs/reference/metrics.md` is made from this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Unit(Enum):
    """The units of metrics, as texts in tables."""

    NUMBER = ""
    COUNT = "count"
    SHARE = "0 … 1"
    SECONDS = "s"
    PER_SECOND = "1/s"
    JOULES = "J"
    CORE_SECONDS = "core s"
    GPU_SECONDS = "GPU s"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a whole schedule. `help` is its formula in words, `jobs` says which jobs count. `batsim` is the equal
    column of Batsim's schedule.csv, or "".

    With `shows_zero` false, tables for people omit the metric while it is 0; with `on_page` false, they always omit it.
    `less_is_better` is None if neither more nor less is better.
    """

    name: str
    title: str
    unit: Unit
    help: str
    jobs: str
    batsim: str = ""
    on_page: bool = True
    shows_zero: bool = True
    less_is_better: bool | None = None


ALL, STARTED, FINISHED, USERS = "all", "started", "finished", "finished, of known users"
PER_PROCESSOR = "max(1, turnaround / (processors × max(run time, 10 s)))"
BOUNDED = "max(1, turnaround / max(run time, 10 s))"
JAIN = "(Σx)² / (n Σx²) of the n users' means x: 1 if all are equal, 1/n if one has all"
KNOWN = "jobs whose RJMS records earlier runs"
PRESENT = "finished; for a window, or a replay without its context: all jobs that hold processors"

METRICS = (
    Metric("jobs", "jobs", Unit.COUNT, "jobs of the workload", ALL),
    Metric("finished", "finished", Unit.COUNT, "jobs that started and ended", FINISHED, "nb_jobs_finished"),
    Metric("makespan", "makespan", Unit.SECONDS, "last end − first submission", FINISHED, less_is_better=True),
    Metric(
        "utilisation",
        "utilisation",
        Unit.SHARE,
        "work / (processors × makespan); work = Σ processors × run time",
        PRESENT,
        less_is_better=False,
    ),
    Metric("throughput", "throughput, jobs/h", Unit.PER_SECOND, "finished / makespan", FINISHED, less_is_better=False),
    Metric(
        "mean_waiting_time",
        "wait, mean",
        Unit.SECONDS,
        "mean of the waits: start − submission",
        STARTED,
        "mean_waiting_time",
        less_is_better=True,
    ),
    Metric("median_waiting_time", "wait, median", Unit.SECONDS, "median of the waits", STARTED, less_is_better=True),
    Metric("max_waiting_time", "wait, longest", Unit.SECONDS, "longest wait", STARTED, "max_waiting_time", less_is_better=True),
    Metric(
        "mean_turnaround_time",
        "turnaround, mean",
        Unit.SECONDS,
        "mean of the turnarounds: end − submission",
        FINISHED,
        "mean_turnaround_time",
        less_is_better=True,
    ),
    Metric("median_turnaround_time", "turnaround, median", Unit.SECONDS, "median of the turnarounds", FINISHED, on_page=False),
    Metric(
        "max_turnaround_time",
        "turnaround, longest",
        Unit.SECONDS,
        "longest turnaround",
        FINISHED,
        "max_turnaround_time",
        on_page=False,
    ),
    Metric("mean_slowdown", "slowdown, mean", Unit.NUMBER, "mean of turnaround / run time", FINISHED, "mean_slowdown"),
    Metric("median_slowdown", "slowdown, median", Unit.NUMBER, "median of turnaround / run time", FINISHED, on_page=False),
    Metric(
        "max_slowdown",
        "slowdown, largest",
        Unit.NUMBER,
        "largest turnaround / run time",
        FINISHED,
        "max_slowdown",
        on_page=False,
    ),
    Metric(
        "mean_bounded_slowdown",
        "bounded slowdown, mean",
        Unit.NUMBER,
        f"mean of {BOUNDED}",
        FINISHED,
        less_is_better=True,
    ),
    Metric("median_bounded_slowdown", "bounded slowdown, median", Unit.NUMBER, f"median of {BOUNDED}", FINISHED),
    Metric("max_bounded_slowdown", "bounded slowdown, largest", Unit.NUMBER, f"largest {BOUNDED}", FINISHED),
    Metric("mean_per_processor_slowdown", "per-processor slowdown, mean", Unit.NUMBER, f"mean of {PER_PROCESSOR}", FINISHED),
    Metric(
        "median_per_processor_slowdown",
        "per-processor slowdown, median",
        Unit.NUMBER,
        f"median of {PER_PROCESSOR}",
        FINISHED,
        on_page=False,
    ),
    Metric(
        "max_per_processor_slowdown",
        "per-processor slowdown, largest",
        Unit.NUMBER,
        f"largest {PER_PROCESSOR}",
        FINISHED,
        on_page=False,
    ),
    Metric(
        "weighted_slowdown_mean", "weighted slowdown, mean", Unit.NUMBER, "Σ(processors × slowdown) / Σ processors", FINISHED
    ),
    Metric("weighted_slowdown_total", "weighted slowdown, total", Unit.NUMBER, "Σ(processors × slowdown) / jobs", FINISHED),
    Metric(
        "mean_scheduling_delay",
        "scheduling delay, mean",
        Unit.SECONDS,
        "mean of start − the moment since which enough processors were idle",
        STARTED,
    ),
    Metric("users", "users", Unit.COUNT, "users known to the RJMS's accounting", ALL),
    Metric("user_fairness_waiting_time", "fairness of waits", Unit.NUMBER, f"Jain's index of waits: {JAIN}", USERS),
    Metric(
        "user_fairness_bounded_slowdown",
        "fairness of slowdowns",
        Unit.NUMBER,
        f"Jain's index of bounded slowdowns: {JAIN}",
        USERS,
    ),
    Metric(
        "restarts",
        "requeues",
        Unit.COUNT,
        "runs after which the job was queued again",
        KNOWN,
        shows_zero=False,
        less_is_better=True,
    ),
    Metric(
        "preemptions",
        "preemptions",
        Unit.COUNT,
        "runs that the RJMS ended to make room for another job",
        KNOWN,
        shows_zero=False,
        less_is_better=True,
    ),
    Metric(
        "lost_core_seconds",
        "lost core hours",
        Unit.CORE_SECONDS,
        "Σ processors × length of the lost runs: runs before a requeue, and last runs that a preemption or a node ended",
        KNOWN,
        shows_zero=False,
        less_is_better=True,
    ),
    Metric(
        "lost_gpu_seconds",
        "lost GPU hours",
        Unit.GPU_SECONDS,
        "Σ GPUs × length of the lost runs",
        KNOWN,
        shows_zero=False,
        less_is_better=True,
    ),
    Metric(
        "gpu_seconds",
        "GPU hours",
        Unit.GPU_SECONDS,
        "Σ GPUs × run time",
        "finished, with a known number of GPUs",
        shows_zero=False,
    ),
    Metric(
        "consumed_energy",
        "energy of the jobs",
        Unit.JOULES,
        "joules of the jobs' hosts during the jobs' last runs, in proportion to each job's cores",
        "finished, on hosts with watts",
        less_is_better=True,
    ),
    Metric(
        "machine_energy",
        "energy of the machine",
        Unit.JOULES,
        "joules of all nodes and enclosures from the first submission to the last end",
        FINISHED,
        "consumed_joules",
        less_is_better=True,
    ),
)
"""All metrics, in the order in which the report's page shows them."""
BY_NAME = {metric.name: metric for metric in METRICS}
