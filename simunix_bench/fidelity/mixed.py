"""The script of 60 mixed jobs on 8 nodes of 16 cores, which takes five minutes; it was drawn from a fixed seed."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NODES, CORES = 8, 16
SEED = 18
PLAIN = 31
SUBMISSIONS_S = 150
END_S = 280.0
"""When the script asks for the states of all jobs, in seconds; by then all jobs have ended."""
FRACTION_S, PART_S = 0.85, 0.5
"""How long after a whole second moments lie, and how much longer than whole seconds jobs last.

slurmctld's scheduling passes come soon after whole seconds, each some milliseconds later than the one before. So no
submission and no end is near a pass, where milliseconds would decide.
"""
SLURM = {"MinJobAge": 3600, "ReturnToService": 0}
"""Parameters of slurm.conf: slurmctld remembers all jobs until the script asks for them, and a node that was set down
stays down.
"""
JOB = """#!/bin/bash
# $1: the log; $2: what the job does; the others: for how long. Times have the microseconds that Slurm's records lack.
log=$1
shift
note() { echo "$1 $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $EPOCHREALTIME" >> "$log"; }
note begin
case $1 in
sleep) sleep "$2" ;;
fail) sleep "$2"; note end; exit 1 ;;
steps) srun -n 1 sleep "$2"; note step; srun sleep "$3" ;;
pair) srun -n 1 --exact sleep "$2" & srun -n 1 --exact sleep "$3" & wait ;;
esac
note end
"""


@dataclass(slots=True)
class Script:
    """The actions of a script so far, and the sbatch options that all jobs share."""

    job: Path
    log: Path
    actions: list[dict[str, Any]] = field(default_factory=list)

    def give(self, at_s: float, name: str, *argv: str) -> None:
        """Add a command at a moment."""
        self.actions.append({"at": at_s + FRACTION_S, "name": name, "argv": list(argv)})

    def submit(self, at_s: float, name: str, options: str, *task: str | int) -> None:
        """Add a job at a moment: options of sbatch, and what the job does.

        The log is an argument of the job's program. With --export, slurmd would run a login shell of this computer's
        user before the job.
        """
        own = ["sbatch", "--parsable", "-J", name, "-o", "/dev/null", *options.split(), str(self.job), str(self.log)]
        self.give(at_s, name, *own, *(str(word + PART_S if isinstance(word, int) else word) for word in task))

    def in_order(self) -> list[dict[str, Any]]:
        """Return the actions ordered by moment; those of one moment are in the order in which they were added."""
        return sorted(self.actions, key=lambda action: float(action["at"]))


def mixed(job: Path, log: Path) -> list[dict[str, Any]]:
    """Return the script: 31 plain jobs, two job arrays with 10 tasks in total, and 19 jobs that are changed while they
    wait or run.
    """
    script = Script(job, log)
    chance = random.Random(SEED)
    for number in range(1, PLAIN + 1):
        cores = chance.choice([1, 2, 4, 8, 16, 16, 24, 32, 48])
        length_s = chance.randint(5, 40)
        moment_s = round(chance.uniform(0, SUBMISSIONS_S))
        limit = chance.choice([1, 1, 2, 3])
        script.submit(moment_s, f"plain{number}", f"-n {cores} -t {limit}", "sleep", length_s)
    script.submit(5, "array", "--array=1-6%3 -n 4 -t 1", "sleep", 9)
    script.submit(70, "wide", "--array=1-4 -n 24 -t 1", "sleep", 11)
    dependencies(script)
    interventions(script)
    nodes(script)
    return ended(script, END_S)


def dependencies(script: Script) -> None:
    """Add a chain of jobs, a job whose condition never becomes true, and two jobs of which only one may run at a time."""
    script.submit(10, "first", "-n 2 -t 1", "sleep", 12)
    script.submit(10, "after", "-n 2 -t 1 --dependency=afterok:{first}", "sleep", 8)
    script.submit(12, "failing", "-n 1 -t 1", "fail", 7)
    script.submit(12, "whatever", "-n 1 -t 1 --dependency=afterany:{failing}", "sleep", 5)
    script.submit(12, "never", "-n 1 -t 1 --dependency=afterok:{failing} --kill-on-invalid-dep=yes", "sleep", 5)
    script.submit(20, "alone", "-n 1 -t 1 --dependency=singleton", "sleep", 9)
    script.submit(21, "alone", "-n 1 -t 1 --dependency=singleton", "sleep", 6)


def interventions(script: Script) -> None:
    """Add jobs that are cancelled, requeued, suspended or held, that begin late, exceed their limit, or consist of
    steps.
    """
    script.submit(8, "cancelled", "-n 4 -t 2", "sleep", 100)
    script.give(31, "cancel", "scancel", "{cancelled}")
    script.submit(14, "unborn", "-n 128 -t 1", "sleep", 10)
    script.give(16, "cancel-unborn", "scancel", "{unborn}")
    script.submit(9, "requeued", "-n 2 -t 2", "sleep", 40)
    script.give(33, "requeue", "scontrol", "requeue", "{requeued}")
    script.submit(40, "suspended", "-n 2 -t 2", "sleep", 45)
    script.give(62, "suspend", "scontrol", "suspend", "{suspended}")
    script.give(77, "resume", "scontrol", "resume", "{suspended}")
    script.submit(25, "held", "-n 1 -t 1 --hold", "sleep", 7)
    script.give(58, "release", "scontrol", "release", "{held}")
    script.submit(26, "late", "-n 1 -t 1 --begin=now+60", "sleep", 6)
    script.submit(3, "overtime", "-n 1 -t 1", "sleep", 200)
    script.submit(90, "overtime-later", "-n 16 -t 1", "sleep", 200)
    script.submit(15, "steps", "-n 4 -t 1", "steps", 5, 6)
    script.submit(97, "pair", "-n 2 -t 1", "pair", 8, 11)


def nodes(script: Script) -> None:
    """Add a reservation with a job in it, and a node that goes down while a job runs on it, and comes back."""
    reserve = ["scontrol", "create", "reservation", "ReservationName=kept", "Users=root", "Nodes=node7", "Duration=3"]
    script.give(1, "reserve", *reserve, "StartTime=now+89")
    script.submit(34, "reserved", "-n 8 -t 1 --reservation=kept", "sleep", 15)
    script.submit(66, "victim", "-w node8 -n 1 -t 3", "sleep", 30)
    script.give(85, "down", "scontrol", "update", "NodeName=node8", "State=DOWN", "Reason=fidelity")
    script.give(105, "up", "scontrol", "update", "NodeName=node8", "State=RESUME")


def ended(script: Script, at_s: float) -> list[dict[str, Any]]:
    """Return the actions in order, followed by the questions about all jobs."""
    script.give(at_s, "jobs", "env", "SLURM_TIME_FORMAT=%s", "scontrol", "-o", "show", "job")
    script.give(at_s, "sdiag", "sdiag")
    script.give(at_s, "nodes", "sinfo", "-N", "-h", "-o", "%N %T")
    return script.in_order()
