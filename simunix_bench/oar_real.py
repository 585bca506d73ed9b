"""Compare simunix's OAR with seven real runs of OAR (docs/studies/oar.md): tables of waits, starts and makespans, and a
picture.

    python -m simunix_bench.oar_real out/w1-s0 out/w1-s1 out/w2-s0 --figure docs/images/oar-real.png

A folder on the command line is the run directory of scenarios/oar-real.yaml; the trace in its run.json says which
workload it ran. Only jobs that ended in all runs of their workload count, so that a run that was ended early can be
compared.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simunix.report.drawing import PALETTE

ROOT = Path(__file__).resolve().parents[1]
VARIED = "oar.configuration."
"""Begins an override of a scenario that sets a variable of oar.conf."""
PAUSE = "SCHEDULER_MIN_TIME_BETWEEN_2_CALLS="
"""Sets the least number of seconds between two calls of OAR's scheduler. A run's name has only this number."""
REAL = ROOT / "scenarios/traces/oar-real.csv"
Course = Mapping[int, tuple[float, float, float]]
"""The submission, the start and the end of each job, in seconds after the first submission, by the job's number."""


def real_courses() -> dict[str, dict[str, Course]]:
    """Return the times of the jobs in the real runs of OAR, by workload and name of the run."""
    found: dict[str, dict[str, dict[int, tuple[float, float, float]]]] = {}
    with REAL.open() as file:
        for row in csv.DictReader(file):
            start_s = float(row["start_s"])
            times = (float(row["submit_s"]), start_s, start_s + float(row["run_s"]))
            found.setdefault(row["workload"], {}).setdefault(f"real {row['repetition']}", {})[int(row["job"])] = times
    return {workload: dict(runs) for workload, runs in found.items()}


def own_course(folder: Path) -> tuple[str, str, Course]:
    """Return the workload and the name of a simunix run, and the times of its jobs."""
    record = json.loads((folder / "run.json").read_text())
    workload = re.search(r"oar-real-(\d)\.swf", record["inputs"]["trace"]["path"])
    assert workload is not None
    with (folder / "jobs.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["finish_time"]]
    columns = ("submission_time", "starting_time", "finish_time")
    first = min(float(row["submission_time"]) for row in rows)
    times = {int(row["job_id"]): tuple(float(row[name]) - first for name in columns) for row in rows}
    return workload[1], run_name(record), {job: (one[0], one[1], one[2]) for job, one in times.items()}


def run_name(record: Mapping[str, Any]) -> str:
    """Return the name of a run from its run.json: with the seed unless it is 0, and the variables of oar.conf that it sets."""
    name = "ours" if record["seed"] == 0 else f"ours, seed {record['seed']}"
    varied = [word.removeprefix(VARIED) for word in record["overrides"] if word.startswith(VARIED)]
    short = [f"{word.removeprefix(PAUSE)} s" if word.startswith(PAUSE) else word for word in varied]
    return ", ".join((name, *short))


def with_common_jobs(runs: Mapping[str, Course]) -> dict[str, Course]:
    """Return the runs with only those jobs that all of them have."""
    common = set.intersection(*(set(course) for course in runs.values()))
    return {name: {job: times for job, times in course.items() if job in common} for name, course in runs.items()}


def own_numbers(name: str, course: Course) -> str:
    """Return a table's row for one run: number of jobs, mean, median and longest wait, makespan."""
    waits = np.array([start - submitted for submitted, start, _ in course.values()])
    makespan = max(end for *_, end in course.values())
    return f"| {name} | {len(course)} | {waits.mean():.0f} | {np.median(waits):.0f} | {waits.max():,.0f} | {makespan:,.0f} |"


def apart(names: tuple[str, str], one: Course, two: Course) -> str:
    """Return a table's row for two runs: how far starts are apart, and how many pairs of jobs start in another order."""
    common = sorted(one.keys() & two.keys())
    first, second = (np.array([course[job][1] for job in common]) for course in (one, two))
    waits = [np.array([course[job][1] - course[job][0] for job in common]) for course in (one, two)]
    left, right = np.triu_indices(len(common), 1)
    orders = first[left] - first[right], second[left] - second[right]
    clear = (np.abs(orders[0]) > 1) & (np.abs(orders[1]) > 1)
    inverted = 100 * np.mean((orders[0] * orders[1] < 0) & clear)
    distance = np.abs(first - second)
    return (
        f"| {', '.join(names)} | {distance.mean():.0f} | {np.median(distance):.0f} | {distance.max():.0f} | {inverted:.1f} "
        f"| {np.corrcoef(waits)[0, 1]:.3f} |"
    )


def draw(workloads: Mapping[str, Mapping[str, Course]], path: Path) -> None:
    """Draw the distributions of the waits into a file: a picture for each workload."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, all_axes = pyplot.subplots(1, len(workloads), figsize=(7.16, 2.6), layout="constrained", sharey=True, squeeze=False)
    for axes, (workload, runs) in zip(all_axes[0], sorted(workloads.items()), strict=True):
        for name, course in runs.items():
            waits = np.sort([start - submitted for submitted, start, _ in course.values()])
            is_real = name.startswith("real")
            number = sum(other.startswith("real") == is_real for other in list(runs)[: list(runs).index(name)])
            colour = ("#555555", "#999999", "#bbbbbb")[number % 3] if is_real else PALETTE[number % len(PALETTE)]
            shares = 100 * np.arange(1, len(waits) + 1) / len(waits)
            axes.step(waits, shares, where="post", color=colour, linewidth=1.0, label=name)
        axes.set_xscale("symlog", linthresh=10)
        axes.set_xticks([0, 10, 60, 600], ["0", "10", "60", "600"])
        axes.set_xticks([], minor=True)
        axes.set_title(f"workload {workload}", fontsize=8)
        axes.set_xlabel("wait at most, s", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.grid(color="#dddddd", linewidth=0.5)
        axes.legend(fontsize=6, frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=1)
    all_axes[0][0].set_ylabel("jobs, %", fontsize=8)
    figure.savefig(path, dpi=160)


def main() -> None:
    """Print the tables, and draw the picture if the command line asks for it."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="*", metavar="DIR")
    parser.add_argument("--figure", type=Path, metavar="FILE")
    options = parser.parse_args()
    workloads = {workload: dict(runs) for workload, runs in real_courses().items()}
    for folder in options.runs:
        workload, name, course = own_course(folder)
        workloads[workload][name] = course
    workloads = {workload: with_common_jobs(runs) for workload, runs in workloads.items()}
    for workload, runs in sorted(workloads.items()):
        print(f"\n**Workload {workload}**\n\n| run | jobs | mean wait, s | median | longest | makespan, s |")
        print(f"| --- |{' ---: |' * 5}")
        print("\n".join(own_numbers(name, course) for name, course in runs.items()))
        print("\n| runs | starts apart: mean, s | median | most | pairs inverted, % | correlation of waits |")
        print(f"| --- |{' ---: |' * 5}")
        pairs = itertools.combinations(runs, 2)
        print("\n".join(apart(pair, runs[pair[0]], runs[pair[1]]) for pair in pairs))
    if options.figure is not None:
        draw(workloads, options.figure)


if __name__ == "__main__":
    main()
