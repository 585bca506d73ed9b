"""Which benchmarks are run, and the results of benchmarks that fail, lack something or are interrupted."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import simunix
from rsg_server.errors import SimunixError
from simunix.cli.bench import reach_benchmarks
from simunix_bench.catalog import BENCHMARKS, Benchmark, chosen
from simunix_bench.context import CHECKOUT, Context, MeasurementError
from simunix_bench.listing import print_list
from simunix_bench.requirements import NEEDS, lacks
from simunix_bench.row import Row
from simunix_bench.session import bench


def one(context: Context) -> Iterator[Row]:
    yield Row("one", "one", 1.0)


def failing(context: Context) -> Iterator[Row]:
    yield Row("before", "before", 1.0)
    raise MeasurementError("the run ended early")


def interrupted(context: Context) -> Iterator[Row]:
    yield Row("before", "before", 1.0)
    os.kill(os.getpid(), signal.SIGTERM)
    yield Row("with-it", "with it", 2.0)
    yield Row("after", "after", 3.0)


def names(file: Path) -> list[tuple[str, str]]:
    return [(row["name"], row["verdict"]) for row in json.loads(file.read_text())["rows"]]


def test_without_names_the_short_ones_are_chosen() -> None:
    assert [each.name for each in chosen([], every=False)] == ["turn", "spawn", "idle", "demo", "hundred-jobs", "growth"]
    assert len(chosen([], every=True)) == len(BENCHMARKS)


def test_names_choose_each_once_in_the_catalogues_order() -> None:
    assert [each.name for each in chosen(["nasa", "turn", "nasa"], every=False)] == ["turn", "nasa"]


@pytest.mark.parametrize(
    ("wanted", "every", "message"),
    [(["turn", "tern"], False, "no benchmark tern; there are: turn, spawn"), (["turn"], True, "--all")],
)
def test_what_is_no_choice_is_refused(wanted: list[str], every: bool, message: str) -> None:
    with pytest.raises(SimunixError, match=message) as error:
        chosen(wanted, every)
    assert error.value.exit_code == 2


def test_every_need_is_known() -> None:
    assert {need for each in BENCHMARKS for need in each.needs} <= set(NEEDS)


@pytest.mark.parametrize(
    ("need", "remedy"),
    [("gcc", "apt install gcc libc6-dev"), ("slurm", "apt install slurm-wlm munge"), ("faketime", "apt install faketime")],
)
def test_lacking_programs_are_named(need: str, remedy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert remedy in lacks([need])


def test_what_lacks_something_is_said_and_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    file = tmp_path / "out.json"
    needy = Benchmark("needy", "needs much", "1 min", ("slurm",), failing)
    assert bench([needy, Benchmark("one", "one", "1 s", (), one)], file, is_quick=False) == 0
    assert names(file) == [("needy", "not measured"), ("one", "")]
    assert "needs much: not measured: slurmctld" in capsys.readouterr().out


def test_a_failure_ends_its_own_benchmark_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.json"
    wanted = [Benchmark("bad", "bad one", "1 s", (), failing), Benchmark("one", "one", "1 s", (), one)]
    assert bench(wanted, file, is_quick=False) == 1
    assert names(file) == [("before", ""), ("bad", "not measured"), ("one", "")]
    assert "bad one: not measured: the run ended early" in capsys.readouterr().out


def test_interrupted_it_keeps_the_rows_so_far(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "out.json"
    wanted = [Benchmark("long", "long one", "1 s", (), interrupted), Benchmark("one", "one", "1 s", (), one)]
    assert bench(wanted, file, is_quick=False) == 128 + signal.SIGTERM
    assert names(file) == [("before", ""), ("with-it", "")]
    assert "with it" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(SimunixError, match=r"--json: .*: No such file or directory"):
        bench([Benchmark("bad", "bad one", "1 s", (), failing)], tmp_path / "none" / "out.json", is_quick=False)


def test_list_says_what_is_lacking(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    print_list(chosen(["idle"], every=False))
    said = capsys.readouterr().out
    assert "not here" in said
    assert "idle: slurmctld" in said


def test_an_installed_simunix_says_where_the_benchmarks_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simunix, "__file__", str(tmp_path / "site-packages/simunix/__init__.py"))
    with pytest.raises(SimunixError, match=r"not in the installed package; in a checkout: pip install -e \.$"):
        reach_benchmarks()


def test_the_checkout_is_looked_into_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["somewhere"])
    reach_benchmarks()
    assert sys.path == ["somewhere", str(CHECKOUT)]
