"""`simunix explore` and `simunix replay` as a user calls them."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simunix.cli.main import main
from tests.system.explore.planted import Planted

SIMUNIX = [sys.executable, "-m", "simunix.cli.main"]
LOST = Planted("lost_update.c", "process: lost_update: on a: lost_update ended with exit code 1")


def simunix(folder: Path, *words: str, status: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Run simunix in a folder."""
    done = subprocess.run([*SIMUNIX, *words], cwd=folder, capture_output=True, text=True, timeout=300)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done


def rows(folder: Path) -> list[dict[str, str]]:
    """The rows of an exploration."""
    with (folder / "seeds.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scenario of a planted bug, and an exploration that has found the bug."""
    folder = tmp_path_factory.mktemp("explore")
    path = LOST.scenario(folder)
    done = simunix(folder, "explore", path.name, "-o", "found", "--jobs", "2", "--stop-at-first", "--seeds", "300", status=1)
    assert LOST.says in done.stdout
    return folder


def capsule(folder: Path) -> Path:
    (path,) = (folder / "found/failures").iterdir()
    return path


@pytest.mark.slow
def test_few_choices_are_left_of_a_lost_update(found: Path) -> None:
    lines = (capsule(found) / "choices.jsonl").read_text().splitlines()
    choices = [json.loads(line) for line in lines[1:]]
    assert 1 <= len(choices) <= 5
    assert "is interrupted after about" in choices[-1]["what"]


@pytest.mark.slow
def test_seed_0_is_the_run_of_the_scenario(found: Path) -> None:
    simunix(found, "run", "lost_update.yaml", "--out", "plain")
    digest = json.loads((found / "plain/run.json").read_text())["events_sha256"]
    (row,) = [row for row in rows(found / "found") if row["seed"] == "0"]
    assert (row["digest"], row["taken"], row["failed"]) == (digest, "0", "[]")


@pytest.mark.slow
def test_a_capsule_repeats_the_run_wherever_it_lies(found: Path, tmp_path: Path) -> None:
    copy = tmp_path / "some/where/else"
    shutil.copytree(capsule(found), copy, symlinks=True)
    for where, out in ((capsule(found), "again"), (copy, "a/longer/name")):
        done = simunix(tmp_path, "replay", str(where), "--out", out, status=0)
        assert "the same run as the capsule's" in done.stdout


@pytest.mark.slow
def test_a_capsule_of_other_programs_names_them(found: Path, tmp_path: Path) -> None:
    program = found / "lost_update"
    before = program.read_bytes()
    mended = LOST.scenario(found, mended=True)
    try:
        program.write_bytes((found / mended.stem).read_bytes())
        done = simunix(tmp_path, "replay", str(capsule(found)), "--out", "other", status=1)
    finally:
        program.write_bytes(before)
    assert "not the capsule's run" in done.stderr and str(program) in done.stderr


@pytest.mark.slow
def test_a_run_that_goes_another_way_late_fails_all_the_same(found: Path, tmp_path: Path) -> None:
    done = simunix(
        tmp_path, "replay", str(capsule(found)), "--reseed-at", "0s,1h", "--seeds", "6", "--jobs", "2", "--out", "other"
    )
    first, last = done.stdout.splitlines()[-2:]
    assert first.startswith("other choices from 0.000000 s on: ") and first.endswith(" of 6 seeds fail in the same way")
    assert last == "other choices from 3600.000000 s on: 6 of 6 seeds fail in the same way"
    assert not list((tmp_path / "other").iterdir())


@pytest.mark.slow
def test_a_failure_is_explained(found: Path, tmp_path: Path) -> None:
    words = ("replay", str(capsule(found)), "--explain", "--seeds", "4", "--jobs", "2", "--out", "why")
    lines = simunix(tmp_path, *words).stdout.splitlines()
    start = lines.index("critical pair: two runs that differ only in this choice or fault")
    assert "is interrupted after about" in lines[start + 1]
    assert any(line.startswith("other choices from 0.000000 s on: ") for line in lines)
    assert lines[-1] == f"report: {found}/found/report.html"
    assert lines[-2].startswith("mended? ") and "seeds failed in this way, so at least" in lines[-2]
    told = json.loads((capsule(found) / "explain.json").read_text())
    assert told["pair"]["failing"]["ends"][0].startswith("failed (process)") and told["pair"]["passing"]["ends"] == [
        "ends without a failure"
    ]
    assert told["pair"]["failing"]["calls"] != told["pair"]["passing"]["calls"]
    assert any("lost_update" in line for line in told["pair"]["failing"]["threads"])
    assert told["curve"][0][0] == 0 and {seeds for _, _, seeds in told["curve"]} == {4}
    assert "Critical pair" in (found / "found/report.html").read_text()
    digest = json.loads((capsule(found) / "capsule.json").read_text())["digest"]
    assert json.loads((tmp_path / "why/failing/run.json").read_text())["events_sha256"] == digest


@pytest.mark.slow
def test_a_second_call_goes_on(found: Path, tmp_path: Path) -> None:
    shutil.copytree(found / "found", tmp_path / "found", symlinks=True)
    for name in ("lost_update", "lost_update.yaml"):
        shutil.copy(found / name, tmp_path / name)
    before = len(rows(tmp_path / "found"))
    with (tmp_path / "found/seeds.csv").open("a") as file:
        file.write("999,random,0,[")  # a row that a kill has cut off
    done = simunix(tmp_path, "explore", "lost_update.yaml", "-o", "found", "--seeds", str(before + 2), status=1)
    assert f"{before} seeds have run in an earlier call" in done.stderr
    assert sorted(int(row["seed"]) for row in rows(tmp_path / "found")) == list(range(before + 2))


@pytest.mark.slow
def test_an_interrupt_leaves_nothing_and_loses_nothing(tmp_path: Path) -> None:
    path = LOST.scenario(tmp_path, mended=True)
    words = [*SIMUNIX, "explore", path.name, "-o", "found", "--seeds", "500", "--jobs", "2"]
    running = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0)
    end = time.monotonic() + 60
    while not (tmp_path / "found/seeds.csv").exists() and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(1)
    os.killpg(running.pid, signal.SIGINT)
    out, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "interrupted: repeat the command to go on" in out
    assert "Exploration of lost_update" in (tmp_path / "found/report.html").read_text()
    assert rows(tmp_path / "found") and not list((tmp_path / "found/attempts").iterdir())
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)


