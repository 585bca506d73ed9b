"""Packs and list scheduling of Vidal's thesis on real Slurm: an I/O node is a node with a partition, a disk, a coordinator."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from simunix.io_coordinator.packs import PeriodicJob, write_jobs
from tests.conftest import ROOT, Simunix
from tests.system.runs import run

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

BANDWIDTH = 1000
EAGER = "bf_interval=1,sched_interval=1,sched_min_interval=0"
START_S = 3.0
"""What Slurm takes to start a job that is released, or has licences at last, and to find that the last one has ended."""
CLUSTER = """\
costs: {{clock_read: 0, poll: 0, call: 0}}
network: {{latency: 10us}}
hosts: [{{name: ctl, cores: 4}}, {{name: 'io[1-{nodes}]', cores: {processors}}}]
storages: [{{name: pfs, host: 'io[1-{nodes}]', read_bandwidth: {bandwidth}Bps, write_bandwidth: {bandwidth}Bps}}]
mounts: [{{path: /srv/pfs, host: 'io[1-{nodes}]', storage: pfs, cache: false}}]
environment: {{PYTHONPATH: {root}}}
slurm:
  controller: ctl
  nodes: 'io[1-{nodes}]'
  parameters: {{Licenses: 'io:100', SchedulerParameters: '{scheduler}'}}
  extra: |
{partitions}
stop: packs
processes:
  - name: coordinator
    host: 'io[1-{nodes}]'
    command: [{python}, -m, simunix.io_coordinator, --listen, 'unix:/tmp/coordinator']
  - name: packs
    host: ctl
    start: 5s
    command: |
      {python} -m simunix.rjms.slurm.packs {jobs} --partitions {names} --processors {processors} --bandwidth {bandwidth} \\
        {options} -- \\
        {python} -m simunix.io_coordinator.periodic {{number}} {{compute}} {{bytes}} {{phases}} \\
        --bandwidth {bandwidth} --file /srv/pfs/{{number}} --coordinator unix:/tmp/coordinator
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run has printed: how many packs, and the seconds from the first release to the last end."""

    packs: int
    makespan_s: float


def outcome(
    simunix: Simunix,
    folder: Path,
    jobs: Sequence[PeriodicJob],
    nodes: int,
    processors: int,
    options: str,
    scheduler: str = "sched_interval=600,bf_interval=600",
) -> Outcome:
    """Run jobs on real Slurm, whose scheduler looks for work when something happens, and seldom besides."""
    folder.mkdir()
    write_jobs(folder / "jobs.csv", jobs)
    names = [f"io{number}" for number in range(1, nodes + 1)]
    text = CLUSTER.format(
        nodes=nodes,
        processors=processors,
        bandwidth=BANDWIDTH,
        root=ROOT,
        partitions="\n".join(f"    PartitionName={name} Nodes={name} MaxTime=INFINITE State=UP" for name in names),
        python=sys.executable,
        jobs=folder / "jobs.csv",
        names=",".join(names),
        options=options,
        scheduler=scheduler,
    )
    (folder / "scenario.yaml").write_text(text)
    ran = run(simunix, folder / "scenario.yaml", folder / "out", timeout=550)
    output = ran.everything("ctl", "packs")
    lines = dict(line.split(maxsplit=1) for line in output.splitlines())
    assert "makespan" in lines, output
    return Outcome(len(lines.get("packs", "").split()), float(lines["makespan"]))


def test_four_equal_jobs_in_one_pack_in_two_and_by_licences(simunix: Simunix, tmp_path: Path) -> None:
    """E7: 166 s together, 208 s in two packs on one I/O node, 104 s on two, and 204 s two at a time."""
    jobs = [PeriodicJob(number, 2, 6.0, 4 * BANDWIDTH, 10) for number in (1, 2, 3, 4)]
    expected = {
        "First-Fit": (1, "", 1, 1, 166),
        "packs": (1, "--limit 1", 2, 2, 208),
        "packs on two": (2, "--limit 1", 2, 1, 104),
        "list": (1, "--list", 0, 2, 204),
    }
    for name, (nodes, options, packs, rounds, makespan_s) in expected.items():
        found = outcome(simunix, tmp_path / name.replace(" ", "-"), jobs, nodes, 8, options, EAGER)
        print(name, found)
        assert found.packs == packs, name
        assert makespan_s <= found.makespan_s <= makespan_s + START_S * rounds, (name, found)


PROCESSORS = 64
LOW, HIGH, DEVIATION = 0.1, 0.9, 0.1**0.5
"""Mean ratios of I/O to computing of both kinds of jobs, and how far single ones are from that."""


def workload(seed: int, load: float, count: int = 25) -> list[PeriodicJob]:
    """Jobs as III.C makes them, with fewer processors and a fiftieth of the phases; what it leaves open is chosen here.

    Ratios are drawn again until they are in [0.01, 1]; the number of processors is a power of 2, near a mean that `load` gives.
    """
    rng = random.Random(seed)
    low_part = rng.random()
    ratio = low_part * LOW + (1 - low_part) * HIGH
    mean = PROCESSORS * ratio / (load * (1 + ratio))
    jobs = []
    for number in range(1, count + 1):
        compute = float(rng.randint(10, 100))
        kind = LOW if rng.random() < low_part else HIGH
        share = next(value for _ in range(10**6) if 0.01 <= (value := rng.gauss(kind, DEVIATION)) <= 1)
        power = round(math.log2(max(1.0, mean)) + rng.choice((-1, 0, 0, 1)))
        processors = min(PROCESSORS, 2 ** max(0, power))
        jobs.append(PeriodicJob(number, processors, compute, round(compute * share * BANDWIDTH), rng.randint(5, 20)))
    return jobs


@pytest.mark.endurance
def test_more_io_nodes_make_packs_better_than_first_fit(simunix: Simunix, tmp_path: Path) -> None:
    """Figure III.13: what packs of load 1 take, relative to First-Fit's, falls with the I/O nodes: 1.09, 0.71, 0.53 there."""
    means = {}
    for nodes in (1, 3, 5):
        ratios = []
        for seed, load in enumerate((2.0, 4.0, 8.0), 2):
            jobs = workload(seed, load)
            limited, first_fit = (
                outcome(simunix, tmp_path / f"{nodes}-{seed}-{len(options)}", jobs, nodes, PROCESSORS, options)
                for options in ("--limit 1", "")
            )
            ratios.append(limited.makespan_s / first_fit.makespan_s)
            print(nodes, load, limited, first_fit, round(ratios[-1], 3), flush=True)
        means[nodes] = math.prod(ratios) ** (1 / len(ratios))
    print(means)
    assert means[1] >= 1 > means[3] > means[5]
