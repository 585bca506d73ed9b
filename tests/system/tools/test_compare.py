"""`simunix compare` of two priority configurations of a real Slurm: who wins, in a real browser too; what is there is kept."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import pytest

from simunix.cli.main import main
from tests.conftest import ROOT, Simunix
from tests.system.browser import INKED, needs_browser
from tests.system.needs import with_database
from tests.system.tools.test_report_browser import Page, browser
from tests.unit.simunix.compare.test_compare import accounting, folder, jobs

__all__ = ["browser"]
pytestmark = pytest.mark.slow

# Ann's job of all nodes and Bob's small ones wait for the first job; who goes first is a matter of priorities.
TRACE = """
1 0 -1 60 16 -1 -1 16 120 -1 1 1 1 -1 1 1 -1 -1
2 1 -1 90 16 -1 -1 16 120 -1 1 2 1 -1 1 1 -1 -1
3 2 -1 50 4 -1 -1 4 120 -1 1 3 2 -1 1 1 -1 -1
4 3 -1 50 4 -1 -1 4 120 -1 1 3 2 -1 1 1 -1 -1
"""
CLUSTER = """
name: cluster
hosts: [{name: ctl, cores: 4}, {name: 'n[1-2]', cores: 8}]
slurm:
  controller: ctl
  nodes: 'n[1-2]'
  parameters: {PriorityType: priority/basic, PriorityFavorSmall: true, PriorityWeightJobSize: 1000}
workload: {trace: t.swf, start: 10s, users: trace, accounts: trace}
"""
SMALL = ("--set", "small first:", "slurm.parameters.PriorityType=priority/multifactor")


def table(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.slurm
def test_two_priority_configurations(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "t.swf").write_text(TRACE)
    (tmp_path / "s.yaml").write_text(CLUSTER)
    words = ("compare", tmp_path / "s.yaml", "-o", tmp_path / "out", *SMALL)
    done = simunix(*words, timeout=300)
    assert done.returncode == 0, done.stderr
    changes = {row["job_id"]: row for row in table(tmp_path / "out/changes.csv")}
    assert [changes[number]["fate"] for number in "1234"] == ["same", "later", "earlier", "earlier"]
    assert {row["partition"] for row in changes.values()} == {"batch"}
    assert "small first against base: 2 jobs start earlier, 1 later, 1 at the same moment;" in done.stdout
    groups = {row["name"]: row for row in table(tmp_path / "out/groups.csv")}
    won = {name: row["verdict"] for name, row in groups.items()}
    if "user2" in groups:  # without root every job is one user's
        assert won == {"user1": "same", "user2": "loses", "user3": "wins", "group1": "loses", "group2": "wins"}
    assert "Which users and jobs win or lose, against base" in (tmp_path / "out/compare.html").read_text()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("out/runs/*/run.json")}
    assert len(before) == 2
    again = simunix(*words, "--set", "network.latency=1ms", timeout=300)
    assert "3 runs: 3 done (2 kept from before)" in again.stdout, again.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before
    (tmp_path / "t.swf").write_text(TRACE.replace(" 90 ", " 80 "))
    assert "2 runs: 2 done\n" in simunix(*words, timeout=300).stdout, "another trace makes other runs"


@pytest.mark.slurm
@pytest.mark.skipif(os.getuid() != 0, reason="needs the user root")
@with_database
def test_a_weight_of_fair_share(simunix: Simunix, tmp_path: Path) -> None:
    """alice has used most so far, dave least: who wins, who loses; docs/guide/compare.md has the table."""
    variant = ("--set", "fair share:", "slurm.parameters.PriorityWeightFairshare=100000")
    done = simunix("compare", ROOT / "scenarios/fairshare.yaml", "-o", tmp_path / "out", *variant, timeout=600)
    assert done.returncode == 0, done.stderr
    verdicts = {row["name"]: row["verdict"] for row in table(tmp_path / "out/groups.csv") if row["by"] in ("user", "account")}
    won = {"dave": "wins", "carol": "wins", "bob": "same", "alice": "loses"}
    assert verdicts == {**won, "chem": "wins", "physics": "loses"}
    changes = {row["job_id"]: row for row in table(tmp_path / "out/changes.csv")}
    starts = [changes[number]["fate"] for number in "12345678"]
    assert starts == ["same", "later", "later", "later", "same", "earlier", "earlier", "earlier"]
    assert "2 users win, 1 loses; 1 account wins, 1 loses." in done.stdout


def test_runs_that_fail_are_said(simunix: Simunix, tmp_path: Path) -> None:
    text = "name: s\nhosts: [{name: a}]\nprocesses: [{name: p, host: a, essential: true, command: sleep 2; exit 3}]\n"
    (tmp_path / "s.yaml").write_text(text)
    done = simunix("compare", tmp_path / "s.yaml", "-o", tmp_path / "out", "--set", "until=1s", timeout=100)
    assert done.returncode == 1 and "2 runs: 1 done, 1 failed" in done.stdout
    assert "base: This run ended early: a: p ended with exit code 3 at 2.000 s" in done.stdout
    never = simunix("compare", tmp_path / "s.yaml", "-o", tmp_path / "out", "--set", "root=/gone", timeout=100)
    assert never.returncode == 1 and ": missing: --set root=/gone: root: /gone: no such folder" in never.stderr
    words = ("--set-all", "root=/gone", "--set", "until=1s", "-o", tmp_path / "x")
    nothing = simunix("compare", tmp_path / "s.yaml", *words, timeout=100)
    assert nothing.returncode == 2
    assert "simunix: base: the run has failed, so there is nothing to compare with; see " in nothing.stderr
    assert "Traceback" not in done.stderr + never.stderr + nothing.stderr


@needs_browser
@pytest.mark.parametrize("width", [1400, 400])
def test_the_page_in_a_browser(browser: Any, tmp_path: Path, width: int) -> None:
    one, two = folder(tmp_path, "one", jobs()), folder(tmp_path, "two", jobs(late=100))
    site = accounting(tmp_path / "sacct.txt", jobs(late=40))
    assert main(["compare", str(one), str(two), "--against", str(site), "-o", str(tmp_path / "out")]) == 0
    page = Page(browser, tmp_path / "out/compare.html", width)
    for chart in ("#errors", "#late", "#moved", "#utilisation", "#gantt-1"):
        assert page.run(INKED, f"{chart} canvas") > 5, chart
        assert page.run("return document.querySelector(arguments[0]).scrollWidth", chart) <= width
    assert page.run("return document.documentElement.scrollWidth") <= width, "only tables scroll sideways"
    bars = page.run("return [...document.querySelectorAll('.who .longer')].map((one) => one.getBoundingClientRect().width)")
    assert bars and max(bars) > 20, "who loses has a bar"
    drawn = page.run(
        "return reportCharts.find((one) => one.root.parentElement.id === 'moved').data[2].filter((one) => one != null)"
    )
    assert sorted(set(drawn)) == [0, 100]
    page.has_jobs()
    assert page.is_silent()
