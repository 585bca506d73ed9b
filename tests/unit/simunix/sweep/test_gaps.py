"""The messages of a sweep about its progress and about problems: workers that die, a disk that is full, equal repetitions."""

from __future__ import annotations

import csv
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from rsg_server.errors import ServerError
from simunix.launch.told import Progress, described, read_progress
from simunix.sweep import sweep as whole
from simunix.sweep.engine import _why
from simunix.sweep.progress import SweepProgress
from simunix.sweep.runs import Run
from simunix.sweep.sweep import carry_out

RUNS = [Run(Path("/s.yaml"), (("load", level),), 0, 1, ()) for level in ("a", "b", "c")]


def test_progress_in_words(tmp_path: Path) -> None:
    progress = Progress(virtual_s=3661.0, wall_s=10.0, jobs_done=10, jobs_total=40, memory_bytes=120 << 20)
    assert described(progress) == "01:01:01 virtual, × 366, jobs 10/40, 30.00 s left, 120 MiB"
    assert described(Progress(1.0, 0.0, 0, 0, 3 << 30)) == "1.00 s virtual, × 0, 3.0 GiB"
    (tmp_path / "p").write_text(json.dumps(asdict(progress)))
    assert read_progress(tmp_path / "p") == progress
    for text in ("", "[]", "{}", '{"virtual_s": 1}', "7"):
        (tmp_path / "p").write_text(text)
        assert read_progress(tmp_path / "p") is None
    assert read_progress(tmp_path / "none") is None


def test_a_line_tells_of_all_runs_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("simunix.sweep.progress.LINE_EVERY_S", 0.0)
    (tmp_path / "runs").mkdir()
    for run, done in zip(RUNS[:2], (10, 20), strict=True):
        told = Progress(virtual_s=60.0, wall_s=10.0, jobs_done=done, jobs_total=40, memory_bytes=0)
        (tmp_path / "runs" / f".{run.name}.progress").write_text(json.dumps(asdict(told)))
    with SweepProgress(tmp_path, RUNS, kept=1, workers=2) as progress:
        progress.tick()
    first, second = RUNS[0].name, RUNS[1].name
    assert capsys.readouterr().err == (
        # three runs of (40 + 20) / 2 = 30 s, of which 20 s have passed, two at a time
        f"simunix: 1/4 runs, 35.00 s left; {first}: 00:01:00 virtual, × 6, jobs 10/40, 30.00 s left; "
        f"{second}: 00:01:00 virtual, × 6, jobs 20/40, 10.00 s left\n"
    )


def test_why_a_worker_has_failed() -> None:
    killed = type("KilledWorker", (Exception,), {})
    assert _why(killed("x")) == "its worker has died several times: killed from outside, or this computer's memory is used up"
    assert _why(OSError(28, "No space left on device")) == "its worker failed: [Errno 28] No space left on device"
    assert _why(ValueError()) == "its worker failed: ValueError"


def test_a_full_disk_keeps_the_table_so_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []
    real = whole.write_table

    def write_table(path: Path, rows: Any) -> None:
        if written:
            raise ServerError(f"{path} cannot be written: No space left on device; free some space")
        written.append(len(rows))
        real(path, rows)

    def run_all(runs: Any, directory: Path, address: Any, workers: Any, watcher: Any, interrupts: Any) -> None:
        for run in runs:
            watcher.ended(run, f"its worker failed: {run.levels[0][1]}")

    monkeypatch.setattr(whole, "write_table", write_table)
    monkeypatch.setattr(whole, "run_all", run_all)
    (tmp_path / "runs").mkdir()
    with pytest.raises(
        ServerError, match=r"No space left on device; .*; the table so far and the runs are kept, go on with --re"
    ):
        carry_out(tmp_path, RUNS, False, 1, None)
    with (tmp_path / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["load"], row["failure"]) for row in rows] == [("a", "its worker failed: a"), ("b", ""), ("c", "")]


@pytest.mark.parametrize(
    ("more", "repetitions", "is_said"),
    [("", 2, True), ("", 1, False), ("perturb: true", 2, False), ("perturb: false", 2, True), ("seed: 7", 2, True)],
)
def test_equal_repetitions_are_said_before_the_runs(
    more: str, repetitions: int, is_said: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.yaml").write_text("hosts: [{name: 'c,n'}]\nslurm: {controller: c, nodes: n}\nworkload: {trace: t.swf}\n")
    (tmp_path / "e.yaml").write_text(f"scenario: s.yaml\nrepetitions: {repetitions}\n{more}\n")
    from simunix.sweep.experiment import load_experiment
    from simunix.sweep.runs import runs_of

    perturbed = whole._tell_what_cannot_differ(runs_of(load_experiment(tmp_path / "e.yaml")))
    assert ("cannot differ; add perturb: true" in capsys.readouterr().err) == is_said
    assert perturbed == (more == "perturb: true")
