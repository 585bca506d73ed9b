"""Measure the wall time of 500 jobs in 14 hours on 10 nodes of 12 cores, with slurmdbd, MariaDB and multifactor
priority.

The jobs are drawn from the distribution of 500 jobs that the University at Buffalo has published, with a run of a real
Slurm on 10 nodes (ubccr-slurm-simulator/slurm_sim_tools, tutorials/micro_cluster/job_traces/jobs500org.events; the
first 98 jobs were counted). Sizes are those in SIZES; time limits are 5 to 30 whole minutes. Run times are 0 (17 of 98
jobs), the limit (8 of 98), or uniformly distributed between these. The original's features, memory and GPUs, for which
its jobs had to wait, are left out. Arrivals are spread over 14 hours instead of 7.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from simunix.workload.formats.swf import format_row
from simunix_bench.context import Context, MeasurementError
from simunix_bench.row import Row, at_most

COUNT, HOURS, SEED = 500, 14, 500
QUICK_COUNT, QUICK_HOURS = 50, 1.4
SIZES = {1: 27, 2: 3, 6: 18, 12: 30, 24: 5, 36: 8, 48: 4, 96: 3}
"""How many of 98 jobs asked for each number of cores."""
NO_TIME, WHOLE_LIMIT, OF = 17, 8, 98
AIM_S = 20
UNKNOWN = 9
SCENARIO = """
name: five-hundred-jobs
seed: 1
hosts:
  - {name: 'controller,login,accounting', cores: 4, memory: 8GiB}
  - {name: 'node[01-10]', cores: 12, sockets: 2, memory: 48GiB}
slurm:
  controller: controller
  login: login
  nodes: node[01-10]
  accounting_storage_type: slurmdbd
  accounting_storage_host: accounting
  accounting_storage_enforce: associations,limits
  sacctmgr:
    - add account physics Description='Physics' Organization=university
    - add user root Account=physics DefaultAccount=physics
  scheduler_parameters: bf_interval=30,bf_window=1440,bf_continue
  parameters:
    PriorityType: priority/multifactor
    PriorityDecayHalfLife: 0-4
    PriorityMaxAge: 0-5
    PriorityWeightAge: 50000
    PriorityWeightFairshare: 50000
    PriorityWeightJobSize: 200000
workload: {trace: jobs.swf, start: 10s}
"""


def draw(count: int, hours: float) -> list[list[float]]:
    """Return the drawn jobs: rows of nine SWF fields."""
    chance = random.Random(SEED)
    rows: list[list[float]] = []
    moment_s = 0.0
    for number in range(1, count + 1):
        cores = chance.choices(list(SIZES), list(SIZES.values()))[0]
        limit_s = 60 * chance.randint(5, 30)
        kind = chance.randrange(OF)
        part = 0.0 if kind < NO_TIME else 1.0 if kind < NO_TIME + WHOLE_LIMIT else chance.random()
        rows.append([number, round(moment_s), -1, round(part * limit_s), cores, -1, -1, cores, limit_s])
        moment_s += chance.expovariate(count / (hours * 3600))
    return rows


def five_hundred_jobs(context: Context) -> Iterator[Row]:
    """Run the workload once (with --quick, a tenth of it), and yield the row of its wall time."""
    count, hours = (QUICK_COUNT, QUICK_HOURS) if context.is_quick else (COUNT, HOURS)
    record, _ = context.scenario(write(context.folder, count, hours))
    done = record["jobs"].get("COMPLETED", 0) + record["jobs"].get("TIMEOUT", 0)
    if done != count:
        raise MeasurementError(f"{done} of {count} jobs ended: {record['jobs']}")
    note = f"{record['virtual_s'] / 3600:.1f} virtual hours; {record['jobs']}"
    text = f"{count} jobs with accounting, {hours:g} hours: "
    aim = None if context.is_quick else at_most(AIM_S)
    yield Row("five-hundred-wall", f"{text}wall time", record["wall_s"], "s", aim, note)
    yield Row("five-hundred-server", f"{text}the server's CPU time", record["server_cpu_s"], "s")


def write(folder: Path, count: int, hours: float) -> Path:
    """Write the scenario and its trace into a folder; return the scenario's file."""
    lines = [format_row(row + [-1] * UNKNOWN) for row in draw(count, hours)]
    (folder / "jobs.swf").write_text("\n".join(lines) + "\n")
    scenario = folder / "five-hundred-jobs.yaml"
    scenario.write_text(SCENARIO)
    return scenario
