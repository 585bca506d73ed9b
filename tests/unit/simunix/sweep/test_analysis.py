"""The table of an experiment: settings, means, differences, how many repetitions are lacking, and what is said of gaps."""

from __future__ import annotations

import csv
from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rsg_server.errors import SimunixError
from simunix.cli.main import main
from simunix.statistics.difference import DIFFERS, NO_DIFFERENCE, TOO_FEW
from simunix.sweep.analysis.estimates import Estimate, estimates, repetitions_to_do
from simunix.sweep.analysis.figures import write_figures
from simunix.sweep.analysis.files import latex, markdown, write_files
from simunix.sweep.analysis.options import TellOptions
from simunix.sweep.analysis.settings import settings_of, short_names
from simunix.sweep.analysis.tell import show_so_far
from simunix.sweep.analysis.texts import cells, notes
from simunix.sweep.runs import Run
from simunix.sweep.table import check_metrics

WAIT = "mean_waiting_time"


def rows_of(values: dict[str, list[float]], first_seed: int = 1) -> dict[Run, dict[str, Any]]:
    """Rows of results.csv: by setting, the mean wait of each repetition."""
    found = {}
    for level, own in values.items():
        for number, value in enumerate(own):
            run = Run(Path("s.yaml"), (("size", level),), number, first_seed + number, (f"x={level}",))
            found[run] = {"run": run.name, "size": level, "status": "done", "valid": True, "jobs": 5.0, WAIT: value}
    return found


def table_of(values: dict[str, list[float]], width: float = 0.05) -> dict[str, Estimate]:
    return {each.setting: each for each in estimates(settings_of(rows_of(values)), [WAIT], width)}


def test_settings_have_the_repetitions_that_came_to_their_ends() -> None:
    rows = rows_of({"small": [1.0, 2.0, 3.0], "large": [4.0]})
    first, second, *_ = rows
    rows[first]["status"], rows[second]["valid"] = "failed", False
    small, large = settings_of(rows)
    assert (small.name, large.name) == ("small", "large")
    assert small.values(WAIT) == {(2, 3): 3.0} and large.values(WAIT) == {(0, 1): 4.0}


@pytest.mark.parametrize(
    ("levels", "names"),
    [
        ([[("slurm.parameters.SchedulerType", "sched/backfill")], [("slurm.parameters.SchedulerType", "sched/builtin")]], None),
        ([[("network.latency", "1ms")], [("network.latency", "20ms")]], ["latency=1ms", "latency=20ms"]),
        ([[("rjms", "a"), ("load", "x")], [("rjms", "a"), ("load", "y")]], ["x", "y"]),
        ([[("b", "true"), ("rjms", "c")], [("b", "false"), ("rjms", "d")]], ["b=true, c", "b=false, d"]),
        ([[]], ["all runs"]),
        ([[("rjms", "a")]], ["all runs"]),
    ],
)
def test_names_are_short_and_differ(levels: list[list[tuple[str, str]]], names: list[str] | None) -> None:
    assert short_names([tuple(each) for each in levels]) == (names or ["backfill", "builtin"])


def test_differences_are_those_of_common_seeds() -> None:
    random = np.random.default_rng(1)
    noise = random.normal(1000, 100, size=10)
    found = table_of({"a": list(noise), "b": list(noise + 20 + random.normal(0, 2, size=10)), "c": list(noise)})
    assert found["a"].difference is None and found["a"].interval.count == 10
    assert found["b"].difference is not None and found["b"].difference.is_paired and found["b"].difference.verdict == DIFFERS
    assert found["b"].difference.interval.mean == pytest.approx(20, abs=2)
    assert found["c"].difference is not None and found["c"].difference.verdict == NO_DIFFERENCE
    assert found["a"].more is not None and 20 < found["a"].more + 10 < 100


