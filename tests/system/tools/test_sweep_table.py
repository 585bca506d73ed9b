"""`simunix sweep --table`: intervals of real runs, and that two settings which are equal in truth are said to be."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from simunix.statistics.difference import DIFFERS, conclude, unpaired_difference
from tests.conftest import Simunix

pytestmark = pytest.mark.slow

SLEEP = "time.sleep(100 + random.expovariate(0.05))"
TOY = f"""
name: toy
hosts: [{{name: a}}]
processes: [{{name: p, host: a, command: [python3, -S, -c, 'import random, time; {SLEEP}']}}]
"""
EXPERIMENT = f"""
name: equal
scenario: toy.yaml
seed: 1
factors:
  draw:
    first: {{}}
    second: {{'processes[0].command': [python3, -S, -c, 'import random, time; random.random(); {SLEEP}']}}
repetitions: REPETITIONS
"""


def swept(simunix: Simunix, folder: Path, repetitions: int, *words: object) -> tuple[str, list[dict[str, str]]]:
    """Sweep the toy; return what was printed, and the rows of results.csv."""
    (folder / "toy.yaml").write_text(TOY)
    (folder / "e.yaml").write_text(EXPERIMENT.replace("REPETITIONS", str(repetitions)))
    done = simunix("sweep", folder / "e.yaml", "-o", folder / "out", "--metric", "virtual_s", *words, timeout=280)
    assert done.returncode == 0, done.stderr
    with (folder / "out/results.csv").open() as file:
        return done.stdout + done.stderr, list(csv.DictReader(file))


def test_equal_settings_differ_in_few_of_a_hundred_sweeps(simunix: Simunix, tmp_path: Path) -> None:
    """One sweep of real toy runs, of which a hundred sweeps of two settings with ten repetitions are drawn.

    Both settings sleep by the same distribution; the second one throws a draw away first, so that its draws are other ones.
    """
    printed, rows = swept(simunix, tmp_path, 12, "--table")
    assert "no difference" in printed and "difference" in printed
    values = np.array([float(row["virtual_s"]) for row in rows])
    assert len(set(values)) == 24 and values.min() > 100
    random = np.random.default_rng(7)
    told = 0
    for _ in range(100):
        first, second = random.choice(values, size=(2, 10))
        told += conclude([unpaired_difference(first, second)])[0].verdict == DIFFERS
    assert told <= 7


def test_going_on_until_an_interval_is_narrow(simunix: Simunix, tmp_path: Path) -> None:
    """Here the programs draw by themselves; `perturb` is asked for since a workload would need it."""
    (tmp_path / "toy.yaml").write_text(TOY)
    (tmp_path / "e.yaml").write_text("name: one\nscenario: toy.yaml\nperturb: {ties: true}\nrepetitions: 2\n")
    words = ("--metric", "virtual_s", "--until-width", "60%", "--most", 8, "--table", "--figures", tmp_path / "figures")
    done = simunix("sweep", tmp_path / "e.yaml", "-o", tmp_path / "out", *words, timeout=280)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "out/table.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert 2 < int(row["repetitions"]) <= 8
    assert float(row["relative_width"]) <= 0.6 or row["repetitions"] == "8"
    assert "simunix: on to" in done.stderr and "more needed for 60 %" in done.stdout
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"{kind}-virtual_s.{end}" for kind in ("box", "mean") for end in ("pdf", "svg", "png")
    }
