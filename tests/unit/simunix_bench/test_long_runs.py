"""Long runs of the benchmarks: what is said of an hour of Curie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simunix.launch.interrupts import Interrupts
from simunix_bench import long_runs
from simunix_bench.context import Context

SINFO = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\nbatch*       up   infinite   5040   idle node[0001-5040]\n"


@pytest.mark.parametrize("same", [True, False])
def test_the_hour_of_curie_is_run_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same: bool) -> None:
    (tmp_path / "hosts" / "login").mkdir(parents=True)
    (tmp_path / "hosts" / "login" / "up.out").write_text(SINFO)
    digests = ["a", "a" if same else "b"]

    def scenario(self: Context, path: Path, *words: str) -> tuple[dict[str, Any], Path]:
        assert path.name == "curie.yaml" and words == ()
        jobs = {"COMPLETED": 104, "CANCELLED": 132}
        return {"virtual_s": 3600.0, "wall_s": 1200.0, "jobs": jobs, "events_sha256": digests.pop(0)}, tmp_path

    monkeypatch.setattr(Context, "scenario", scenario)
    with Interrupts() as interrupts:
        speed, digest = long_runs.curie(Context(tmp_path, False, interrupts, lambda text: None))
    assert (speed.value, speed.verdict) == (3.0, "ok")
    assert speed.note == "236 jobs accounted for (132 cancelled, 104 completed); sinfo: 5,040 nodes idle"
    assert (digest.value, digest.verdict) == ((2, "ok") if same else (1, "missed"))
