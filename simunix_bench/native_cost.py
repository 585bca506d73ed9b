"""Compute the ratio of a run's wall time to the processor time that the same daemons and clients use natively for the
same jobs.

A native run would take as long as the trace. Its cost is therefore composed of two measurements with real daemons on this
computer: the cost of the same jobs (sizes, order, sbatch commands; of thousands a sample), shortened and one after the other,
and the cost of the idle daemons per second times the length of the run.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from simunix.planning.expand import expand
from simunix.rjms.scenario import cluster_sections, load
from simunix.rjms.slurm.section import SlurmSection
from simunix.workload.job import Job
from simunix_bench import real_cluster
from simunix_bench.context import Context
from simunix_bench.real_cluster import Machine
from simunix_bench.requirements import lacks
from simunix_bench.row import Aim, Row, missing

SHORT_S, EVERY_S = 0.1, 0.3
"""The run time and the interval of the shortened jobs, in seconds; as in the run itself, hardly any job waits for
another.
"""
MOST_JOBS = 300
IDLE_S, QUICK_IDLE_S = 30.0, 10.0
LIMIT_S = 600.0


def native_ratio(
    context: Context, name: str, scenario: Path, record: dict[str, Any], jobs_csv: Path, aim: Aim | None = None
) -> Iterator[Row]:
    """Yield the row with the ratio of the run's wall time to the native processor time of the same jobs and virtual
    time. `record` is the content of run.json.
    """
    machine = machine_of(scenario)
    text = f"{name}: wall ÷ CPU time that the daemons and clients use natively"
    if why := lacks(["namespaces"]):
        yield missing(f"{name}-native-ratio", text, why, aim)
        return
    every = jobs_of(jobs_csv)
    if not every:
        yield missing(f"{name}-native-ratio", text, "no job was submitted in so short a run", aim)
        return
    jobs = sample(every)
    context.say(f"{len(jobs)} jobs on real daemons, shortened")
    idle_s = QUICK_IDLE_S if context.is_quick else IDLE_S
    run = real_cluster.run_jobs(context, jobs, machine, idle_s=idle_s, limit_s=LIMIT_S)
    completed = sum(job.state == "COMPLETED" for job in run.jobs.values())
    if not run.has_ended or completed != len(jobs):
        yield missing(f"{name}-native-ratio", text, f"real daemons: {run.trouble or f'{completed} of {len(jobs)} jobs'}", aim)
        return
    rate = run.cost.idle_cpu_rate
    each_s = (run.cost.busy_cpu_s - rate * run.cost.busy_s) / len(jobs)
    jobs_s, idle_cpu_s = each_s * len(every), rate * record["virtual_s"]
    shortened = "shortened" if len(jobs) == len(every) else f"shortened, from {len(jobs)} of them"
    note = (
        f"native CPU time: {jobs_s:.1f} s for {len(every):,} jobs of these sizes, {shortened} ({each_s * 1000:.0f} ms each), "
        f"and {rate * 1e6:.0f} µs per idle second of slurmctld, {machine.nodes} slurmds and one munged, "
        f"{idle_cpu_s:,.1f} s in {record['virtual_s']:,.0f} s"
    )
    yield Row(f"{name}-native-ratio", text, record["wall_s"] / (jobs_s + idle_cpu_s), "×", aim, note)
    yield Row(f"{name}-native-jobs", f"{name}: native CPU time of the jobs", jobs_s, "s", is_detail=True)
    yield Row(f"{name}-native-idle", f"{name}: native CPU time of idle daemons", idle_cpu_s, "s", is_detail=True)


def machine_of(scenario: Path) -> Machine:
    """Return the machine (nodes and cores) of a scenario that has one cluster."""
    model = load(scenario, ())
    ((_, _, section),) = cluster_sections(model)
    assert isinstance(section, SlurmSection)
    (cluster,) = expand(model, scenario.parent).clusters
    nodes = len(cluster.nodes)
    return Machine(nodes, cluster.cores // nodes, section.scheduler_parameters, section.parameters)


def jobs_of(path: Path) -> list[Job]:
    """Return the jobs in a jobs.csv in the order of submission, shortened and submitted at equal intervals."""
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


def sample(jobs: Sequence[Job]) -> list[Job]:
    """Return every n-th job, at most MOST_JOBS, submitted at equal intervals."""
    step = -(-len(jobs) // MOST_JOBS)
    return [replace(job, submit_s=place * EVERY_S) for place, job in enumerate(jobs[::step])]
