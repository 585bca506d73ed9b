"""The same jobs under simunix: a cluster of like nodes, the same sbatch commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simunix.bench.context import Context, MeasurementError
from simunix.rjms.adapter import CompletedJob
from simunix.rjms.slurm.accounting import parse_jobcomp
from simunix.workload.formats.swf import format_row
from simunix.workload.job import Job

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
"""Fields of a job in SWF that follow the nine that are used here."""


@dataclass(frozen=True, slots=True)
class EmulatedRun:
    """What Slurm noted of its jobs, by name; the wall time of the whole command."""

    jobs: dict[str, CompletedJob]
    wall_s: float


def run_jobs(context: Context, jobs: Sequence[Job], node_count: int, cores: int) -> EmulatedRun:
    """One run. Raises MeasurementError."""
    records = [[job.id, job.submit_s, -1, job.runtime_s, job.cores, -1, -1, job.cores, job.requested_s] for job in jobs]
    lines = [format_row(record + [-1] * UNKNOWN) for record in records]
    (context.folder / "jobs.swf").write_text("\n".join(lines) + "\n")
    scenario, out = context.folder / "jobs.yaml", context.folder / "emulated"
    first = f"{1:0{len(str(node_count))}d}"
    scenario.write_text(SCENARIO.format(first=first, nodes=node_count, cores=cores))
    done = context.simunix("run", scenario, "--out", out)
    logs = list(out.glob("hosts/controller/**/jobcomp.log"))
    if not logs:
        raise MeasurementError("the emulated Slurm noted no jobs")
    return EmulatedRun({job.name: job for job in parse_jobcomp(logs[0].read_text().splitlines()).values()}, done.wall_s)
