"""Programs in C and C++ that are written against librsg."""

from __future__ import annotations

from pathlib import Path

from tests.system.rsg.running import HERE, PLATFORMS, compiled, run

PLATFORM = PLATFORMS / "small_platform.xml"


def test_processes_and_threads_exchange_real_bytes(tmp_path: Path) -> None:
    told = run(PLATFORM, compiled(HERE / "programs/exchange.c", tmp_path)).splitlines()
    assert told[0] == "thread one at 2.000000000000"
    assert told[1].startswith("sent at 150.159")
    assert told[2:] == ["child of 1 got 100000 bytes as 1000000000", "the sum is right"]