def test_settings_without_common_seeds_are_compared_unpaired() -> None:
    rows = {**rows_of({"a": [10.0, 11.0, 12.0]}), **rows_of({"b": [20.0, 21.0, 22.5]}, first_seed=50)}
    b = estimates(settings_of(rows), [WAIT])[1]
    assert b.difference is not None and not b.difference.is_paired and b.difference.verdict == DIFFERS


def test_what_is_lacking_is_said() -> None:
    found = list(table_of({"a": [5.0], "b": [nan, nan], "c": [7.0, 7.0]}).values())
    assert [cells(each)[3] for each in found] == ["one repetition", "no value", "7 … 7"]
    assert found[2].difference is not None and found[2].difference.verdict == TOO_FEW
    assert notes(found, perturbed=False) == [
        "mean_waiting_time: no finished run of b has a value, as one without jobs has none",
        "one repetition has no interval: a; ask for more by repetitions in the experiment",
        "all repetitions of a setting are equal, so that intervals have no width; "
        "let them differ by perturb: true in the experiment",
    ]


def test_going_on_ends_when_all_intervals_are_narrow() -> None:
    narrow = list(table_of({"a": [100.0, 100.1, 99.9], "b": [50.0, 50.0, 50.0]}).values())
    assert repetitions_to_do(narrow, 0.05, 3) is None
    wide = list(table_of({"a": [100.0, 100.1, 99.9], "b": [50.0, 60.0, 40.0]}).values())
    assert repetitions_to_do(wide, 0.05, 3) == 6
    assert repetitions_to_do(list(table_of({"a": [nan, nan]}).values()), 0.05, 2) is None


def test_files_have_all_rows(tmp_path: Path) -> None:
    found = list(table_of({"a_b": [100.0, 102.0, 104.0], "p % | $": [200.0, 202.0, 207.0]}).values())
    assert [path.name for path in write_files(tmp_path, found)] == ["table.csv", "table.md", "table.tex"]
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["setting"] for row in rows] == ["a_b", "p % | $"]
    assert float(rows[1]["difference"]) == pytest.approx(101) and rows[1]["paired"] == "True"
    assert float(rows[0]["low"]) < 102 < float(rows[0]["high"]) and rows[0]["conclusion"] == ""
    text = markdown(found)
    assert text.count("\n| ") == 4 and "p % \\| $" in text
    tex = latex(found)
    assert "a\\_b & 3 & 102 &" in tex and "p \\% | \\$ &" in tex and tex.count("\\\\") == 3


def test_the_table_so_far_is_printed_where_no_file_can_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of({"a": [1.0, 2.0, 4.0], "b": [1.5, 2.5, 4.0]})
    show_so_far(rows, TellOptions(table=True, metrics=[WAIT]), perturbed=True)
    printed = capsys.readouterr().out
    assert "mean wait, s" in printed and "no difference" in printed and "table.csv" not in printed
    show_so_far(rows, TellOptions(), perturbed=True)
    assert capsys.readouterr().out == ""


def test_chance_hits_among_many_are_named() -> None:
    found = list(table_of({"a": [100.0, 101.0, 102.0, 99.0], "b": [103.0, 103.5, 105.0, 101.5]}).values())
    hit = found[1].difference
    assert hit is not None and not hit.interval.holds_zero
    found[1] = replace(found[1], difference=replace(hit, adjusted_p=0.2))
    assert notes(found, perturbed=True) == [
        "among 1 comparisons chance makes an interval of a difference without 0 now and then, such as mean_waiting_time of b "
        "may be; more repetitions decide"
    ]


def test_an_unknown_metric_is_refused_with_those_known() -> None:
    with pytest.raises(SimunixError, match=r"--metric wait: results.csv has no such number; known: jobs, .*, wall_s$"):
        check_metrics(["wait"])
    with pytest.raises(SimunixError, match=r"--metric seed: results\.csv has no such number"):
        check_metrics(["seed"])
    check_metrics([WAIT, "virtual_s", "machine_energy"])


