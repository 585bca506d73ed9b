"""A process that writes over the page with the clock is named and killed, and the run ends with an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rsg_server.protocol import PAGE_FIELDS

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import ctypes, os, re, sys, time
time.sleep(5)
line = next(line for line in open("/proc/self/maps") if "simunix-clock" in line)
page = int(line.split("-")[0], 16)
ctypes.memset(page, int(sys.argv[1]), int(sys.argv[2]))
time.sleep(5)
os.system("true")
"""


@pytest.mark.parametrize(("byte", "count"), [(0, 8), (255, 7), (0x7F, 8), (0, 64)])
def test_who_writes_over_the_clock_is_named(tmp_path: Path, byte: int, count: int) -> None:
    program = [sys.executable, "-c", PROGRAM, str(byte), str(count)]
    document = {
        "hosts": [{"name": "n[1-2]"}],
        "processes": [
            {"name": "writer", "host": "n1", "command": program},
            {"name": "other", "host": "n2", "command": "for i in $(seq 20); do sleep 1; done"},
        ],
    }
    (tmp_path / "s.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [sys.executable, "-m", "simunix.cli.main", "run", "s.yaml", "--out", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert done.returncode == 5, done.stderr
    assert "@n1" in done.stderr and "wrote over the clock: virtual time went from 5." in done.stderr
    assert "Traceback" not in done.stderr and record["deterministic"] is False


@pytest.mark.parametrize("field", ["from_outside", "running", "computing_slot", "due_slot", "sequence"])
def test_any_number_in_the_page_leaves_a_record(tmp_path: Path, field: str) -> None:
    """What a program writes there is looked at, and never made a traceback of."""
    program = PROGRAM.replace("ctypes.memset(page,", "ctypes.memset(page + 8 * int(sys.argv[3]),")
    argv = [sys.executable, "-c", program, "255", "8", str(PAGE_FIELDS[field])]
    document = {"hosts": [{"name": "n"}], "processes": [{"name": "writer", "host": "n", "command": argv}], "until": 60}
    (tmp_path / "s.yaml").write_text(json.dumps(document))
    done = subprocess.run(
        [sys.executable, "-m", "simunix.cli.main", "run", "s.yaml", "--out", "out"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Traceback" not in done.stderr and (tmp_path / "out" / "run.json").exists()
    if field == "from_outside":
        assert any("signal 33" in reason for reason in json.loads((tmp_path / "out" / "run.json").read_text())["disturbances"])
