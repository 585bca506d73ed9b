"""Run the jobs of a benchmark under simunix: on a cluster of equal nodes, submitted by the same sbatch commands as on
the real cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simunix.rjms.adapter import CompletedJob
from simunix.rjms.slurm.accounting import parse_jobcomp
from simunix.workload.formats.swf import format_row
from simunix.workload.job import Job
from simunix_bench.context import Context, MeasurementError

SCENARIO = """
name: jobs
seed: 1
hosts:
  - {{name: controller, cores: 4, memory: 8GiB}}
  - {{name: login, cores: 4, memory: 8GiB}}
  - {{name: "node[{first}-{nodes}]", cores: {cores}, sockets: 2, memory: 64GiB}}
slurm: {{controller: controller, login: login, nodes: "node[{first}-{nodes}]"}}
workload: {{trace: jobs.swf, start: 10s}}
"""
UNKNOWN = 9
"""The number of SWF fields after the nine that are used here."""


@dataclass(frozen=True, slots=True)
class EmulatedRun:
    """The result of a run: Slurm's records of the jobs, by job name, and the wall time of the whole command in seconds."""

    jobs: dict[str, CompletedJob]
    wall_s: float


def write_scenario(folder: Path, jobs: Sequence[Job], node_count: int, cores: int) -> Path:
    """Write the scenario and its trace into a folder; return the scenario's file."""
    records = [[job.id, job.submit_s, -1, job.runtime_s, job.cores, -1, -1, job.cores, job.requested_s] for job in jobs]
    lines = [format_row(record + [-1] * UNKNOWN) for record in records]
    (folder / "jobs.swf").write_text("\n".join(lines) + "\n")
    first = f"{1:0{len(str(node_count))}d}"
    scenario = folder / "jobs.yaml"
    scenario.write_text(SCENARIO.format(first=first, nodes=node_count, cores=cores))
    return scenario


def run_jobs(context: Context, jobs: Sequence[Job], node_count: int, cores: int) -> EmulatedRun:
    """Run the jobs once under simunix, and return the result. Raises MeasurementError if the run fails."""
    scenario, out = write_scenario(context.folder, jobs, node_count, cores), context.folder / "emulated"
    done = context.simunix("run", scenario, "--out", out)
    logs = list(out.glob("hosts/controller/**/jobcomp.log"))
    if not logs:
        raise MeasurementError("the emulated Slurm noted no jobs")
    return EmulatedRun({job.name: job for job in parse_jobcomp(logs[0].read_text().splitlines()).values()}, done.wall_s)
