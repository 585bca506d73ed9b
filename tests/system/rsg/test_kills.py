"""Actors that are killed at random moments leave the server, and the order of events, unharmed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.system.rsg.running import HERE, PLATFORMS, compiled, run


@pytest.mark.slow
def test_ten_thousand_random_kills_leave_the_server_alive(tmp_path: Path) -> None:
    program = compiled(HERE / "programs/kills.c", tmp_path)
    told = run(PLATFORMS / "small_platform.xml", program, "10000", timeout_s=600)
    assert told.startswith("alive at ")


@pytest.mark.slow
def test_random_kills_leave_the_server_alive_and_the_run_repeatable(tmp_path: Path) -> None:
    program = compiled(HERE / "programs/kills.c", tmp_path)
    digests = set()
    for name in ("one", "other"):
        told = run(PLATFORMS / "small_platform.xml", program, "300", options=("--out", str(tmp_path / name)))
        assert told.startswith("alive at ")
        digests.add(json.loads((tmp_path / name / "run.json").read_text())["events_sha256"])
    assert len(digests) == 1
