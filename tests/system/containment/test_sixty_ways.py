"""Root of a host reaches nothing of the computer: not with the shim, not by a program that has left the simulation.

Each way (guest/) is also tried as root of the computer, in a mount namespace of its own: most lead somewhere there.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from simunix.launch.factory.container import Isolation
from simunix.launch.factory.probe import probe
from tests.system.containment.computer import Computer, prepared, restore

GUEST = Path(__file__).parent / "guest"
ROOT = Path(__file__).resolve().parents[3]
LIMIT_S = 240
DISTURBING = ("signal_to_all", "interface", "host_name", "domain_name")
"""Natively, these would reach what others on the computer do."""
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or probe((Path("/tmp"),))[0] is not Isolation.CONTAINED,
    reason="only root's hosts are contained, and only where the kernel can map owners of files",
)


@pytest.fixture
def computer(tmp_path: Path) -> Iterator[Computer]:
    with prepared(tmp_path) as computer:
        yield computer


def reached(results: dict[str, str]) -> dict[str, str]:
    """The ways that have reached something, or that could not be tried."""
    return {name: text for name, text in results.items() if text.startswith(("reached", "broken"))}


@pytest.mark.parametrize("words", [(), ("raw",)], ids=["with the shim", "without the shim"])
def test_no_way_leads_out_of_a_host(computer: Computer, tmp_path: Path, words: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "simunix.cli.main", "run", "--out", out, "--", sys.executable, GUEST / "main.py"]
    command += [computer.told(), *words]
    before = computer.look()
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    after = computer.look()
    assert ended.returncode == 0, ended.stderr
    assert json.loads((out / "run.json").read_text())["isolation"] == "contained"
    said = json.loads(ended.stdout.splitlines()[-1])
    assert said["shim"] is (words == ())
    assert len(said["results"]) > 120
    assert reached(said["results"]) == {}
    assert after == before


@pytest.mark.slow
def test_the_ways_lead_somewhere_for_root_of_the_computer(computer: Computer) -> None:
    before = computer.look()
    command = ["unshare", "--mount", sys.executable, GUEST / "main.py", computer.told(is_host=False, left_out=DISTURBING)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
        after = computer.look()
    finally:
        restore(before)
    changed = [name for name, value in after.items() if value != before[name]]
    assert len(reached(json.loads(ended.stdout.splitlines()[-1])["results"])) > 60
    assert len(changed) > 10, changed
