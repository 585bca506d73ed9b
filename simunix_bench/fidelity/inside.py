"""Run a script with Slurm's real daemons in real time. This program runs inside of their namespaces
(simunix_bench/real_cluster_inside.py).

    python -m simunix_bench.fidelity.inside SCRIPT OUTPUT

Slurm counts in whole seconds, and the cycles of its schedulers are counted from the start of slurmctld. So the daemons
start at the same moments as in an emulated run: slurmctld at a whole second, the slurmds a second later, the script 19
seconds after slurmctld.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from simunix_bench.fidelity import player
from simunix_bench.real_cluster_inside import ASK_S, HERE, IDLE, LOOK_S, Cluster

SLURMD_S, SCRIPT_S = 1.0, 19.0
"""When the slurmds and the script start, in seconds after slurmctld: as in simunix, and as in SCENARIO of arms.py."""


class Aligned(Cluster):
    """Slurm's daemons, started at given moments."""

    def start(self) -> None:
        """Start the daemons; return when all nodes are idle and the moment of the script has come."""
        munged, slurmctld, *slurmds = self.plan["daemons"]
        self.begin("munged", munged)
        while not Path(self.plan["munge_socket"]).exists():
            time.sleep(LOOK_S)
        origin = int(time.time()) + 2
        wait_for(origin)
        self.begin("slurmctld", slurmctld)
        wait_for(origin + SLURMD_S)
        for number, command in enumerate(slurmds, 1):
            self.begin(f"slurmd{number}", command)
        while self.told(IDLE) != [str(self.plan["nodes"])]:
            self.pause(ASK_S)
        wait_for(origin + SCRIPT_S)
        self.pause(0)

    def begin(self, name: str, command: list[str]) -> None:
        """Start a daemon, whose output goes to a file with its name."""
        with (self.folder / f"{name}.out").open("w") as output:
            self.running[f"{name}.out"] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)


def wait_for(moment: float) -> None:
    """Sleep until a moment of the clock; return at once if the moment has passed."""
    time.sleep(max(0.0, moment - time.time()))


def reaped(process: int) -> int:
    """Wait for orphaned processes until this child process ends; return its exit code.

    Orphans are children of the first process in a PID namespace. slurmstepd waits until no process of a step is left,
    including zombies. If nobody waits for orphans, a job with a step ends only by its time limit.
    """
    while True:
        ended, status = os.wait()
        if ended == process:
            return os.waitstatus_to_exitcode(status)


def main() -> None:
    """Start Slurm's daemons in real time, then execute the Slurm commands of the script."""
    if process := os.fork():
        sys.exit(reaped(process))
    Aligned(json.loads(Path(HERE, "plan.json").read_text())).start()
    subprocess.run([sys.executable, player.__file__, *sys.argv[1:]], check=True)


if __name__ == "__main__":
    main()
