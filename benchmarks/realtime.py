"""Thirty short jobs on sixteen nodes in real time (Slurm's own multiple-slurmd mode) and emulated, side by side.

    python benchmarks/realtime.py

The configuration is the one that simunix writes; in real time each node is a slurmd -N on a port of its own, and all paths lie
in a temporary folder. Both halves run the same submitter and the same sbatch commands. Start times are those of Slurm's own job
completion log, in seconds after the first submission.
"""

from __future__ import annotations

import json
import math
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from simunix.launch.hardware import Hardware
from simunix.rjms.slurm.accounting import CompletedJob, parse_jobcomp
from simunix.rjms.slurm.clients import QUEUE, job_name, submit_command
from simunix.rjms.slurm.configuration import ComputeNode, SlurmCluster, slurm_conf
from simunix.workload import submitter
from simunix.workload.job import Job

NODES = 16
CORES = 16
FIRST_PORT = 20_000
SECOND_NS = 1_000_000_000
SCENARIO = """
seed: 1
hosts:
  - {{name: controller, cores: 4, memory: 8GiB}}
  - {{name: login, cores: 4, memory: 8GiB}}
  - {{name: "node[01-16]", cores: 16, sockets: 2, memory: 64GiB}}
slurm: {{controller: controller, login: login, nodes: "node[01-16]"}}
workload: {{trace: {trace}, start: 10s}}
"""


def make_jobs() -> list[Job]:
    """A minute of short jobs that fill the machine now and then, so that some of them wait."""
    choose = random.Random(1)
    moments = sorted(choose.uniform(0, 60) for _ in range(30))
    return [
        Job(number, math.floor(at), choose.randint(3, 20), 60, cores=choose.choice([1, 4, 16, 32, 64, 160]))
        for number, at in enumerate(moments, 1)
    ]


def native_configuration(folder: Path) -> str:
    """simunix's own slurm.conf, each path below `folder`, each node a port of this computer, whatever its size."""
    hardware = Hardware(2, CORES // 2, 1, 64 << 30)
    nodes = tuple(ComputeNode(f"node{n:02}", "127.0.0.1", hardware) for n in range(1, NODES + 1))
    text = slurm_conf(SlurmCluster("native", socket.gethostname(), "127.0.0.1", nodes))
    for path in ("/var/spool/slurmctld", "/var/spool/slurmd", "/var/log/slurm", "/run"):
        text = text.replace(f"={path}", f"={folder}{path}")
    text = text.replace("/var/spool/slurmd\n", "/var/spool/slurmd.%n\n").replace("/slurmd.pid", "/slurmd.%n.pid")
    text = text.replace("/slurmd.log", "/slurmd.%n.log")
    for number, node in enumerate(nodes):
        text = text.replace(f"NodeName={node.name} ", f"NodeName={node.name} Port={FIRST_PORT + 2 + number} ")
    text = text.replace("SlurmctldPort=6817", f"SlurmctldPort={FIRST_PORT}").replace(
        "SlurmdPort=6818", f"SlurmdPort={FIRST_PORT + 1}"
    )
    return f"AuthInfo=socket={folder}/munge.socket\nSlurmdParameters=config_overrides\n{text}"


@contextmanager
def daemons(folder: Path) -> Iterator[None]:
    """munged, slurmctld and the slurmds, all in the foreground and all stopped at the end."""
    for path in ("var/spool/slurmctld", "var/log/slurm", "run"):
        (folder / path).mkdir(parents=True)
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    own = [f"--{kind}-file={folder}/munge.{kind.split('-')[0]}" for kind in ("key", "pid", "log", "seed")]
    commands = [["munged", "--foreground", "--force", f"--socket={folder}/munge.socket", *own], ["slurmctld", "-D"]]
    commands += [["slurmd", "-D", "-N", f"node{n:02}"] for n in range(1, NODES + 1)]
    running = []
    try:
        for command in commands:
            output = (folder / f"{command[0]}.{len(running)}.out").open("w")
            running.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output))
            time.sleep(1 if len(running) < 3 else 0)
        yield
    finally:
        for process in reversed(running):
            process.send_signal(signal.SIGTERM)
        for process in running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_for_nodes(deadline_s: float) -> None:
    """Until sinfo says that every node is idle."""
    end = time.monotonic() + deadline_s
    command = ["sinfo", "--noheader", "--format=%D", "--states=idle"]
    while time.monotonic() < end:
        shown = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30).stdout.split()
        if shown == [str(NODES)]:
            return
        time.sleep(0.5)
    raise SystemExit(f"the {NODES} real slurmds did not become idle within {deadline_s:g} s")


def in_real_time(jobs: list[Job]) -> dict[str, CompletedJob]:
    """Run the workload on this computer as it is; by job name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        (folder / "slurm.conf").write_text(native_configuration(folder))
        with daemons(folder):
            wait_for_nodes(60)
            plan = {
                "origin": time.time() + 1,
                "jobs": [{"id": job.id, "at": job.submit_s, "argv": submit_command(job)} for job in jobs],
                "poll": QUEUE,
            }
            (folder / "plan.json").write_text(json.dumps(plan))
            command = [sys.executable, submitter.__file__, str(folder / "plan.json"), str(folder / "submissions.csv")]
            subprocess.run(command, check=True, timeout=600)
        return by_name((folder / "var/log/slurm/jobcomp.log").read_text())


def by_name(jobcomp: str) -> dict[str, CompletedJob]:
    """Slurm's job completion log by the jobs' names."""
    return {job.name: job for job in parse_jobcomp(jobcomp.splitlines()).values()}


def emulated(jobs: list[Job]) -> dict[str, CompletedJob]:
    """Run the workload under simunix; by job name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        records = [[job.id, job.submit_s, -1, job.runtime_s, job.cores, -1, -1, job.cores, job.requested_s] for job in jobs]
        lines = [" ".join(map(str, record + [-1] * 9)) for record in records]
        (folder / "jobs.swf").write_text("\n".join(lines) + "\n")
        (folder / "scenario.yaml").write_text(SCENARIO.format(trace=folder / "jobs.swf"))
        command = [sys.executable, "-m", "simunix.cli.main", "run", str(folder / "scenario.yaml"), "--out", str(folder / "run")]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=600)
        (log,) = folder.glob("run/hosts/controller/**/jobcomp.log")
        return by_name(log.read_text())


def timed(run: Callable[[list[Job]], dict[str, CompletedJob]], jobs: list[Job]) -> tuple[dict[str, CompletedJob], float]:
    """What it returns, and its wall time in seconds."""
    start = time.monotonic()
    return run(jobs), time.monotonic() - start


def main() -> None:
    """Print a line per job, then the wall times and how far the start times are apart."""
    jobs = make_jobs()
    inside, inside_s = timed(emulated, jobs)
    outside, outside_s = timed(in_real_time, jobs)
    names = [job_name(job.id) for job in jobs]
    first_inside, first_outside = (min(run[name].submit_s for name in names) for run in (inside, outside))
    print("job  cores  run time  start in real time  start emulated")
    apart = []
    for job, name in zip(jobs, names, strict=True):
        real, virtual = (outside[name].start_s or 0) - first_outside, (inside[name].start_s or 0) - first_inside
        apart.append(abs(real - virtual))
        print(f"{job.id:3} {job.cores:6} {job.runtime_s:9} {real:19.0f} {virtual:15.0f}")
    print(f"wall time (s): real {outside_s:.1f}, emulated {inside_s:.1f}")
    print(f"start times apart (s): median {statistics.median(apart):.0f}, most {max(apart):.0f}")


if __name__ == "__main__":
    main()
