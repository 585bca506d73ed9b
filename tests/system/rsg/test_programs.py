"""Programs in C and C++ that are written against librsg."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.rsg.running import HERE, PLATFORMS, compiled, run

PLATFORM = PLATFORMS / "small_platform.xml"


def test_processes_and_threads_exchange_real_bytes(tmp_path: Path) -> None:
    told = run(PLATFORM, compiled(HERE / "programs/exchange.c", tmp_path)).splitlines()
    assert told[0] == "thread one at 2.000000000000"
    assert told[1].startswith("sent at 150.159")
    assert told[2:] == ["child of 1 got 100000 bytes as 1000000000", "the sum is right"]


FAMILIES = """\
the platform has no such host
actor families 1 on Tremblay, maestro 0
child on Fafard of 1 slept until 1.500
date 5.000
killed at 6.000
empty 1, listen 0
empty 0, listen 1
hello of 6 bytes
number 42
timeout
wait_any_for -1
consumed 0
consumed 1
consumed 2
late 1, try_lock 0
from the child
hundred clients, no host 1
"""


@pytest.mark.slow
def test_a_program_for_remote_simgrid_compiles_and_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RSG_AUTOCONNECT", "1")
    assert run(PLATFORM, compiled(HERE / "programs/families.cpp", tmp_path)) == FAMILIES
