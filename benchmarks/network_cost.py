"""Measure how much real time the model of the network adds to a run of Slurm on 16 nodes.

    python benchmarks/network_cost.py [--repetitions N] [--until TIME]

Each repetition runs the first hours of the demo's day with each model of the network: LV08 and raw, in which flows
share links, and constant, in which flows do not. Each repetition begins with another model. Wall times are printed as
the median, the least and the greatest; each ratio compares a run with the `constant` run of the same repetition. The
script measures two networks: the demo's 10 Gbit/s, where messages rarely share a link, and 1 Mbit/s, where they often
do.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "scenarios" / "nasa-ipsc.yaml"
MODELS = ("constant", "raw", "LV08")
"""The models of the network that are compared; all ratios are relative to the first one."""
NETWORKS = ("10Gbps", "1Mbps")


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one run: real seconds, number of turns (an emulated thread that is given the right to run), and
    number of calls of the network solver.
    """

    wall_s: float
    server_cpu_s: float
    turns: int
    solves: int


def run(bandwidth: str, model: str, until: str) -> Cost:
    """Run the scenario with a bandwidth and a model of the network, and return its cost. If the run fails, exit with
    the run's messages.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        settings = [f"--set=network.bandwidth={bandwidth}", f"--set=network.model={model}"]
        command = [
            sys.executable,
            "-m",
            "simunix.cli.main",
            "run",
            str(SCENARIO),
            *settings,
            "--until",
            until,
            "--out",
            str(out),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{model}: {done.stderr.strip()}")
        record = json.loads((out / "run.json").read_text())
    return Cost(record["wall_s"], record["server_cpu_s"], record["turns"], record["counts"]["solves"])


def measure(bandwidth: str, repetitions: int, until: str) -> dict[str, list[Cost]]:
    """Run the scenario with all models in each repetition, and return the costs by model. Each repetition begins with
    another model.
    """
    costs: dict[str, list[Cost]] = {model: [] for model in MODELS}
    for number in range(repetitions):
        first = number % len(MODELS)
        for model in (*MODELS[first:], *MODELS[:first]):
            costs[model].append(run(bandwidth, model, until))
    return costs


def line(model: str, costs: dict[str, list[Cost]]) -> str:
    """Return the row of a model: medians, extremes, and ratios to the first of MODELS."""
    own, others = costs[model], costs[MODELS[0]]
    walls = [cost.wall_s for cost in own]
    ratio = statistics.median(cost.wall_s / other.wall_s for cost, other in zip(own, others, strict=True))
    cpu = statistics.median(cost.server_cpu_s for cost in own)
    spread = f"{statistics.median(walls):7.2f} ({min(walls):.2f}-{max(walls):.2f})"
    turns = own[0].turns
    return f"{model:<9} {spread:>22} {ratio:7.3f} {cpu:13.2f} {turns:11,} {turns / others[0].turns:7.3f} {own[0].solves:9,}"


def main() -> None:
    """Print a table of costs for each of the two networks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="of each model on each network (default: 5)")
    parser.add_argument("--until", default="4h", metavar="TIME", help="virtual time of each run (default: 4h)")
    options = parser.parse_args()
    if options.repetitions < 1:
        parser.error(f"--repetitions {options.repetitions}: expected 1 or more")
    for bandwidth in NETWORKS:
        costs = measure(bandwidth, options.repetitions, options.until)
        print(f"{bandwidth}, {options.until} of {SCENARIO.name}, {options.repetitions} repetitions")
        print(
            f"{'model':<9} {'wall time (s)':>22} {'ratio':>7} {'server CPU (s)':>13} {'turns':>10} {'ratio':>7} {'solves':>9}"
        )
        for model in MODELS:
            print(line(model, costs))
        print()


if __name__ == "__main__":
    main()
