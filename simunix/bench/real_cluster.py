"""Slurm's real daemons on this computer, many slurmds beside each other, in namespaces with which everything ends.

The configuration is the one that simunix writes; each node is a `slurmd -N` on a port of its own, and all paths lie in a
temporary folder. What they do in there is real_cluster_inside.py's.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simunix.bench import real_cluster_inside
from simunix.bench.context import Context
from simunix.bench.real_cluster_inside import HERE
from simunix.bench.requirements import NAMESPACES
from simunix.launch.view.hardware import Hardware
from simunix.rjms.adapter import CompletedJob
from simunix.rjms.slurm.accounting import parse_jobcomp
from simunix.rjms.slurm.clients import submit_command
from simunix.rjms.slurm.configuration import JOBCOMP, ComputeNode, SlurmCluster, slurm_conf
from simunix.rjms.slurm.parameters import Value, with_parameters
from simunix.workload.job import Job

FIRST_PORT = 20_000
"""In a network namespace of its own nobody else has it."""
FOLDERS = ("/var/spool/slurmctld", "/var/spool/slurmd", "/var/log/slurm")
"""Those of the configuration that lie elsewhere than HERE."""


@dataclass(frozen=True, slots=True)
class Machine:
    """Nodes of so many cores each; `scheduler` goes to SchedulerParameters, `parameters` are single ones of slurm.conf."""

    nodes: int
    cores: int
    scheduler: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RealRun:
    """What Slurm noted of its jobs, by name; `wall_s` from nothing to the last job's end; `has_ended` if that came in time."""

    jobs: dict[str, CompletedJob]
    wall_s: float
    has_ended: bool
    cost: Cost
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor time of daemons, clients and jobs: seconds per idle second, and of the time from submission to end."""

    idle_cpu_rate: float = 0.0
    busy_cpu_s: float = 0.0
    busy_s: float = 0.0


def configuration(machine: Machine) -> str:
    """simunix's own slurm.conf, each path below HERE, each node a port of this computer, whatever its size."""
    sockets = 2 if machine.cores % 2 == 0 else 1
    hardware = Hardware(sockets, machine.cores // sockets, 1, 64 << 30)
    nodes = tuple(ComputeNode(name, "127.0.0.1", hardware) for name in node_names(machine.nodes))
    text = slurm_conf(SlurmCluster("real", socket.gethostname(), "127.0.0.1", nodes, scheduler=machine.scheduler))
    text = with_parameters(text, machine.parameters, "slurm")
    for path in FOLDERS:
        text = text.replace(f"={path}", f"={HERE}{path}")
    text = text.replace("/var/spool/slurmd\n", "/var/spool/slurmd.%n\n").replace("/slurmd.pid", "/slurmd.%n.pid")
    text = text.replace("/slurmd.log", "/slurmd.%n.log")
    for number, node in enumerate(nodes):
        text = text.replace(f"NodeName={node.name} ", f"NodeName={node.name} Port={FIRST_PORT + 2 + number} ")
    text = text.replace("SlurmctldPort=6817", f"SlurmctldPort={FIRST_PORT}").replace(
        "SlurmdPort=6818", f"SlurmdPort={FIRST_PORT + 1}"
    )
    return f"AuthInfo=socket={HERE}/munge.socket\nSlurmdParameters=config_overrides\n{text}"


def node_names(count: int) -> list[str]:
    """node1, or node01 and so on."""
    return [f"node{number:0{len(str(count))}}" for number in range(1, count + 1)]


def daemons(node_count: int) -> list[list[str]]:
    """munged, slurmctld and the slurmds, all in the foreground."""
    own = [f"--{kind}-file={HERE}/munge.{kind}" for kind in ("key", "pid", "log", "seed")]
    munged = ["munged", "--foreground", "--force", f"--socket={HERE}/munge.socket", *own]
    return [munged, ["slurmctld", "-D"], *(["slurmd", "-D", "-N", name] for name in node_names(node_count))]


def run_jobs(
    context: Context,
    jobs: Sequence[Job],
    machine: Machine,
    *,
    rate: int = 1,
    idle_s: float = 0.0,
    limit_s: float | None = None,
) -> RealRun:
    """Start the daemons, submit the jobs at their moments, wait for the last end, end everything.

    Above 1, `rate` is by how much faster Debian's faketime lets the clock run, which all share.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"real-{rate}-", dir=context.folder))
    prepare(folder, jobs, machine, rate, idle_s)
    inside = [sys.executable, "-m", real_cluster_inside.__name__]
    faster = ["faketime", "-m", "-f", f"+0 x{rate}"] if rate > 1 else []
    command: list[str | Path] = [*NAMESPACES, *inside, "prepare", folder, *faster, *inside, "run"]
    environment = {"SLURM_CONF": f"{HERE}/slurm.conf", "TZ": "UTC"}
    done = context.run(command, environment, limit_s, signal.SIGKILL)
    log, result = Path(f"{folder}{JOBCOMP}"), folder / "result.json"
    lines = log.read_text(errors="replace").split("\n")[:-1] if log.exists() else []  # the last one may be half written
    cost = Cost(**json.loads(result.read_text())) if result.exists() else Cost()
    trouble = "" if done.returncode == 0 else f"stopped after {limit_s:g} s" if done.returncode is None else done.last_words
    return RealRun({job.name: job for job in parse_jobcomp(lines).values()}, done.wall_s, not trouble, cost, trouble)


def prepare(folder: Path, jobs: Sequence[Job], machine: Machine, rate: int, idle_s: float) -> None:
    """Write the daemons' folders, configuration and key, and the plan."""
    for path in FOLDERS:
        Path(f"{folder}{path}").mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "munge.key").write_bytes(os.urandom(128))
    (folder / "munge.key").chmod(0o400)
    (folder / "slurm.conf").write_text(configuration(machine))
    plan: dict[str, Any] = {
        "daemons": daemons(machine.nodes),
        "munge_socket": f"{HERE}/munge.socket",
        "nodes": machine.nodes,
        "rate": rate,
        "jobs": {"jobs": [{"id": job.id, "at": job.submit_s, "argv": submit_command(job)} for job in jobs]},
        "idle_s": idle_s,
        "log": f"{HERE}{JOBCOMP}",
    }
    (folder / "plan.json").write_text(json.dumps(plan))
