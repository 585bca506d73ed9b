"""However a run ends, its results are there whole, the message is one line, and one signal is enough."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.starts import Heard, without_notices

ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 60.0
IS_ROOT = os.geteuid() == 0
STEPS = "for i in $(seq 5); do sleep 1; done"


def line(*words: str) -> list[str]:
    """The words that run simunix."""
    return [sys.executable, "-m", "simunix.cli.main", *words]


def environment(**more: str) -> dict[str, str]:
    """The environment that finds simunix."""
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def run(folder: Path, *words: str, before: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    """Run simunix in a shell, after the commands `before`; its standard error is as that of root's."""
    script = f'{before}\nexec "$@"' if "%" not in before else before.replace("%", '"$@"')
    shell = ["bash", "-c", script, "bash", *line(*words)]
    done = subprocess.run(shell, cwd=folder, env=environment(**more), capture_output=True, text=True, timeout=LIMIT_S)
    done.stderr = without_notices(done.stderr)
    return done


def started(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Simunix, running."""
    return Heard(line(*words), cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def scenario(folder: Path, command: str = STEPS, hosts: str = "n[1-2]") -> str:
    """The name of a scenario file with this command on its hosts."""
    path = folder / "s.yaml"
    path.write_text(
        json.dumps({"name": "s", "hosts": [{"name": hosts}], "processes": [{"name": "p", "host": hosts, "command": command}]})
    )
    return str(path)


def one_line(text: str) -> bool:
    """Whether the text is one message, and no traceback."""
    return text.startswith("simunix: ") and text.count("\n") == 1


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of two MiB with 200 inodes."""
    if not IS_ROOT:
        pytest.skip("mounting needs root")
    folder = tmp_path / "tiny"
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m,nr_inodes=200", "none", str(folder)], capture_output=True)
    if done.returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize(
    ("filler", "more"),
    [
        ("dd if=/dev/zero of=%/fill bs=1M count=10", ("--log-turns",)),
        ("for i in $(seq 300); do : > %/f$i; done", ()),
    ],
    ids=["blocks", "inodes"],
)
def test_a_full_disk_leaves_a_whole_run_json(tiny: Path, tmp_path: Path, filler: str, more: tuple[str, ...]) -> None:
    command = f"sleep 5; {filler.replace('%', str(tiny))}; for i in $(seq 600); do /bin/true; done"
    done = run(tmp_path, "run", scenario(tmp_path, command, "n1"), "--out", str(tiny / "out"), *more)
    assert "Traceback" not in done.stderr
    record = json.loads((tiny / "out" / "run.json").read_text())
    assert record["virtual_s"] >= 5
    assert not list((tiny / "out").glob(".*.part*"))


def test_a_limit_of_file_size_in_the_middle_of_a_run(tmp_path: Path) -> None:
    """As `ulimit -f`, which the event log meets first; the limit is too low for jobs.csv as well, but not for run.json."""
    name = scenario(tmp_path, "for i in $(seq 100000); do sleep 1; done", "n1")
    process = started(tmp_path, "run", name, "--out", "out", "--log-turns")
    while not (tmp_path / "out" / "hosts" / "n1" / "p.out").exists():
        time.sleep(0.05)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (20_000, 20_000))
    _, errors = process.communicate(timeout=LIMIT_S)
    assert (
        process.returncode == 5
        and one_line(errors)
        and "events.jsonl: File too large; raise the limit of a file's size (ulimit -f)" in errors
    )
    assert "File too large" in json.loads((tmp_path / "out" / "run.json").read_text())["failure"]


@pytest.mark.parametrize(
    ("before", "code", "words"),
    [
        ("% > /dev/full", 5, "No space left on device"),
        ("% >&- 2>&- <&-", 0, ""),
        ("mkdir gone; cd gone; rmdir ../gone; %", 2, "choose another folder"),
    ],
    ids=["stdout full", "closed streams", "folder removed"],
)
def test_the_callers_streams_and_folder(tmp_path: Path, before: str, code: int, words: str) -> None:
    out = () if "gone" in before else ("--out", "out")
    done = run(tmp_path, "run", scenario(tmp_path), *out, before=before)
    assert done.returncode == code and words in done.stderr
    assert "Traceback" not in done.stderr
    if out:
        assert json.loads((tmp_path / "out" / "run.json").read_text())["ended"] == "done"


