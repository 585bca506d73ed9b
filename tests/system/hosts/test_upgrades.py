"""Programs and libraries that are replaced while a run uses them: the run says so, and is not repeatable to the byte."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.system.tools.test_ends import LIMIT_S, environment

LIBRARY = Path("/usr/lib/x86_64-linux-gnu")
SCRIPT = """
"$@" & run=$!
while ! [ -e begun ]; do sleep 0.05; kill -0 $run; done
eval "$REPLACE"
touch replaced
wait $run
"""
OVERLAID = "mkdir upper work; mount -t overlay -o lowerdir={0},upperdir=$PWD/upper,workdir=$PWD/work none {0}\n"


def ran(folder: Path, program: str, replace: str, before: str = "") -> tuple[str, dict[str, Any]]:
    """What a run prints and its run.json; `replace` is done after `program` has begun, which waits."""
    command = f"touch {folder}/begun; while ! test -e {folder}/replaced; do {program}; done"
    process = {"name": "p", "host": "n", "command": ["/bin/sh", "-c", command]}
    (folder / "s.yaml").write_text(json.dumps({"name": "s", "hosts": [{"name": "n"}], "processes": [process], "pace": 1}))
    words = [sys.executable, "-m", "simunix.cli.main", "run", "s.yaml", "--out", "out"]
    inside = ["unshare", "-m", "--propagation", "private"] if before else []
    done = subprocess.run(
        [*inside, "bash", "-ec", before + SCRIPT, "bash", *words],
        cwd=folder,
        env={**environment(), "REPLACE": replace},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads((folder / "out" / "run.json").read_text())


def test_a_program_of_the_plan(tmp_path: Path) -> None:
    program = tmp_path / "wait"
    shutil.copy("/usr/bin/sleep", program)
    printed, record = ran(tmp_path, f"{program} 1", f"cp {program} {program}.new; mv {program}.new {program}")
    assert record["deterministic"] is False
    assert record["disturbances"] == [f"{program} was changed on this computer while the run used it"]
    assert "NOT repeatable" in printed


def test_what_is_not_used_may_change(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    _, record = ran(tmp_path, "sleep 1", "cp other new; mv new other")
    assert record["deterministic"] is True, record["disturbances"]


@pytest.mark.parametrize(
    ("name", "is_used"), [("libc.so.6", True), ("libm.so.6", False)], ids=["of a program that ran", "of none that ran"]
)
def test_a_library(tmp_path: Path, name: str, is_used: bool) -> None:
    if os.geteuid() != 0 or not (LIBRARY / name).exists():
        pytest.skip("needs root, to mount, and Debian's folder of libraries")
    replace = f"cp -a --remove-destination {LIBRARY / name} {LIBRARY}/new; mv {LIBRARY}/new {LIBRARY / name}"
    _, record = ran(tmp_path, "sleep 1", replace, OVERLAID.format(LIBRARY))
    assert record["deterministic"] is not is_used, record["disturbances"]
    assert [name in reason for reason in record["disturbances"]] == [True] * is_used


def test_a_program_that_a_script_ran(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounting needs root")
    replace = "cp -a /usr/bin/sleep /usr/bin/new; mv /usr/bin/new /usr/bin/sleep"
    _, record = ran(tmp_path, "sleep 1", replace, OVERLAID.format("/usr/bin"))
    assert any("/usr/bin/sleep was changed" in reason for reason in record["disturbances"])
