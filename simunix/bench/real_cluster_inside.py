"""Slurm's real daemons in real time, or in whatever time the C library shows: run inside namespaces of their own.

    python -m simunix.bench.real_cluster_inside prepare FOLDER COMMAND...     sets the namespaces up, then becomes COMMAND
    python -m simunix.bench.real_cluster_inside run                           starts daemons, submits, waits for the last job

The folder is at HERE inside: paths of sockets may have 107 characters only. In it, plan.json:
    "daemons"       command lines; the first is munged's
    "munge_socket"  its socket
    "nodes"         how many must be idle before the first job
    "rate"          seconds of the C library's time in one of real time
    "jobs"          a plan for simunix/workload/guest/submitter.py, without its origin
    "idle_s"        so many seconds of idleness are measured before the first job; 0: nothing is measured
    "log"           the file in which Slurm notes completed jobs

With idle_s it leaves result.json: "idle_cpu_rate", "busy_cpu_s", "busy_s". Nothing is ended here:
the kernel ends all that lives in a PID namespace with its first process.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import resource
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from simunix.bench.processor_time import spent_s
from simunix.workload.guest.submitter import Flushed, Submitter

SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 0x1
ADDRESS = "10.0.0.1"
"""Nobody uses it, but where only loopback has addresses getaddrinfo(3) with AI_ADDRCONFIG, as Slurm asks it, refuses all."""
HERE = "/run"
LOOK_S = 0.05
ASK_S = 0.5
SETTLING_S = 1.0
IDLE = ["sinfo", "--noheader", "--format=%D", "--states=idle"]
QUEUE = ["squeue", "--noheader", "--format=%A"]


def prepare(folder: str, command: list[str]) -> None:
    """The folder at HERE; loopback up, with a second address; shared memory, which libfaketime leaves behind; the command.

    Under faketime slurmstepd may crash: its core would be left where the user stands.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    address = struct.pack("=hH4s8x", socket.AF_INET, 0, socket.inet_aton(ADDRESS))
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
        fcntl.ioctl(any_socket, SIOCSIFADDR, struct.pack("16s16s8x", b"lo:0", address))
    subprocess.run(["mount", "--bind", folder, HERE], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/dev/shm"], check=True)
    os.execvp(command[0], command)


class Cluster:
    """Pauses are given in real seconds."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.folder = Path(HERE)
        self.running: dict[str, subprocess.Popen[bytes]] = {}  # by the names of their output files

    def pause(self, real_s: float) -> None:
        """Sleep so long in reality. Ends all if a daemon has ended."""
        time.sleep(real_s * self.plan["rate"])
        for name, process in self.running.items():
            if process.poll() is not None:
                lines = (self.folder / name).read_text(errors="replace").splitlines() or ["it said nothing"]
                sys.exit(f"{name.partition('.')[0]} ended early: {lines[-1]}")

    def start(self) -> None:
        """Start the daemons; return when all nodes are idle."""
        for number, command in enumerate(self.plan["daemons"]):
            name = f"{command[0]}.{number}.out"
            with (self.folder / name).open("w") as output:
                self.running[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
            while not Path(self.plan["munge_socket"]).exists():
                self.pause(LOOK_S)
        while self.told(IDLE) != [str(self.plan["nodes"])]:
            self.pause(ASK_S / 2)

    def told(self, command: list[str]) -> list[str] | None:
        """The words that a client of Slurm prints; None if it fails."""
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done.stdout.split() if done.returncode == 0 else None

    def submit(self) -> None:
        """As the emulated submitter does: one command after the other, each at its moment."""
        with (self.folder / "submissions.csv").open("w", newline="") as file:
            Submitter({**self.plan["jobs"], "origin": time.time()}, Flushed(file)).run()

    def ended(self) -> int:
        """How many jobs Slurm has noted as completed."""
        log = Path(self.plan["log"])
        text = log.read_text() if log.exists() else ""
        return len(set(re.findall(r"^JobId=(\d+)", text, re.MULTILINE)))

    def finish(self) -> None:
        """Wait for the last job: look at the log, which costs the daemons nothing, then ask for the queue."""
        accepted = sum(",0," in line for line in (self.folder / "submissions.csv").read_text().splitlines()[1:])
        while self.ended() < accepted:
            self.pause(LOOK_S)
        while self.told(QUEUE) != []:
            self.pause(ASK_S)

    def work(self) -> None:
        """Submit, and wait for the last job."""
        self.submit()
        self.finish()

    def weighed(self, idle_s: float) -> dict[str, float]:
        """The same, and what it cost; before it, what nothing costs."""
        self.pause(SETTLING_S)
        begin_s, begin = spent_s(), time.monotonic()
        self.pause(idle_s)
        idle_cpu_s, idle_s = spent_s() - begin_s, time.monotonic() - begin
        begin_s, begin = spent_s(), time.monotonic()
        self.work()
        self.pause(SETTLING_S)  # what comes after a job's end is a part of its cost
        return {"idle_cpu_rate": idle_cpu_s / idle_s, "busy_cpu_s": spent_s() - begin_s, "busy_s": time.monotonic() - begin}


def main() -> None:
    """Run the plan."""
    plan = json.loads(Path(HERE, "plan.json").read_text())
    cluster = Cluster(plan)
    cluster.start()
    if plan["idle_s"]:
        Path(HERE, "result.json").write_text(json.dumps(cluster.weighed(plan["idle_s"])))
    else:
        cluster.work()


if __name__ == "__main__":
    prepare(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "prepare" else main()