@pytest.mark.slow
def test_nothing_is_found_in_the_mended_program(tmp_path: Path) -> None:
    path = LOST.scenario(tmp_path, mended=True)
    done = simunix(tmp_path, "explore", path.name, "-o", "found", "--seeds", "25", "--jobs", "2", "--check-determinism")
    assert "nothing failed; with 95 % confidence" in done.stdout and "two event logs" not in done.stdout


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


SCENARIO = "name: x\nepoch: 2000-01-01T00:00:00Z\nhosts: [{name: a}]\nprocesses: [{name: p, host: a, command: 'echo hello'}]\n"


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        ("", ("--strategy", "best"), "--strategy: expected portfolio"),
        ("", ("--strategy", "pct:0"), "--strategy: expected portfolio"),
        ("", ("--seeds", "0"), "--seeds: expected at least 1, got 0"),
        ("", ("--for", "soon"), "--for: expected a duration"),
        ("nemesis: {hosts: b}\n", (), "nemesis.hosts: there is no host b"),
        ("nemesis: {start: 5s, heal: 5s}\n", (), "heal: expected a moment behind start"),
        ("check: [{never: '('}]\n", (), "expected a regular expression, got '('"),
        ("check: [{command: 'true'}]\n", (), "host: a command needs the host"),
        ("check: [{command: 'true', host: b}]\n", (), "check[0].host: there is no host b"),
        ("check: [{command: 'true', host: a, every: 1s}]\n", (), "check[0].every: "),
        ("check: [{never: x, eventually: y}]\n", (), "expected one of command, never, eventually, sometimes, got never and"),
    ],
)
def test_a_mistake_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], text: str, words: tuple[str, ...], says: str
) -> None:
    Path("x.yaml").write_text(SCENARIO + text)
    assert main(["explore", "x.yaml", "-o", "out", *words]) == 2
    error = capsys.readouterr().err
    assert says in error and len(error.strip().splitlines()) == 1


def test_another_exploration_s_folder_is_refused(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.yaml").write_text(SCENARIO)
    Path("out").mkdir()
    Path("out/mine").write_text("")
    assert main(["explore", "x.yaml", "-o", "out"]) == 2
    assert "exists and is not an exploration's folder" in capsys.readouterr().err
    Path("out/mine").unlink()
    Path("out/explore.json").write_text(json.dumps({"scenario": "other"}))
    assert main(["explore", "x.yaml", "-o", "out"]) == 2
    assert "holds another exploration (scenario was 'other'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "capsule.json"), ("{", "not JSON"), ("[]", "expected an object"), ('{"folder": 3}', "folder: expected str, got 3")],
)
def test_what_is_no_capsule_is_refused(here: Path, capsys: pytest.CaptureFixture[str], content: str | None, says: str) -> None:
    if content is not None:
        Path("capsule.json").write_text(content)
    assert main(["replay", "."]) == 2
    error = capsys.readouterr().err
    assert says in error and len(error.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--seeds", "3"), "--seeds: works only with --reseed-at or --explain"),
        (("--explain", "--jobs", "0"), "--jobs: expected at least 1, got 0"),
        (("--explain", "--strace"), "--strace: does not work with --explain"),
        (("--reseed-at", "soon"), "--reseed-at: expected a duration"),
        (("--reseed-at", "1s", "--jobs", "0"), "--jobs: expected at least 1, got 0"),
    ],
)
def test_a_mistake_in_a_replay_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    assert main(["replay", ".", *words]) == 2
    error = capsys.readouterr().err
    assert says in error and len(error.strip().splitlines()) == 1


def test_checks_hold_for_single_runs_too(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text(
        SCENARIO + "check:\n  - {name: quiet, never: hel+o}\n  - {host: a, command: 'exit 3'}\n  - {eventually: hello}\n"
    )
    done = simunix(tmp_path, "run", "x.yaml", "--out", "out", status=1)
    assert "check-quiet: a:p has written what it never should: hello" in done.stderr
    assert "a: check-2 ended with exit code 3" in done.stderr
    assert json.loads((tmp_path / "out/run.json").read_text())["failed_checks"] == [
        "check-quiet: a:p has written what it never should: hello"
    ]