def test_a_command_in_a_folder_that_is_gone(tmp_path: Path) -> None:
    done = run(tmp_path, "run", "--", "true", before="mkdir gone; cd gone; rmdir ../gone; %")
    assert done.returncode == 1 and "the working folder has been removed" in done.stderr and one_line(done.stderr)


def test_no_room_for_temporary_files(tiny: Path, tmp_path: Path) -> None:
    for number in range(200):
        with contextlib.suppress(OSError):
            (tiny / str(number)).touch()
    done = run(tmp_path, "run", "--", "true", TMPDIR=str(tiny))
    assert "Traceback" not in done.stderr
    assert done.returncode == 0 or one_line(done.stderr)


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("link", "a link to"),
        ("dangling", "a link to /nonexistent"),
        ("file/below", "Not a directory"),
        ("x" * 300, "File name too long"),
        ("/proc/here", "choose another folder"),
    ],
)
def test_folders_that_cannot_be_used(tmp_path: Path, out: str, words: str) -> None:
    target = tmp_path / "target"
    target.mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "dangling").symlink_to("/nonexistent/x")
    (tmp_path / "file").touch()
    done = run(tmp_path, "run", scenario(tmp_path), "--out", out)
    assert done.returncode == 2 and one_line(done.stderr) and words in done.stderr
    assert target.stat().st_mode & 0o777 == 0o755


def test_a_file_system_that_may_only_be_read(tiny: Path, tmp_path: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(tiny)], check=True)
    done = run(tmp_path, "run", scenario(tmp_path), "--out", str(tiny / "out"))
    assert done.returncode == 2 and one_line(done.stderr) and "Read-only file system" in done.stderr


@pytest.mark.slow
def test_signals_in_the_closing_seconds_lose_no_result(tmp_path: Path) -> None:
    """Every five hundredths of a second from the end of virtual time on, until the process is gone."""
    name = scenario(tmp_path, "sleep 1", "n[001-060]")
    process = subprocess.Popen(
        line("run", name, "--out", "out"),
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    events = tmp_path / "out" / "events.jsonl"
    end = time.monotonic() + LIMIT_S
    while process.poll() is None and time.monotonic() < end:
        control = tmp_path / "out" / "control.sock"
        if events.exists() and (tmp_path / "out" / "hosts" / "n060" / "p.out").exists() and not control.exists():
            process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
    _, errors = process.communicate(timeout=LIMIT_S)
    assert "Traceback" not in errors and process.returncode in (0, 143)
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["ended"] == "done" and record["deterministic"] is True


def of_the_run(simunix: int) -> dict[str, int]:
    """The broker, the fork server and the first host's init, by what they are."""
    children = dict.fromkeys(("broker", "fork server", "init"), 0)
    parent = simunix
    for name in children:
        children[name] = parent = int(Path(f"/proc/{parent}/task/{parent}/children").read_text().split()[0])
    return children


@pytest.mark.parametrize(
    "stopped", [*(pytest.param(name, marks=pytest.mark.slow) for name in ("broker", "fork server")), "init"]
)
def test_one_signal_ends_a_run_whose_processes_are_stopped(tmp_path: Path, stopped: str) -> None:
    name = scenario(tmp_path, "while :; do /bin/sleep 1; done")
    process = started(tmp_path, "run", name, "--out", "out")
    while not (tmp_path / "out" / "hosts" / "n2" / "p.out").exists():
        time.sleep(0.05)
    found = of_the_run(process.pid)
    os.kill(found[stopped], signal.SIGSTOP)
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=15)
    assert process.returncode == 143 and "Traceback" not in errors
    assert json.loads((tmp_path / "out" / "run.json").read_text())["ended"] == "interrupted"
    assert not any(Path("/proc", str(pid)).exists() for pid in found.values())
