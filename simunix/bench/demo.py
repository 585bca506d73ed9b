"""The demo, a day of the NASA iPSC on 16 nodes: how fast, and its wall time over the processor time of daemons and clients.

The day itself takes a day natively. Its native cost is put together from two measurements with real daemons on this computer:
the same jobs (sizes, order, sbatch commands), shortened and one after the other, and what the same daemons spend per second
when idle, times the length of the day.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from simunix.bench import real_cluster
from simunix.bench.context import CHECKOUT, Context
from simunix.bench.requirements import lacks
from simunix.bench.row import Aim, Row, at_most, missing
from simunix.workload.job import Job

SCENARIO = CHECKOUT / "scenarios" / "nasa-ipsc.yaml"
QUICK_UNTIL = "6h"
NODES, CORES = 16, 16
SCHEDULER = "bf_interval=30,bf_window=2880"
SHORT_S, EVERY_S = 0.1, 0.3
"""Run time and interval of the shortened jobs: hardly any waits for another, as in the day itself."""
IDLE_S, QUICK_IDLE_S = 30.0, 10.0
LIMIT_S = 600.0
RATIO = "demo: wall ÷ CPU time that the daemons and clients use natively"
AIM = at_most(1.5)


def demo(context: Context) -> Iterator[Row]:
    """Run it once; --quick its first six hours."""
    record, out = context.scenario(SCENARIO, *(("--until", QUICK_UNTIL) if context.is_quick else ()))
    wall_s, inside_s = record["wall_s"], record["wall_s"] - record["server_cpu_s"]
    yield Row("demo-speed-up", "demo: virtual seconds per wall second", record["virtual_s"] / wall_s)
    yield Row("demo-wall", "demo: wall time", wall_s, "s")
    yield Row("demo-server", "demo: the server's CPU time", record["server_cpu_s"], "s")
    yield Row(
        "demo-emulated-ratio",
        "demo: wall ÷ CPU time of the emulated daemons and clients",
        wall_s / inside_s,
        "×",
        note="all share one core: what of it the server did not use, they did (the shim in them included), or other work here",
    )
    yield from native_ratio(context, record, jobs_of(out / "jobs.csv"), AIM)


def native_ratio(context: Context, record: dict[str, Any], jobs: list[Job], aim: Aim) -> Iterator[Row]:
    """Wall time over the native processor time of the same jobs and as long a time."""
    if why := lacks(["namespaces"]):
        yield missing("demo-native-ratio", RATIO, why, aim)
        return
    if not jobs:
        yield missing("demo-native-ratio", RATIO, "no job was submitted so early in the day", aim)
        return
    context.say(f"{len(jobs)} jobs on real daemons, shortened")
    idle_s = QUICK_IDLE_S if context.is_quick else IDLE_S
    run = real_cluster.run_jobs(context, jobs, NODES, CORES, idle_s=idle_s, limit_s=LIMIT_S, scheduler=SCHEDULER)
    completed = sum(job.state == "COMPLETED" for job in run.jobs.values())
    if not run.has_ended or completed != len(jobs):
        yield missing("demo-native-ratio", RATIO, f"real daemons: {run.trouble or f'{completed} of {len(jobs)} jobs'}", aim)
        return
    rate, jobs_s = run.cost.idle_cpu_rate, run.cost.busy_cpu_s - run.cost.idle_cpu_rate * run.cost.busy_s
    idle_cpu_s, each_ms = rate * record["virtual_s"], jobs_s / len(jobs) * 1000
    note = (
        f"native CPU time: {jobs_s:.1f} s for {len(jobs)} jobs of the same sizes, shortened ({each_ms:.0f} ms each), "
        f"and {rate * 1e6:.0f} µs per idle second of slurmctld, 16 slurmds and one munged, "
        f"{idle_cpu_s:.1f} s in {record['virtual_s']:,.0f} s"
    )
    yield Row("demo-native-ratio", RATIO, record["wall_s"] / (jobs_s + idle_cpu_s), "×", aim, note)
    yield Row("demo-native-jobs", "demo: native CPU time of the jobs", jobs_s, "s", is_detail=True)
    yield Row("demo-native-idle", "demo: native CPU time of idle daemons", idle_cpu_s, "s", is_detail=True)


def jobs_of(path: Path) -> list[Job]:
    """The jobs of a run's jobs.csv in the order of submission, shortened and one after the other."""
    with path.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["submission_time"]]
    rows.sort(key=lambda row: (float(row["submission_time"]), int(row["job_id"])))
    return [
        Job(
            number,
            (number - 1) * EVERY_S,
            SHORT_S,
            float(row["requested_time"]),
            cores=int(row["requested_number_of_resources"]),
        )
        for number, row in enumerate(rows, 1)
    ]
