"""SIMUNIX_CHECK=1: a run with a broken invariant ends with one line and keeps its results; one without is as it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

BREAKS = """
from rsg_server.process.parking import Parking
make_ready = Parking.make_ready
def twice(self, actor):
    make_ready(self, actor)
    if actor.number == 2:
        make_ready(self, actor)
Parking.make_ready = twice
"""
"""A second actor that becomes ready joins the run queue twice."""
RUN = "import sys\nfrom simunix.cli.main import main\nsys.exit(main(sys.argv[1:]))"


def run(out: Path, before: str, value: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", before + RUN, "run", "--out", out, "--", "sh", "-c", "sleep 1 & sleep 1; wait; env"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SIMUNIX_CHECK": value, "SIMUNIX_PURE": "1"}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=environment, stdin=subprocess.DEVNULL
    )


def test_a_broken_invariant_ends_the_run_with_one_line_and_results(tmp_path: Path) -> None:
    done = run(tmp_path, BREAKS, "1")
    (line,) = [text for text in done.stderr.splitlines() if "invariant" in text]
    assert "invariant 5 of docs/internals/invariants.md does not hold: " in line and "joins it and stands there" in line
    assert done.returncode == 5 and "Traceback" not in done.stderr
    assert json.loads((tmp_path / "run.json").read_text())["events_sha256"]


def test_checks_change_nothing_that_programs_do_or_see(tmp_path: Path) -> None:
    found = [run(tmp_path / value, "", value) for value in ("0", "1")]
    assert [done.returncode for done in found] == [0, 0], found
    assert found[0].stdout == found[1].stdout and "SIMUNIX_CHECK" not in found[1].stdout
    digests = {json.loads((tmp_path / value / "run.json").read_text())["events_sha256"] for value in ("0", "1")}
    assert len(digests) == 1