def test_pictures_in_all_formats(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    settings = settings_of(rows_of({name: list(random.normal(100, 9, size=6)) for name in ("a", "b$", "c " * 30)}))
    for setting in settings:
        object.__setattr__(setting, "runs", {})  # no folders of runs here
    found = estimates(settings, [WAIT])
    written = write_figures(tmp_path / "new", settings, found, tmp_path, ["png", "svg", "pdf"])
    assert sorted({path.stem for path in written}) == [f"{kind}-{WAIT}" for kind in ("box", "difference", "mean")]
    assert len(written) == 9 and all(path.stat().st_size > 2000 for path in written)
    (tmp_path / "file").write_text("")
    with pytest.raises(SimunixError, match=r"--figures \S+file/x: Not a directory; choose another folder"):
        write_figures(tmp_path / "file/x", settings, found, tmp_path, ["png"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--until-width", "5"], "argument --until-width: expected per cent above 0, such as 5%, got '5'"),
        (["--until-width", "0%"], "argument --until-width: expected per cent above 0, such as 5%, got '0%'"),
        (["--until-width", "nan%"], "argument --until-width: expected per cent above 0, such as 5%, got 'nan%'"),
        (["--most", "5"], "--most: expected it together with --until-width, got 5"),
        (["--until-width", "5%", "--most", "1"], "--most: expected at least 2, got 1"),
        (["--table", "--metric", "mean_wait"], "--metric mean_wait: results.csv has no such number; known: jobs, "),
        (["--until-width", "5%"], "--until-width: repetitions of one setting have the same jobs"),
    ],
)
def test_options_that_do_not_fit(words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.yaml").write_text("hosts: [{name: a}]\nprocesses: [{name: p, host: a, command: 'true'}]\n")
    (tmp_path / "e.yaml").write_text("scenario: s.yaml\nrepetitions: 2\n")
    try:
        code = main(["sweep", str(tmp_path / "e.yaml"), "-o", str(tmp_path / "out"), *words])
    except SystemExit as end:
        code = int(str(end.code))
    assert code != 0 and message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_perturbed_repetitions_begin_with_the_seed_one(tmp_path: Path) -> None:
    from simunix.sweep.experiment import load_experiment
    from simunix.sweep.runs import check, runs_of

    (tmp_path / "s.yaml").write_text("hosts: [{name: a}]\nprocesses: [{name: p, host: a, command: 'true'}]\n")
    (tmp_path / "e.yaml").write_text("scenario: s.yaml\nperturb: true\nrepetitions: 2\n")
    runs = runs_of(load_experiment(tmp_path / "e.yaml"))
    assert [run.seed for run in runs] == [1, 2] and runs[0].overrides == ("perturb=true",)
    (tmp_path / "e.yaml").write_text("scenario: s.yaml\nperturb: {ties: true}\nseed: 0\n")
    assert [run.seed for run in runs_of(load_experiment(tmp_path / "e.yaml"))] == [0]
    (tmp_path / "e.yaml").write_text("scenario: s.yaml\nset: {perturb.submission: 2s}\n")
    assert [run.seed for run in runs_of(load_experiment(tmp_path / "e.yaml"))] == [1]
    (tmp_path / "e.yaml").write_text("scenario: s.yaml\nperturb: false\n")
    assert [run.seed for run in runs_of(load_experiment(tmp_path / "e.yaml"))] == [0]
    (tmp_path / "e.yaml").write_text("scenario: s.yaml\nperturb: 7\n")
    with pytest.raises(
        SimunixError, match=r"e.yaml:2: perturb: expected true, false, or kinds such as {submission: 2s}, got 7"
    ):
        load_experiment(tmp_path / "e.yaml")
    (tmp_path / "e.yaml").write_text("scenario: s.yaml\nperturb: {submission: -2s}\n")
    with pytest.raises(
        SimunixError, match=r"every run: --set perturb={submission: -2s}: perturb.submission: expected a duration"
    ):
        check(runs_of(load_experiment(tmp_path / "e.yaml")))
