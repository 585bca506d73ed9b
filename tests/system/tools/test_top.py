"""`simunix top`: keys steer the run; the terminal is as before; without a terminal the state is printed once."""

from __future__ import annotations

import json
from pathlib import Path

from simunix.app.join import ask
from tests.conftest import Simunix
from tests.system.tools.test_view import WORK, run_of
from tests.system.user import User


def test_keys_steer_the_run_and_q_gives_the_terminal_back(tmp_path: Path) -> None:
    with run_of(tmp_path, WORK, "--pace", "20", "--until", "1000h") as out, User("top", out) as user:
        user.sees("work  00:00:01  paused")
        user.sees("q quit")
        user.type("j\x1b[Bkjo")  # down, down, up, down
        user.sees("host n3, state off: happens as soon as the run goes on")
        user.type("+")
        user.sees("work  00:01:01  paused")
        user.sees("1 off")
        user.type("n")
        user.sees("step: done")
        user.type(" ")
        user.sees("running")
        user.type(" ")
        user.sees("pause: done")
        user.type("q")
        assert user.ends() == 0 and user.is_as_before()
        assert ask(out, {"op": "status"})["off"] == ["n3"]


def test_ctrl_c_ends_the_view_and_not_the_run(tmp_path: Path) -> None:
    with run_of(tmp_path, WORK) as out, User("top", out) as user:
        user.sees("paused")
        user.type("\x03")
        assert user.ends() == 0 and user.is_as_before()
        assert ask(out, {"op": "status"})["paused"]


def test_without_a_terminal_the_state_is_printed_once(tmp_path: Path, simunix: Simunix) -> None:
    with run_of(tmp_path, WORK) as out:
        done = simunix("top", out)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[:2] == [
            "work  00:00:01  paused",
            "3 nodes, 0 busy; 0 jobs running, 0 waiting, 0 ended",
        ]
        assert "\x1b" not in done.stdout
        ask(out, {"op": "stop"})
    assert json.loads((out / "run.json").read_text())["ended"]
    done = simunix("top", out)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "work  00:00:01  ended")
    done = simunix("top", tmp_path / "no")
    told = f"simunix: {tmp_path / 'no'}: there is no such folder; give the folder of a run, as simunix run --out made it\n"
    assert (done.returncode, done.stderr) == (2, told)
