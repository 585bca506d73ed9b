"""Slurm under the CPU policy charged: sdiag tells what slurmctld was charged, and a replay repeats the run to the byte."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.conftest import Simunix

SCENARIO = """
name: charged
seed: 3
hosts:
  - {name: controller, cores: 4}
  - {name: 'node[1-4]', cores: 16}
stop: asker
processes:
  - name: asker
    host: controller
    start: 20s
    user: root
    cpu_policy: free
    command: |
      for i in $(seq 150); do sbatch -n $((i % 60 + 1)) -t 10 --wrap 'sleep 100' >/dev/null; done
      sleep 120; sdiag; ps -o time= -C slurmctld
slurm: {controller: controller, nodes: 'node[1-4]', cpu_policy: charged}
"""

pytestmark = [pytest.mark.slow, pytest.mark.slurm]


def test_sdiag_tells_what_was_charged_and_a_replay_repeats_it(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SCENARIO)
    for out, more in (("free", ["--set", "slurm.cpu_policy=free"]), ("one", []), ("two", ["--replay-cpu", tmp_path / "one"])):
        done = simunix("run", tmp_path / "s.yaml", *more, "--out", tmp_path / out)
        assert done.returncode == 0, done.stderr
        assert "departs" not in done.stderr
    for name in ("events.jsonl", "cpu_charges", "hosts/controller/asker.out"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    free_us, charged_us = (mean_backfill_us(tmp_path / out / "hosts/controller/asker.out") for out in ("free", "one"))
    record = json.loads((tmp_path / "one/run.json").read_text())
    assert record["cpu_policy"] == "mixed"
    assert 3 * free_us < charged_us < record["counts"]["cpu_charged_us"]


def mean_backfill_us(output: Path) -> int:
    found = re.search(r"Backfilling stats.*?Mean cycle:\s+(\d+)", output.read_text(), re.DOTALL)
    assert found is not None, output.read_text()
    return int(found[1])
