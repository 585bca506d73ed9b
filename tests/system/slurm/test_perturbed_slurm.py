"""Perturbed runs of real Slurm: the seed 0 is the run without perturbation, each other seed has a course of its own."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.conftest import Simunix

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SCENARIO = """
name: perturbed
hosts:
  - {name: 'controller,login', cores: 4}
  - {name: 'node[1-2]', cores: 4}
slurm: {controller: controller, login: login, nodes: 'node[1-2]'}
workload: {trace: jobs.swf}
"""
JOBS = "".join(f"{n} {20 * (n // 3)} -1 {30 + 7 * n} {4 + 4 * (n % 2)} -1 -1 {4 + 4 * (n % 2)} 120 -1\n" for n in range(1, 10))


class Course:
    """What became of one run."""

    def __init__(self, simunix: Simunix, folder: Path, seed: int, *settings: str) -> None:
        (folder / "s.yaml").write_text(SCENARIO)
        (folder / "jobs.swf").write_text("\n".join(line + " -1" * 8 for line in JOBS.splitlines()) + "\n")
        out = folder / "-".join((str(seed), *settings)).replace(" ", "").replace("/", "")
        words = [word for setting in settings for word in ("--set", setting)]
        done = simunix("run", folder / "s.yaml", "--seed", seed, *words, "--out", out, timeout=120)
        assert done.returncode == 0, done.stderr
        record = json.loads((out / "run.json").read_text())
        assert record["deterministic"], record
        self.digest = record["events_sha256"]
        with (out / "jobs.csv").open() as file:
            self.jobs = {int(row["job_id"]): row for row in csv.DictReader(file)}

    def times(self, column: str) -> list[float]:
        """A column of jobs.csv, in seconds, by the jobs' numbers."""
        return [float(self.jobs[number][column]) for number in sorted(self.jobs)]


def test_seeds_make_courses(simunix: Simunix, tmp_path: Path) -> None:
    plain = Course(simunix, tmp_path, 0)
    assert Course(simunix, tmp_path, 0, "perturb=true").digest == plain.digest
    first = Course(simunix, tmp_path, 1, "perturb={submission: 5s, run_time: 20%, ties: true}")
    assert Course(simunix, tmp_path, 2, "perturb={submission: 5s, run_time: 20%, ties: true}").digest != first.digest
    assert all(
        after >= before for after, before in zip(first.times("submission_time"), plain.times("submission_time"), strict=True)
    )
    assert first.times("execution_time") != plain.times("execution_time")
    assert first.times("starting_time") != plain.times("starting_time")


def test_the_same_seed_is_the_same_course(simunix: Simunix, tmp_path: Path) -> None:
    first = Course(simunix, tmp_path, 3, "perturb=true")
    (tmp_path / "3-perturb=true").rename(tmp_path / "earlier")
    assert Course(simunix, tmp_path, 3, "perturb=true").digest == first.digest


def test_late_cycles_alone_move_starts(simunix: Simunix, tmp_path: Path) -> None:
    plain, late = Course(simunix, tmp_path, 4), Course(simunix, tmp_path, 4, "perturb={cycles: 8s, timers: 50ms}")
    assert late.digest != plain.digest
    assert late.times("starting_time") != plain.times("starting_time")
    apart = [one - other for one, other in zip(late.times("submission_time"), plain.times("submission_time"), strict=True)]
    assert max(map(abs, apart)) < 0.5  # Slurm notes when slurmctld has the job, some of whose timers were late by up to 50 ms
