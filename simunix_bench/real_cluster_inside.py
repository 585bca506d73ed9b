"""Run Slurm's real daemons in real time, or in the time that faketime shows. This program runs inside of their
namespaces.

    python -m simunix_bench.real_cluster_inside prepare FOLDER COMMAND...     sets the namespaces up, then becomes COMMAND
    python -m simunix_bench.real_cluster_inside run                           starts daemons, submits, waits for the last job

Inside, the folder is at HERE, since paths of sockets may have 107 characters only. The folder holds plan.json:
    "daemons"       command lines; the first is munged's
    "munge_socket"  its socket
    "nodes"         how many must be idle before the first job
    "rate"          seconds of the C library's time in one of real time
    "jobs"          a plan for simunix/workload/guest/submitter.py, without its origin
    "idle_s"        seconds of idleness to measure before the first job; 0: nothing is measured
    "log"           the file in which Slurm records completed jobs

With idle_s the program writes result.json: "idle_cpu_rate", "busy_cpu_s", "busy_s". It does not end the daemons: the kernel
ends all processes of a PID namespace with the first one.
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

from simunix.workload.guest.submitter import Flushed, Submitter
from simunix_bench.processor_time import spent_s

SIOCSIFFLAGS, SIOCSIFADDR, IFF_UP = 0x8914, 0x8916, 0x1
ADDRESS = "10.0.0.1"
"""A second address, which no program uses. If there were only loopback addresses, getaddrinfo(3) with AI_ADDRCONFIG
would find none.
"""
HERE = "/run"
LOOK_S = 0.05
ASK_S = 0.5
SETTLING_S = 1.0
IDLE = ["sinfo", "--noheader", "--format=%D", "--states=idle"]
QUEUE = ["squeue", "--noheader", "--format=%A"]


def prepare(folder: str, command: list[str]) -> None:
    """Set up the namespaces (the folder at HERE, loopback with a second address, shared memory), and then execute the
    command.

    libfaketime leaves files in shared memory behind. Under faketime slurmstepd may crash, and would leave its core in the
    folder of the user.
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
    """Slurm's daemons and their jobs. Pauses are in real seconds."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.folder = Path(HERE)
        self.running: dict[str, subprocess.Popen[bytes]] = {}  # by the names of the files with their output

    def pause(self, real_s: float) -> None:
        """Sleep for `real_s` seconds of real time. Exit if a daemon has ended."""
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
        """Return the words that a Slurm client prints; None if the client fails."""
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return done.stdout.split() if done.returncode == 0 else None

    def submit(self) -> None:
        """Submit the jobs as the emulated submitting program does: one command after the other, each at its moment."""
        with (self.folder / "submissions.csv").open("w", newline="") as file:
            Submitter({**self.plan["jobs"], "origin": time.time()}, Flushed(file)).run()

    def ended(self) -> int:
        """Return the number of jobs that Slurm has recorded as completed."""
        log = Path(self.plan["log"])
        text = log.read_text() if log.exists() else ""
        return len(set(re.findall(r"^JobId=(\d+)", text, re.MULTILINE)))

    def finish(self) -> None:
        """Wait for the last job: read the log regularly, which costs the daemons nothing, and then ask for the queue."""
        accepted = sum(",0," in line for line in (self.folder / "submissions.csv").read_text().splitlines()[1:])
        while self.ended() < accepted:
            self.pause(LOOK_S)
        while self.told(QUEUE) != []:
            self.pause(ASK_S)

    def work(self) -> None:
        """Submit the jobs to Slurm's real daemons, and wait for the last job."""
        self.submit()
        self.finish()

    def weighed(self, idle_s: float) -> dict[str, float]:
        """Measure the idle daemons for `idle_s` seconds; then submit the jobs, wait for the last one, and measure the
        cost.
        """
        self.pause(SETTLING_S)
        begin_s, begin = spent_s(), time.monotonic()
        self.pause(idle_s)
        idle_cpu_s, idle_s = spent_s() - begin_s, time.monotonic() - begin
        begin_s, begin = spent_s(), time.monotonic()
        self.work()
        self.pause(SETTLING_S)  # the daemons' work after the end of a job belongs to the job's cost
        return {"idle_cpu_rate": idle_cpu_s / idle_s, "busy_cpu_s": spent_s() - begin_s, "busy_s": time.monotonic() - begin}


def main() -> None:
    """Execute the plan."""
    plan = json.loads(Path(HERE, "plan.json").read_text())
    cluster = Cluster(plan)
    cluster.start()
    if plan["idle_s"]:
        Path(HERE, "result.json").write_text(json.dumps(cluster.weighed(plan["idle_s"])))
    else:
        cluster.work()


if __name__ == "__main__":
    prepare(sys.argv[2], sys.argv[3:]) if sys.argv[1] == "prepare" else main()
