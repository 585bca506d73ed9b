"""Turns that a process hands on by itself (csrc/steps.c) come in the order in which the server would have given them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PROGRAM = Path(__file__).parent / "programs" / "steps.c"
WITHOUT_SLOTS = "import rsg_server.slots as slots\nslots.SLOTS = 0\n"
"""Threads that have no slot wait for the server's messages, so nobody hands a turn on."""
RUN = "import sys\nfrom simunix.cli.main import main\nsys.exit(main(sys.argv[1:]))"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("steps") / "steps"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", target, PROGRAM, "-pthread"], check=True)
    return target


def run(program: Path, out: Path, before: str, *arguments: str) -> tuple[str, int]:
    """What the program prints, and how many turns its process handed on."""
    command = [sys.executable, "-c", before + RUN, "run", "--out", out, "--", program, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr, json.loads((out / "run.json").read_text())["counts"]["steps"]


@pytest.mark.parametrize("arguments", [("1",), ("2",), ("3",), ("4", "piped"), ("5", "piped")], ids=" ".join)
def test_steps_come_in_the_order_of_turns(program: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    by_server, none = run(program, tmp_path / "turns", WITHOUT_SLOTS, *arguments)
    by_process, many = run(program, tmp_path / "steps", "", *arguments)
    assert none == 0 and many > 100
    assert by_process.splitlines() == by_server.splitlines()
