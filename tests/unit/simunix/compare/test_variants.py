"""From the words of `simunix compare` to variants: which scenario, with which settings, under which name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.compare.variants import Variant, runs_of, variants_of
from simunix.rjms.scenario import load
from tests.unit.simunix.report import runs

CLUSTER = "name: s\nseed: 7\nhosts: [{name: c}, {name: n}]\nslurm: {controller: c, nodes: n}\n"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "s.yaml").write_text(CLUSTER)
    return tmp_path / "s.yaml"


def labels(found: list[Variant]) -> list[str]:
    return [one.label for one in found]


def test_each_set_is_a_variant_of_the_base(scenario: Path) -> None:
    sets = [["fifo:", "slurm.parameters.PriorityType=priority/basic", "until=1h"], ["network.latency=1ms", "until=2h"]]
    base, fifo, slow = variants_of([scenario], sets, ["seed=3"])
    assert labels([base, fifo, slow]) == ["base", "fifo", "latency=1ms, until=2h"]
    assert base.overrides == ("seed=3",)
    assert fifo.overrides == ("seed=3", "slurm.parameters.PriorityType=priority/basic", "until=1h")
    found = runs_of([base, fifo, slow], None)
    only = [run for (run,) in found.values()]
    assert [run.seed for run in only] == [3, 3, 3] and len({run.name for run in only}) == 3
    assert {run.seed for (run,) in runs_of([base, fifo], 9).values()} == {9}
    assert found["fifo"][0].name.startswith("variant=fifo-r0-")


def test_lists_grow_in_a_variant(scenario: Path) -> None:
    (_, more) = variants_of([scenario], [["more:", "processes+={name: x, host: controller, command: date}"]], [])
    grown = load(more.path, more.overrides)
    assert [process.name for process in grown.processes][-1] == "x"
    assert len(grown.processes) == len(load(more.path).processes) + 1


def test_long_settings_have_a_short_name(scenario: Path) -> None:
    (_, one) = variants_of([scenario], [["slurm.scheduler_parameters=" + "a" * 100]], [])
    assert len(one.label) == 40 and one.label.endswith("…")


def test_scenarios_and_configurations(scenario: Path, tmp_path: Path) -> None:
    for day in ("today", "tomorrow"):
        (tmp_path / day).mkdir()
        (tmp_path / day / "slurm.conf").write_text("ClusterName=s\n")
        (tmp_path / day / "s.yaml").write_text(CLUSTER)
    assert labels(variants_of([scenario, tmp_path / "today/s.yaml"], [], [])) == [f"{tmp_path.name}/s", "today/s"]
    first, second = (tmp_path / day / "slurm.conf" for day in ("today", "tomorrow"))
    alone = variants_of([scenario, first], [], [])
    assert labels(alone) == ["base", "slurm"] and alone[1].overrides == (f"slurm.config={first}",)
    both = variants_of([scenario, first, second], [["until=1h"]], [])
    assert labels(both) == ["today/slurm", "tomorrow/slurm", "until=1h"], "two take the place of the scenario's own"
    assert both[2].overrides == (f"slurm.config={first}", "until=1h")
    assert {one.path for one in both} == {scenario}


def test_runs_that_are_there(tmp_path: Path) -> None:
    folders = [runs.write_run(tmp_path / name, runs.rows(3, 2), 2) for name in "ab"]
    found = variants_of(folders, [], [])
    assert [(one.label, one.is_run) for one in found] == [("a", True), ("b", True)] and runs_of(found, None) == {}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["s.yaml"], "s.yaml: nothing to compare it with; add --set KEY=VALUE, another scenario, or --against"),
        (["gone.yaml", "--set", "until=1h"], "gone.yaml: no such file; give scenarios"),
        (["s.yaml", "--set", "until"], "--set until: expected KEY=VALUE, and before them perhaps NAME:"),
        (["s.yaml", "--set", "fifo:"], "--set fifo:: expected KEY=VALUE behind the name"),
        (["s.yaml", "--set-all", "x"], "--set-all x: expected KEY=VALUE"),
        (
            ["s.yaml", "--set", "until=1h", "t.yaml"],
            "--set t.yaml: expected KEY=VALUE, and before them perhaps NAME:; put scen",
        ),
        (
            ["s.yaml", "--set", "until=1h", "--set", "a:", "until=1h"],
            "until=1h and a are the same scenario with the same",
        ),
        (["s.yaml", "--set", "a:", "until=1h", "--set", "a:", "until=2h"], "a: two variants have this name; name them"),
        (["s.yaml", "--set", "until=soon"], "simunix: --set until=soon: until: expected a duration"),
        (["slurm.conf"], "slurm.conf: a configuration needs exactly one scenario"),
        (["s.yaml", "run"], "s.yaml: is no run's folder; compare runs with runs, or scenarios with scenarios"),
        (["run", "--set", "a=b"], "run: is a finished run, whose settings cannot be changed"),
        (["empty", "run"], "empty: is neither a scenario nor the folder of a run"),
        (
            ["plain.yaml", "slurm.conf"],
            "0 clusters, 0 of which take a configuration file; say which with --set KEY.config=FILE",
        ),
        (["s.yaml", "--against", "gone.txt"], "--against gone.txt: no such file"),
        (["s.yaml", "--against", "empty.sacct"], "empty.sacct:2: State: expected a state such as COMPLETED"),
        (["s.yaml", "--set", "a=b", "--most", "0"], "--most: expected at least 1, got 0"),
        (["s.yaml", "--set", "a=b", "--workers", "1", "--scheduler", "tcp://a:1"], "the scheduler has its own workers"),
    ],
)
def test_what_is_wrong_is_one_line(
    scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    monkeypatch.chdir(scenario.parent)
    Path("slurm.conf").write_text("ClusterName=s\n")
    Path("plain.yaml").write_text("hosts: [{name: a}]\nprocesses: [{name: p, host: a, command: 'true'}]\n")
    Path("empty").mkdir()
    Path("empty.sacct").write_text("JobID|Submit|Start|End|AllocCPUS|State\n1|2024-03-01T08:00:00|Unknown|Unknown|1|\n")
    Path("run").mkdir()
    Path("run/run.json").write_text(json.dumps({}))
    assert main(["compare", *words]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and not Path("out").exists()


def test_a_full_folder_is_left_alone(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(scenario), "--set", "until=1h", "-o", str(scenario.parent)]) == 2
    assert "exists and is not an earlier comparison's folder; choose another name" in capsys.readouterr().err


def test_other_settings_are_a_scenario_error(scenario: Path) -> None:
    with pytest.raises(SimunixError, match="nothing: unknown key"):
        runs_of(variants_of([scenario], [["nothing=1"]], []), None)
