"""Measure what cgroups cost: the start of a slurmd, a job, and a large cluster, each with and without Slurm's plugins
for cgroups, in alternation.

The cost of a slurmd is the difference between a run with one node and a run with more nodes, divided by their number.
The cost of a job is computed likewise. Processor time is that of all processes of the run. Each figure is the median of
the ratios of two consecutive runs.
"""

from __future__ import annotations

import resource
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from simunix_bench.context import Context
from simunix_bench.growth import Growth, measure
from simunix_bench.plugins import WITH_CGROUPS, WITHOUT_CGROUPS, Plugins
from simunix_bench.row import Aim, Row, at_most

KINDS = {"without": WITHOUT_CGROUPS, "with": WITH_CGROUPS}
ROUNDS, QUICK_ROUNDS = 7, 2
ROUNDS_OF_LARGE = 2
NODES, JOBS = 16, 40
"""The number of additional slurmds, and of additional jobs, in the larger run."""
LARGE, QUICK_LARGE = 1024, 64
SCENARIO = """
name: cgroups
stop: processes
until: 30min
hosts:
  - {{name: controller, cores: 4, memory: 8GiB}}
  - {{name: 'node[01-{nodes:02d}]', cores: 8, memory: 16GiB}}
slurm: {{controller: controller, nodes: 'node[01-{nodes:02d}]'{plugins}}}
processes:
  - name: jobs
    host: controller
    start: 10s
    command:
      - sh
      - -c
      - |
        for job in $(seq {jobs}); do sbatch --wait -wnode01 -n1 --mem=100M -o /dev/null --wrap 'sleep 5' || exit 1; done
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """The seconds of processor time and of real time that a run, or a part of it, has taken."""

    cpu_s: float
    wall_s: float

    def above(self, less: Spent, count: int) -> Spent:
        """Return the cost of one slurmd or job, given the run `less` that had `count` fewer of them than this run."""
        return Spent((self.cpu_s - less.cpu_s) / count, (self.wall_s - less.wall_s) / count)


def cgroups(context: Context) -> Iterator[Row]:
    """Measure the cost of a slurmd and of a job, with and without cgroups."""
    rounds = [_round(context) for _ in range(QUICK_ROUNDS if context.is_quick else ROUNDS)]
    for name, text in (("slurmd", "start of a slurmd"), ("job", "a job `sleep 5`")):
        for kind, word, aim in (("cpu_s", "processor time", at_most(1.15)), ("wall_s", "wall time", None)):
            yield _ratio(f"cgroups-{name}-{kind[:-2]}", f"{text} with cgroups ÷ without: {word}", rounds, (name, kind), aim)


def _round(context: Context) -> dict[str, dict[str, Spent]]:
    """Return the cost of a slurmd and of a job, without and with cgroups."""
    found = {}
    for kind, plugins in KINDS.items():
        one, more, jobs = (_run(context, plugins, *size) for size in ((1, 0), (1 + NODES, 0), (1, JOBS)))
        found[kind] = {"slurmd": more.above(one, NODES), "job": jobs.above(one, JOBS)}
    return found


def _run(context: Context, plugins: Plugins, nodes: int, jobs: int) -> Spent:
    context.say(f"{nodes} nodes, {jobs} jobs, {'with' if plugins.cgroup else 'without'} cgroups")
    scenario = context.folder / "cgroups.yaml"
    scenario.write_text(SCENARIO.format(nodes=nodes, jobs=jobs, plugins=plugins.section()))
    before = _processor_s()
    record, _ = context.scenario(scenario)
    return Spent(_processor_s() - before, record["wall_s"])


def _processor_s() -> float:
    """Return the processor time, in seconds, of all descendants of this process that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _ratio(name: str, text: str, rounds: list[dict[str, dict[str, Spent]]], figure: tuple[str, str], aim: Aim | None) -> Row:
    """Return the median ratio of a figure, with to without cgroups; the note has both medians."""
    of_kind = {kind: [getattr(each[kind][figure[0]], figure[1]) * 1000 for each in rounds] for kind in KINDS}
    ratios = [with_ms / without_ms for without_ms, with_ms in zip(of_kind["without"], of_kind["with"], strict=True)]
    medians = ", ".join(f"{kind} {statistics.median(values):.1f} ms" for kind, values in of_kind.items())
    note = f"{medians}; ratios {min(ratios):.2f} to {max(ratios):.2f}"
    return Row(name, text, statistics.median(ratios), aim=aim, note=note)


def large(context: Context) -> Iterator[Row]:
    """Measure a large cluster with and without cgroups: the start, and the memory for each node."""
    nodes = QUICK_LARGE if context.is_quick else LARGE
    found: dict[str, list[Growth]] = {kind: [] for kind in KINDS}
    for number in range(1 if context.is_quick else ROUNDS_OF_LARGE):
        for kind, plugins in KINDS.items():
            folder = context.folder / f"{kind}-{number}"
            folder.mkdir()
            found[kind].append(measure(replace(context, folder=folder), nodes, 0.05, "auto", plugins=plugins))
    name, text = f"cgroups-{nodes}", f"{nodes:,} nodes with cgroups ÷ without:"
    for figure, word, unit, value, aim in FIGURES_OF_LARGE:
        medians = {kind: statistics.median(map(value, runs)) for kind, runs in found.items()}
        note = ", ".join(f"{kind} {median:.2f} {unit}" for kind, median in medians.items())
        yield Row(f"{name}-{figure}", f"{text} {word}", medians["with"] / medians["without"], aim=aim, note=note)


def _node_mib(found: Growth) -> float:
    return (found.memory + found.server + found.kernel) / found.nodes


FIGURES_OF_LARGE: tuple[tuple[str, str, str, Callable[[Growth], float], Aim | None], ...] = (
    ("start", "start", "s", lambda found: found.start_s, at_most(1.02)),
    ("start-cpu", "processor time of the start", "s", lambda found: found.start_cpu_s, None),
    ("memory", "memory of a node", "MiB", _node_mib, at_most(1.02)),
    ("job", "wall time of a job", "ms", lambda found: found.job_ms, None),
)
