"""A folder that a run, a sweep or a comparison writes into is nobody else's until that has ended, whatever ends it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.starts import without_notices
from tests.system.tools.test_ends import LIMIT_S, line, one_line, run, scenario, started

LONG = "sleep 1000"


def stays(folder: Path, *words: str, wanted: str = "out/control.sock") -> subprocess.Popen[str]:
    """Simunix, running, and known to have made the file `wanted`."""
    process = started(folder, *words)
    deadline = time.monotonic() + LIMIT_S
    while not (folder / wanted).exists():
        assert process.poll() is None, process.stderr and process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return process


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """The exit code and the errors of a simunix that is told to end."""
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=LIMIT_S)
    return process.returncode, errors


def files(folder: Path) -> set[str]:
    """All names in a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("run", "s.yaml", "--pace", "1"), ("run", "s.yaml", "--pace", "1")),
        (("run", "s.yaml", "--pace", "1"), ("run", "--out", "out/s", "--", "true")),
        (("run", "--pace", "1", "--out", "out/s", "--", *LONG.split()), ("run", "s.yaml")),
        (("run", "s.yaml", "--pace", "1"), ("run", "s.yaml", "--out", "linked/s")),
    ],
    ids=["the folder by default", "single command", "after a single command", "another name of the folder"],
)
def test_a_second_run_is_told_who_holds_the_folder(tmp_path: Path, first: tuple[str, ...], second: tuple[str, ...]) -> None:
    scenario(tmp_path, LONG, "n1")
    (tmp_path / "out").mkdir()
    (tmp_path / "linked").symlink_to("out")
    process = stays(tmp_path, *first, wanted="out/s/control.sock")
    before = files(tmp_path / "out" / "s")
    refused = run(tmp_path, *second)
    assert refused.returncode == 2 and one_line(refused.stderr), refused.stderr
    for words in (f"pid {process.pid}", "since ", f"kill {process.pid}", "another --out", "simunix run"):
        assert words in refused.stderr
    assert before <= files(tmp_path / "out" / "s")
    code, errors = ended(process)
    assert code == 128 + signal.SIGTERM and "Traceback" not in errors
    assert json.loads((tmp_path / "out" / "s" / "run.json").read_text())["ended"] == "interrupted"
    again = run(tmp_path, *second, "--until", "1") if second[1] == "s.yaml" and "--pace" not in second else None
    assert again is None or again.returncode == 0, again.stderr


def test_a_holder_that_was_killed_holds_nothing(tmp_path: Path) -> None:
    name = scenario(tmp_path, LONG, "n1")
    process = stays(tmp_path, "run", name, "--pace", "1", "--out", "out")
    process.kill()
    process.communicate(timeout=LIMIT_S)
    done = run(tmp_path, "run", name, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "run.json").read_text())["ended"] == "done"


def test_of_two_runs_that_begin_together_one_is_refused(tmp_path: Path) -> None:
    """Whatever the moment: also while the folder is made or cleared."""
    name = scenario(tmp_path, LONG, "n1")
    for _ in range(2):
        both = [started(tmp_path, "run", name, "--until", "100", "--pace", "20", "--out", "out") for _ in range(2)]
        said = [process.communicate(timeout=LIMIT_S)[1] for process in both]
        assert sorted(process.returncode for process in both) == [0, 2], said
        assert any("is in use" in errors for errors in said)
        assert json.loads((tmp_path / "out" / "run.json").read_text())["ended"] == "time limit"


def test_a_folder_within_that_of_a_run_is_refused(tmp_path: Path) -> None:
    """The next run into the outer folder would remove it, even while it is in use."""
    name = scenario(tmp_path, "true", "n1")
    assert run(tmp_path, "run", name, "--out", "out").returncode == 0
    refused = run(tmp_path, "run", name, "--out", "out/inner/one")
    assert refused.returncode == 2 and one_line(refused.stderr)
    assert "--out out/inner/one: is inside" in refused.stderr and str(tmp_path / "out") in refused.stderr
    assert not (tmp_path / "out" / "inner").exists()


def test_a_second_sweep_is_told_who_holds_the_folder(tmp_path: Path) -> None:
    scenario(tmp_path, LONG, "n1")
    experiment = tmp_path / "e.yaml"
    experiment.write_text(json.dumps({"scenario": "s.yaml", "factors": {"pace": [1, 2]}}))
    process = stays(tmp_path, "sweep", "e.yaml", "-o", "swept", "--workers", "1", wanted="swept/runs")
    while not list((tmp_path / "swept" / "runs").glob("*/control.sock")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    refused = run(tmp_path, "sweep", "e.yaml", "-o", "swept", "--resume")
    assert refused.returncode == 2 and one_line(refused.stderr), refused.stderr
    assert f"pid {process.pid}" in refused.stderr and "simunix sweep" in refused.stderr
    inner = next((tmp_path / "swept" / "runs").glob("*/control.sock")).parent
    refused = run(tmp_path, "run", "s.yaml", "--out", str(inner))
    assert refused.returncode == 2 and "is in use" in refused.stderr
    process.terminate()
    process.communicate(timeout=LIMIT_S)


def test_a_file_system_without_locks_is_said(tmp_path: Path) -> None:
    """Lustre without its mount option flock answers ENOSYS; the run goes on, and says what is not noticed there."""
    program = (
        "import errno, fcntl, os, sys\n"
        "def flock(*_):\n    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))\n"
        "fcntl.flock = flock\n"
        "from simunix.cli.main import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    words = [line()[0], "-c", program, "run", "--out", "out", "--", "true"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S, env={**os.environ})
    assert done.returncode == 0 and one_line(without_notices(done.stderr))
    assert "has no locks" in done.stderr
