"""The worked what-ifs: the command in each scenario's head runs, and ends in one sentence about its variant."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.conftest import ROOT, Simunix
from tests.needs import require

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

SCENARIOS = sorted((ROOT / "scenarios/what-if").glob("*.yaml"))
FEW = "workload.max_jobs=20"
"""Enough to see that a command runs; the study has the results of all jobs."""
WHOLE = {"fairshare-decay", "reservation"}
"""Scenarios whose users must all have jobs, or whose jobs must be there when something happens, late in the run."""


def command_of(scenario: Path) -> list[str]:
    """The words of the command in the head of a scenario, without `simunix` and the repetitions."""
    lines = [line.removeprefix("#").strip() for line in scenario.read_text().splitlines() if line.startswith("#")][1:]
    words = shlex.split(" ".join(line.removesuffix("\\") for line in lines))
    assert words[:2] == ["simunix", "compare"] and words[-4:] == ["--repetitions", "5", "--set-all", "perturb=true"]
    return words[1:-4]


def test_there_are_ten_questions() -> None:
    assert len(SCENARIOS) == 10
    study = (ROOT / "docs/studies/what-if.md").read_text()
    assert all(f"## {path.stem.capitalize().replace('-', ' ')}" in study for path in SCENARIOS)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_the_command_runs_and_concludes(simunix: Simunix, tmp_path: Path, scenario: Path) -> None:
    if "slurmdbd" in scenario.read_text():
        require("slurmdbd", "mariadbd")
    words = command_of(scenario)
    words[1] = str(ROOT / words[1])
    few = [] if scenario.stem in WHOLE else ["--set-all", FEW]
    done = simunix(*words, *few, "-o", tmp_path / "out", timeout=400)
    assert done.returncode == 0, done.stderr
    name = words[words.index("--set") + 1].removesuffix(":")
    last = done.stdout.splitlines()[-1]
    assert last.startswith(f"Not decided: one run of each says nothing about noise; in these two, {name} has mean wait")
    assert "2 runs: 2 done" in done.stdout
