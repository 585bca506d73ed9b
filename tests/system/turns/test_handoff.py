"""Turns that the shims hand on without the server (csrc/shim/turn/) come in the order in which it would have given them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PROGRAMS = Path(__file__).parents[1] / "programs"
WITHOUT_SLOTS = "import rsg_server.process.slots as slots\nslots.SLOTS = 0\n"
"""Threads without a slot wait for the server's messages, so nobody hands a turn on. Compiled, the constant could not be set."""
RUN = "import sys\nfrom simunix.cli.main import main\nsys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `steps`, a process of many threads, and `relay`, many processes."""
    folder = tmp_path_factory.mktemp("steps")
    for name in ("steps", "relay"):
        subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", folder / name, PROGRAMS / f"{name}.c", "-pthread"], check=True)
    return folder


def run(program: Path, out: Path, before: str, *arguments: str, options: tuple[str, ...] = ()) -> tuple[str, int]:
    """What the program prints, and how many turns its process handed on."""
    command = [sys.executable, "-c", before + RUN, "run", *options, "--out", out, "--", program, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **({"SIMUNIX_PURE": "1"} if before else {})}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr, json.loads((out / "run.json").read_text())["counts"]["steps"]


CASES = [
    *(("steps", *words) for words in (["1"], ["4", "piped"])),
    *(("relay", *words) for words in (["1"], ["4", "piped"])),
]
SLOW_CASES = [
    *(("steps", *words) for words in (["2"], ["3"], ["5", "piped"])),
    *(("relay", *words) for words in (["2"], ["3"], ["5", "piped"])),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [*CASES, *(pytest.param(words, marks=pytest.mark.slow) for words in SLOW_CASES)], ids=" ".join
)
def test_steps_come_in_the_order_of_turns(programs: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    by_server, none = run(programs / words[0], tmp_path / "turns", WITHOUT_SLOTS, *words[1:])
    by_process, many = run(programs / words[0], tmp_path / "steps", "", *words[1:])
    assert none == 0 and many > 100
    assert by_process.splitlines() == by_server.splitlines()


def test_threads_that_are_woken_while_others_are_ready_cost_no_message(programs: Path, tmp_path: Path) -> None:
    run(programs / "steps", tmp_path, "", "4", "piped", options=("--count-calls",))
    assert "PARK" in (messages := (tmp_path / "server_messages.csv").read_text()) and "WAKE" not in messages
