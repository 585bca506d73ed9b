"""A fork of the tests' server starts simunix as a fresh process does: same results, and nothing of the server is inherited."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import Simunix, processes_named
from tests.starts import FRESH, start
from tests.system.tools.test_run_command import wait_for

WAYS = pytest.mark.parametrize("fresh", [False, True], ids=["forked", "fresh"])
MARK = f"7{os.getpid()}"
LOOK = """
umask; pwd; env | sort; ulimit -a; nice; echo $0 "$@"
ls -l /proc/self/fd | sed 's/.* //; s/[0-9]\\{3,\\}//'
grep -E '^(Sig|Shd|Threads|NoNewPrivs|Seccomp)' /proc/self/status
cat /proc/self/personality /proc/self/oom_score_adj; cat; echo wrong >&2; exit 7
"""


def test_what_a_command_sees_and_says_is_the_same(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("words\n")
    seen = []
    for fresh in (False, True):
        with (tmp_path / "in").open() as stdin:
            done = simunix(
                "run", "--", "sh", "-c", LOOK, "name", "ü", stdin=stdin, cwd=tmp_path, env={"MARK": "ß"}, fresh=fresh
            )
        seen.append((done.returncode, done.stderr, re.sub(r"PYTHONPATH=.*\n", "", done.stdout)))
    assert seen[0] == seen[1]
    assert seen[0][:2] == (7, "wrong\n") and "MARK=ß" in seen[0][2] and seen[0][2].endswith("words\n")


def test_the_event_log_is_the_same(simunix: Simunix, tmp_path: Path) -> None:
    logs = []
    for fresh in (False, True):
        out = tmp_path / f"fresh-{fresh}"
        script = "date; (sleep 5; echo done) | cat & sleep 3; wait"
        assert simunix("run", "--out", out, "--log-turns", "--", "bash", "-c", script, fresh=fresh).returncode == 0
        logs.append((out / "events.jsonl").read_bytes())
    assert logs[0] == logs[1]


@WAYS
def test_errors_and_exit_codes_are_said(simunix: Simunix, fresh: bool) -> None:
    done = simunix("nothing", fresh=fresh)
    assert (done.returncode, done.stdout) == (2, "") and "invalid choice: 'nothing'" in done.stderr
    done = simunix("run", "--", "/no/such/program", fresh=fresh)
    assert (done.returncode, done.stdout) == (2, "") and "no such program" in done.stderr
    done = simunix("--version", fresh=fresh)
    assert done.returncode == 0 and done.stdout.startswith("simunix ")


def inside(pid: int, out: Path) -> dict[str, object]:
    """What the kernel says of the process of simunix itself while it runs."""
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    kinds = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            kinds.append(re.sub(r"[0-9]+", "", os.readlink(link).replace(str(out), "OUT")))
    names = ("Umask", "SigBlk", "SigIgn", "SigCgt", "Threads", "NoNewPrivs", "CapEff")
    seen = {name: status[name] for name in names}
    return seen | {"fds": sorted(kinds), "limits": Path(f"/proc/{pid}/limits").read_text(), "nice": os.getpriority(0, pid)}


def settled(pid: int, out: Path) -> dict[str, object]:
    """What it is once nothing of it has changed for a second: descriptors come and go while the first program is started."""
    seen, since = inside(pid, out), time.monotonic()
    while time.monotonic() < since + 1:
        time.sleep(0.05)
        if (now := inside(pid, out)) != seen:
            seen, since = now, time.monotonic()
    return seen


def test_the_process_itself_is_the_same(tmp_path: Path) -> None:
    seen = []
    for fresh in (False, True):
        out = tmp_path / f"fresh-{fresh}"
        with start(
            "run", "--out", out, "--pace", "1", "--", "sleep", MARK, fresh=fresh, stdin=subprocess.DEVNULL, process_group=0
        ) as running:
            wait_for((out / "control.sock").exists)
            wait_for(lambda: any(line.startswith("sleep") for line in processes_named(f"sleep {MARK}")))
            seen.append(settled(running.pid, out))
            assert os.getpgid(running.pid) == running.pid
            running.send_signal(signal.SIGINT)
            assert running.wait(20) == 130
    assert seen[0] == seen[1]


@WAYS
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_end_it_and_the_status_tells(tmp_path: Path, fresh: bool, number: signal.Signals) -> None:
    with start("run", "--out", tmp_path / "out", "--pace", "1", "--", "sleep", "1000", fresh=fresh, stderr=-1) as running:
        wait_for((tmp_path / "out" / "control.sock").exists)
        assert running.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(0.01)
        running.send_signal(number)
        _, errors = running.communicate(timeout=20)
    assert (running.returncode, errors) == (-9 if number is signal.SIGKILL else 128 + number, "")


def test_a_session_of_its_own(tmp_path: Path) -> None:
    with start("run", "--out", tmp_path / "out", "--pace", "1", "--", "sleep", "1000", start_new_session=True) as running:
        wait_for((tmp_path / "out" / "control.sock").exists)
        assert os.getsid(running.pid) == running.pid
        os.killpg(running.pid, signal.SIGTERM)
        assert running.wait(20) == 143


def test_starts_side_by_side_do_not_mix(tmp_path: Path) -> None:
    running = [start("run", "--", "sh", "-c", f"sleep 1; echo {n}; exit {n}", stdout=-1, stdin=-3) for n in range(8)]
    assert [(each.communicate(timeout=60)[0], each.returncode) for each in running] == [(f"{n}\n", n) for n in range(8)]


def test_a_start_is_a_fork_unless_said_otherwise() -> None:
    with start("--version", stdout=-1) as forked, start("--version", stdout=-1, fresh=True) as fresh:
        assert list(fresh.args) == [*FRESH, "--version"] and forked.args == ["--version"]
        assert forked.communicate() == fresh.communicate()
