"""Run Slurm's real daemons on this computer: several slurmds side by side, in namespaces with which all processes end.

The configuration is the one that simunix writes, except that each node is a `slurmd -N` on a port of its own, and all
paths are in a temporary folder. The program real_cluster_inside.py runs inside of the namespaces.
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

from simunix.launch.view.hardware import Hardware
from simunix.rjms.adapter import CompletedJob
from simunix.rjms.slurm.accounting import parse_jobcomp
from simunix.rjms.slurm.clients import NUMBER, submit_command
from simunix.rjms.slurm.configuration import JOBCOMP, ComputeNode, SlurmCluster, slurm_conf
from simunix.rjms.slurm.parameters import Value, with_parameters
from simunix.workload.job import Job
from simunix_bench import real_cluster_inside
from simunix_bench.context import MODULES, Context
from simunix_bench.real_cluster_inside import HERE
from simunix_bench.requirements import NAMESPACES

FIRST_PORT = 20_000
"""The first port of the slurmds. No other program uses it, since the daemons have a network namespace of their own."""
FOLDERS = ("/var/spool/slurmctld", "/var/spool/slurmd", "/var/log/slurm")
"""The folders in the configuration that are replaced by folders below HERE."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A number of nodes with a number of cores each. `scheduler` is the value of SchedulerParameters; `parameters` are
    further lines of slurm.conf.
    """

    nodes: int
    cores: int
    scheduler: str = ""
    parameters: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RealRun:
    """The result of a run. `wall_s` is the seconds from the start of the daemons to the end of the last job;
    `has_ended` says whether that end came in time.

    Slurm's records of the jobs are by job name.
    """

    jobs: dict[str, CompletedJob]
    wall_s: float
    has_ended: bool
    cost: Cost
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """The processor time of daemons, clients and jobs in seconds: per idle second, and in total from the first
    submission to the last end.
    """

    idle_cpu_rate: float = 0.0
    busy_cpu_s: float = 0.0
    busy_s: float = 0.0


def configuration(machine: Machine) -> str:
    """Return simunix's own slurm.conf, with each path below HERE and each node on a port of this computer."""
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
    """Return the names of the nodes: node1 and so on, or, for more than nine nodes, node01 and so on."""
    return [f"node{number:0{len(str(count))}}" for number in range(1, count + 1)]


def daemons(node_count: int) -> list[list[str]]:
    """Return the command lines of munged, slurmctld and the slurmds, all in the foreground."""
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
    """Start the daemons, submit the jobs at their moments, wait for the last end, and end all processes; return the
    result.

    With a `rate` above 1, Debian's faketime makes the clock of all programs run faster by that factor.
    """
    folder = Path(tempfile.mkdtemp(prefix=f"real-{rate}-", dir=context.folder))
    prepare(folder, jobs, machine, rate, idle_s)
    inside = [sys.executable, "-m", real_cluster_inside.__name__]
    faster = ["faketime", "-m", "-f", f"+0 x{rate}"] if rate > 1 else []
    command: list[str | Path] = [*NAMESPACES, *inside, "prepare", folder, *faster, *inside, "run"]
    environment = {"SLURM_CONF": f"{HERE}/slurm.conf", "TZ": "UTC", **MODULES}
    done = context.run(command, environment, limit_s, signal.SIGKILL)
    log, result = Path(f"{folder}{JOBCOMP}"), folder / "result.json"
    lines = log.read_text(errors="replace").split("\n")[:-1] if log.exists() else []  # the last line may be half written
    cost = Cost(**json.loads(result.read_text())) if result.exists() else Cost()
    trouble = "" if done.returncode == 0 else f"stopped after {limit_s:g} s" if done.returncode is None else done.last_words
    return RealRun({job.name: job for job in parse_jobcomp(lines).values()}, done.wall_s, not trouble, cost, trouble)


def prepare(folder: Path, jobs: Sequence[Job], machine: Machine, rate: int, idle_s: float) -> None:
    """Write the folders of the daemons, the daemons' configuration and key, and the plan for the program inside."""
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
        "jobs": {"number": NUMBER, "jobs": [{"id": job.id, "at": job.submit_s, "argv": submit_command(job)} for job in jobs]},
        "idle_s": idle_s,
        "log": f"{HERE}{JOBCOMP}",
    }
    (folder / "plan.json").write_text(json.dumps(plan))
