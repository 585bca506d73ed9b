"""`simunix run -- COMMAND`: the command's own exit code, streams and environment, in virtual time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import starts
from tests.conftest import ROOT, Simunix, mounts_of, processes_named


def test_two_dates_a_day_apart(simunix: Simunix) -> None:
    done = simunix("run", "--", "bash", "-c", "date +%s; sleep 86400; date +%s", timeout=10)
    first, second = map(int, done.stdout.split())
    assert (second - first, done.returncode, done.stderr) == (86400, 0, "")


def test_a_command_begins_today_or_when_it_is_told_to(simunix: Simunix, tmp_path: Path) -> None:
    """Files of this computer lie in the past, but for those of today; run.json says how to begin at that date again."""
    days = [time.time() // 86400 * 86400]
    done = simunix("run", "--out", tmp_path / "out", "--", "date", "+%s")
    days.append(time.time() // 86400 * 86400)
    begun = json.loads((tmp_path / "out" / "run.json").read_text())["epoch_s"]
    assert begun in days and int(done.stdout) == begun
    told = simunix("run", "--epoch", "1999-12-31T23:59:59.25", "--", "python3", "-c", "import time; print(time.time())")
    assert 946684799.25 < float(told.stdout) < 946684800
    same = simunix(
        "run", "--set", "epoch=2001-02-03", "--set", "costs.call=1ms", "--out", tmp_path / "same", "--", "date", "+%s"
    )
    assert same.stdout == "981158400\n"
    record = json.loads((tmp_path / "same" / "run.json").read_text())
    assert record["overrides"] == ["epoch=2001-02-03", "costs.call=1ms"] and record["virtual_s"] > 0.01


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epoch", "9999-12-31"), "--epoch: expected a date from 1970 to 2200, got 9999-12-31T00:00:00"),
        (("--epoch", "soon"), "--epoch: expected a date such as 2000-01-01T00:00:00Z, got 'soon'"),
        (
            ("--set", "epoch=0001-01-01"),
            "--set epoch=0001-01-01: epoch: expected a date from 1970 to 2200, got 0001-01-01T00:00:00",
        ),
        (("--set", "hosts[0].cores=4"), "--set hosts[0].cores=4: a single command has only the keys capacity, costs, "),
        (
            ("--set", "costs.cal=1"),
            "--set costs.cal=1: costs.cal: unknown key; did you mean 'call'? known: call, clock_read, poll",
        ),
    ],
)
def test_a_wrong_setting_of_a_command_is_one_line(simunix: Simunix, options: tuple[str, ...], words: str) -> None:
    done = simunix("run", *options, "--", "true")
    assert done.returncode == 2 and done.stderr.startswith(f"simunix: {words}") and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(("command", "code"), [("exit 7", 7), ("kill -TERM $$", 143), ("kill -SEGV $$", 139), ("true", 0)])
def test_exit_code_is_the_commands_own(simunix: Simunix, command: str, code: int) -> None:
    assert simunix("run", "--", "bash", "-c", command).returncode == code


def test_a_death_by_a_signal_is_said(simunix: Simunix) -> None:
    killed = simunix("run", "--", "bash", "-c", "kill -SEGV $$")
    assert (killed.returncode, killed.stderr) == (139, "simunix: bash was ended by SIGSEGV\n")
    piped = simunix("run", "--", "bash", "-c", "kill -PIPE $$")  # as in `yes | head`, of which a shell says nothing
    assert (piped.returncode, piped.stderr) == (141, "")


def test_streams_are_the_callers(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("some words\n")
    with (tmp_path / "in").open() as stdin:
        done = simunix("run", "--", "sh", "-c", "tr a-z A-Z; echo wrong >&2", stdin=stdin)
    assert (done.stdout, done.stderr) == ("SOME WORDS\n", "wrong\n")


def test_the_shims_variables_are_invisible_and_survive_an_empty_environment(simunix: Simunix) -> None:
    script = "env; env -i /bin/sh -c '/usr/bin/env; sleep 1000; date +%s'"
    done = simunix("run", "--epoch", "2025-01-01", "--", "/bin/sh", "-c", script, timeout=10)
    names = {line.partition("=")[0] for line in done.stdout.splitlines()} - set(os.environ)
    assert not [name for name in names if name == "LD_PRELOAD" or name.startswith("SIMUNIX")]
    assert int(done.stdout.split()[-1]) >= 1_735_689_600 + 1000


def test_how_nice_the_emulation_is_to_others_is_not_seen_inside(simunix: Simunix) -> None:
    """It is no part of the scenario: sbatch would send it along."""
    done = simunix("run", "--", "sh", "-c", "nice; nice -n 2 nice", preexec_fn=lambda: os.nice(1))
    assert (done.returncode, done.stdout) == (0, "0\n2\n"), done.stderr


def test_same_run_same_log(fresh_simunix: Simunix, tmp_path: Path) -> None:
    script = (
        "import random,threading,time\nfor i in range(5): threading.Thread(target=time.sleep, args=(random.random(),)).start()"
    )
    logs = []
    for name in ("a", "b"):
        done = fresh_simunix("run", "--out", tmp_path / name, "--log-turns", "--", sys.executable, "-c", script)
        assert done.returncode == 0
        logs.append((tmp_path / name / "events.jsonl").read_bytes())
    assert logs[0] == logs[1]
    assert b'"turn"' in logs[0]


def test_what_cannot_be_run_is_said_in_one_line(simunix: Simunix) -> None:
    done = simunix("run", "--", "/no/such/program")
    assert done.returncode == 2
    assert "no such program" in done.stderr
    assert done.stderr.count("\n") == 1


def test_deadlock_names_who_waits_for_what(simunix: Simunix) -> None:
    script = "import threading\nlock = threading.Lock(); lock.acquire(); lock.acquire()"
    done = simunix("run", "--", sys.executable, "-c", script)
    assert done.returncode == 3
    assert "nobody can run and nothing is due" in done.stderr
    assert "waits for futex" in done.stderr
    assert "Traceback" not in done.stderr


def test_daemons_that_a_command_has_left_and_that_wait_for_ever_end_with_it(simunix: Simunix) -> None:
    wait = "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()"
    done = simunix("run", "--", "bash", "-c", f"{sys.executable} -c '{wait}' & sleep 10; exit 3")
    assert (done.returncode, done.stderr) == (3, "")


def test_time_limit(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", "--until", "1h", "--", "bash", "-c", "while true; do sleep 60; echo tick; done", timeout=20)
    assert done.stdout.count("tick") == 60 - 1
    assert done.returncode == 0


def start(tmp_path: Path, *command: str, fresh: bool = False) -> subprocess.Popen[str]:
    return starts.start("run", "--out", tmp_path / "run", *command, fresh=fresh, stdin=subprocess.DEVNULL, stdout=-1, stderr=-1)


def wait_for(condition: object, seconds: float = 15.0) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_when_the_server_ends(tmp_path: Path, number: signal.Signals) -> None:
    mark = f"98{os.getpid()}"
    running = start(tmp_path, "--pace", "1", "--", "bash", "-c", f"sleep {mark} & sleep {mark}", fresh=True)
    wait_for(lambda: processes_named(f"sleep {mark}").count(f"sleep {mark} ") >= 2)  # not who has it in an argument
    running.send_signal(number)
    out, err = running.communicate(timeout=20)
    wait_for(lambda: not processes_named(f"sleep {mark}"))
    assert "Traceback" not in err, out + err
    assert running.returncode == (-9 if number is signal.SIGKILL else 128 + number)
    assert (tmp_path / "run" / "events.jsonl").exists()
    assert not mounts_of(tmp_path)


def test_ctrl_c_is_heard_at_any_moment(tmp_path: Path) -> None:
    """Also while the hosts are started, where Python ignores exceptions for a while."""
    for number in range(12):
        folder = tmp_path / str(number)
        folder.mkdir()
        running = start(folder, "--pace", "1", "--", "sleep", "100000")
        wait_for((folder / "run").exists)
        time.sleep(0.01 * number)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=30)
        assert (running.returncode, err) == (130, "")


def test_a_killed_server_leaves_no_folder(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-m", "simunix.cli.main", "run", "--pace", "1", "--", "sleep", "1000"]
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL) as running:
        wait_for(lambda: list(tmp_path.glob("simunix-*/control.sock")))
        running.kill()
    wait_for(lambda: not list(tmp_path.iterdir()))


def test_joining_pausing_and_listing(simunix: Simunix, tmp_path: Path) -> None:
    running = start(tmp_path, "--pace", "10", "--", "bash", "-c", "sleep 100000")
    try:
        wait_for((tmp_path / "run" / "control.sock").exists)
        joined = simunix("run", "--join", tmp_path / "run", "--", "bash", "-c", "hostname; sleep 5; exit 4")
        assert joined.returncode == 4, joined.stderr
        assert joined.stdout.strip() == os.uname().nodename.split(".")[0]
        assert "the clock until" in simunix("ps", tmp_path / "run").stdout
        first = simunix("ctl", tmp_path / "run", "pause").stdout
        second = simunix("ctl", tmp_path / "run", "status").stdout
        assert '"paused": true' in first
        assert first == second
        assert '"paused": false' in simunix("ctl", tmp_path / "run", "resume").stdout
        assert simunix("ctl", tmp_path / "run", "stop").returncode == 0
        running.wait(timeout=20)
    finally:
        running.kill()
        running.communicate()


def test_joining_nothing_is_said(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", "--join", tmp_path, "--", "true")
    assert done.returncode == 2
    assert "no emulation is running here" in done.stderr


SIGNALS_OF_THREADS = """
import os, signal, threading, time
for _ in range(3):
    threading.Thread(target=time.sleep, args=(2,)).start()
os.setegid(os.getegid())
signal.signal(signal.SIGUSR1, lambda *_: print("taken"))
os.kill(os.getpid(), signal.SIGUSR1)
"""


def test_signals_by_which_libc_changes_ids_of_threads_are_no_events(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", "--out", tmp_path / "out", "--", sys.executable, "-c", SIGNALS_OF_THREADS)
    assert (done.stdout, done.returncode) == ("taken\n", 0)
    events = map(json.loads, (tmp_path / "out" / "events.jsonl").read_text().splitlines())
    assert [event["signal"] for event in events if event["event"] == "signal"] == [signal.SIGUSR1]
