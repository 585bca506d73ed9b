"""A demonstration of simunix's purpose: 200 jobs of a real Slurm that end in one second wait for each other at a narrow link.

Each job sends its result to a file server before it ends. The time for this depends only on the modelled links: it
equals that of a formula, and the run is equal to the byte on a computer that is busy with other work.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.load import busy_computer

pytestmark = [pytest.mark.slurm, pytest.mark.slow]

JOBS, NODES, SIZE = 200, 10, 500_000
MOMENT = 946_684_920  # two minutes after the epoch
NODE_BYTES_PER_S = 12.5e6
LV08_FACTOR = 0.97
SCENARIO = """
epoch: 2000-01-01T00:00:00Z
network: {{bandwidth: 100Mbps, latency: 50us}}
hosts:
  - {{name: ctl, cores: 4, memory: 8GiB}}
  - {{name: files, cores: 4, memory: 8GiB, bandwidth: {bandwidth}}}
  - {{name: 'n[01-10]', cores: 20, sockets: 2, memory: 64GiB}}
slurm: {{controller: ctl, nodes: 'n[01-10]'}}
stop: time
until: 4min
processes:
  - {{name: sink, host: files, command: [python3, {folder}/sink.py]}}
  - {{name: user, host: ctl, start: 10s, command: 'sbatch --array=1-200 -n1 -o {out}/job-%a {folder}/job.sh'}}
"""
JOB = """#!/bin/bash
{folder}/burst files 7000 {size} $(({moment} - $(date +%s)))
date +%s.%N
"""
SINK = f"""
import selectors, socket
listener, selector, left = socket.create_server(("", 7000), backlog={JOBS}), selectors.DefaultSelector(), {JOBS}
selector.register(listener, selectors.EVENT_READ)
while left:
    for key, _ in selector.select():
        if key.fileobj is listener:
            selector.register(listener.accept()[0], selectors.EVENT_READ)
        elif not key.fileobj.recv(1 << 20):
            selector.unregister(key.fileobj)
            key.fileobj.close()
            left -= 1
"""


def run(simunix: Simunix, folder: Path, name: str, bandwidth: str) -> tuple[str, list[float], list[int]]:
    """The event log's digest; by job, seconds from the moment to the end of its work, and to the end that Slurm has noted."""
    out = folder / name
    (folder / "jobs").mkdir(exist_ok=True)
    (folder / "s.yaml").write_text(SCENARIO.format(bandwidth=bandwidth, folder=folder, out=folder / "jobs"))
    done = simunix("run", folder / "s.yaml", "--out", out, timeout=550)
    assert done.returncode == 0, done.stderr
    ended = [float((folder / f"jobs/job-{number}").read_text()) - MOMENT for number in range(1, JOBS + 1)]
    log = (out / "hosts/ctl/files/var_log_slurm/jobcomp.log").read_text()
    noted = [int(h) * 3600 + int(m) * 60 + int(s) - 120 for h, m, s in re.findall(r"EndTime=\S+T(\d+):(\d+):(\d+)", log)]
    return hashlib.sha256((out / "events.jsonl").read_bytes()).hexdigest(), ended, noted


@pytest.mark.parametrize(
    ("bandwidth", "bytes_per_s"),
    [
        pytest.param("80Mbps", 10e6, id="narrow"),
        pytest.param("40Gbps", NODES * NODE_BYTES_PER_S, id="wide", marks=pytest.mark.endurance),
    ],
)
def test_jobs_that_end_together(simunix: Simunix, tmp_path: Path, bandwidth: str, bytes_per_s: float) -> None:
    """They all take as long as all their bytes need over the narrowest links, the server's or the nodes' own."""
    source = Path(__file__).parents[1] / "programs" / "burst.c"
    subprocess.run(["cc", "-O2", "-o", tmp_path / "burst", source], check=True)
    (tmp_path / "sink.py").write_text(SINK)
    (tmp_path / "job.sh").write_text(JOB.format(folder=tmp_path, size=SIZE, moment=MOMENT))
    expected = JOBS * SIZE / (LV08_FACTOR * bytes_per_s)
    idle = run(simunix, tmp_path, "idle", bandwidth)
    _, ended, noted = idle
    assert ended == pytest.approx([expected] * JOBS, abs=0.015)  # a job's last calls cost 40 µs, and 200 jobs make them
    assert len(noted) == JOBS
    assert all(int(expected) <= delay <= expected + 3 for delay in noted)
    with busy_computer():
        assert run(simunix, tmp_path, "busy", bandwidth) == idle
