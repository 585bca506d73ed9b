"""Fair-share by energy on a Slurm cluster: pending jobs get priorities by the joules of their users; runs beside slurmctld.

    python3 energy_fairshare.py PLAN.json

After Glesser (PhD thesis, Grenoble 2016), chapter 6. Only Slurm's public commands are used: sacct tells the joules of jobs that
have ended, sshare the shares, squeue the pending jobs; `scontrol update SiteFactor=` adds to their priorities. The plan:

    "policy"    "efs": by joules; "fs+efs": by joules and, as much, by the processor time that Slurm charges
    "weight"    site factor of an association that has used nothing
    "interval"  seconds between two looks
    "patience"  seconds for which a job that has ended may be missing in the accounting

A job's joules are those of its steps; where they are fewer than those that its batch script's node consumed meanwhile, these.
An association is a user under an account. Its usage U is its part of all joules, each job's divided by two for each half-life
(PriorityDecayHalfLife) since its end; S is its part of all shares, d is FairShareDampeningFactor. Its factor is 2^(-U/S/d), as
the classic fair-share factor of priority/multifactor. For "fs+efs" both factors are divided by the largest of all associations,
and the mean counts.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from datetime import datetime
from typing import Any

Association = tuple[str, str]
"""An association in Slurm: an account and a user."""
ENDED = "COMPLETED,FAILED,TIMEOUT,CANCELLED,NODE_FAIL,OUT_OF_MEMORY,PREEMPTED,BOOT_FAIL,DEADLINE"
PERIOD = re.compile(r"(?:(\d+)-)?(\d+):(\d+):(\d+)")
JOBS_EACH = 500
"""The most jobs in one command, because the length of a command line is limited."""


def run(*argv: str) -> str:
    """Run a command and return its output; if the command fails, write that to the log and return ""."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        say(f"{' '.join(argv)[:200]}: {(done.stderr or done.stdout).strip()}")
        return ""
    return done.stdout


def say(text: str) -> None:
    """Write a line with the date to the log."""
    print(f"{datetime.now().isoformat(timespec='seconds')} {text}", flush=True)


def rows(text: str, fields: int) -> list[list[str]]:
    """Return the rows of a table whose columns are separated by `|`; rows with fewer than `fields` columns are left
    out.
    """
    found = (line.split("|") for line in text.splitlines())
    return [row for row in found if len(row) == fields]


def ended_jobs(text: str) -> list[tuple[str, str, Association, int]]:
    """Return the ended jobs that sacct lists with their steps: number and start, end, association, joules. Jobs without
    a measured step are left out.

    Slurm's own sum for a job omits its batch script. The step `batch` has the joules that the script's node consumed.
    """
    found: list[tuple[str, str, Association, int]] = []
    head: list[str] = []
    batch = steps = 0
    for row in [*rows(text, 6), ["", "", "", "", "", ""]]:
        number, _, step = row[0].partition(".")
        if head and step and number == head[0]:
            joules = int(row[5]) if row[5].isdecimal() else 0
            batch, steps = (max(batch, joules), steps) if step == "batch" else (batch, steps + joules * (step != "extern"))
        elif not step:
            if batch or steps:
                found.append((f"{head[0]} {head[1]}", head[2], (head[3], head[4]), max(batch, steps)))
            head, batch, steps = row, 0, 0
    return found


def period_s(text: str) -> float:
    """Return the seconds of a duration [days-]hours:minutes:seconds, as `scontrol show config` writes it; 0 for any
    other text.
    """
    found = PERIOD.match(text)
    if found is None:
        return 0.0
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def factors(usage: dict[Association, float], shares: dict[Association, float], dampening: float) -> dict[Association, float]:
    """Return the fair-share factor of each association that has shares, from 0 to 1."""
    whole, of_all = sum(usage.values()), sum(shares.values())
    found: dict[Association, float] = {}
    for association, own in shares.items():
        part = usage.get(association, 0.0) / whole if whole > 0 else 0.0
        found[association] = 2.0 ** (-part / (own / of_all) / dampening) if own > 0 else 0.0
    return found


def together(first: dict[Association, float], second: dict[Association, float]) -> dict[Association, float]:
    """Return the mean of two factors for each association; each factor is first divided by the largest of its kind."""
    most, other = (max(each.values(), default=0.0) or 1.0 for each in (first, second))
    return {each: (first[each] / most + second.get(each, 0.0) / other) / 2 for each in first}


class FairShare:
    """The joules of associations so far, and the site factors that pending jobs have been given."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.policy: str = plan["policy"]
        self.weight: int = plan["weight"]
        self.interval: float = plan["interval"]
        self.patience: float = plan["patience"]
        self.half_life = 0.0
        self.dampening = 1.0
        self.joules: dict[Association, float] = {}
        self.looked = time.time()  # the moment up to which the joules have been decayed
        self.since = 0.0  # jobs that ended earlier have been counted
        self.counted: dict[str, float] = {}  # the ends of counted jobs, by number and start
        self.given: dict[str, int] = {}  # the site factors that pending jobs have

    def run(self) -> None:
        """Set the priorities of pending jobs at regular intervals, for ever."""
        self.configure()
        while True:
            self.count()
            self.give()
            time.sleep(self.interval)

    def configure(self) -> None:
        """Read the half-life and the dampening factor from slurmctld."""
        text = run("scontrol", "show", "config")
        settings = dict(re.findall(r"^(\w+)\s*= (.*)$", text, re.MULTILINE))
        self.half_life = period_s(settings.get("PriorityDecayHalfLife", ""))
        self.dampening = float(settings.get("FairShareDampeningFactor", "1") or 1)

    # Joules

    def decay(self, seconds: float) -> float:
        """Return the part of a joule that remains after some seconds of decay."""
        return 2.0 ** (-seconds / self.half_life) if self.half_life > 0 else 1.0

    def count(self) -> None:
        """Add the joules of jobs that have ended since the last call."""
        now = time.time()
        since = datetime.fromtimestamp(max(0.0, self.since - self.patience)).isoformat(timespec="seconds")
        words = ("--allusers", "--duplicates", "--noheader", "--parsable2", f"--state={ENDED}")
        columns = "--format=JobIDRaw,Start,End,Account,User,ConsumedEnergyRaw"
        text = run("sacct", *words, f"--starttime={since}", "--endtime=now", columns)
        for association, joules in self.joules.items():
            self.joules[association] = joules * self.decay(now - self.looked)
        self.looked = now
        for job, end, association, joules in ended_jobs(text):
            self.add(job, end, association, joules)
        self.since = now
        self.counted = {job: at for job, at in self.counted.items() if at > now - 2 * self.patience}

    def add(self, job: str, end: str, association: Association, joules: int) -> None:
        """Charge an ended job's joules to its association, unless the job has been counted already."""
        if job in self.counted:
            return
        ended = datetime.fromisoformat(end).timestamp()
        self.counted[job] = ended
        self.joules[association] = self.joules.get(association, 0.0) + joules * self.decay(self.looked - ended)

    # Priorities

    def give(self) -> None:
        """Set the site factors of pending jobs to those of their associations."""
        shares, fair = self.shares()
        found = factors(self.joules, shares, self.dampening)
        if self.policy == "fs+efs":
            found = together(found, fair)
        wanted: dict[int, list[str]] = {}
        pending = rows(run("squeue", "--noheader", "--states=PENDING", "--format=%F|%a|%u"), 3)
        for number, account, user in pending:
            factor = round(self.weight * found.get((account, user), 0.0))
            if self.given.get(number, 0) != factor:
                self.given[number] = factor
                wanted.setdefault(factor, []).append(number)
        self.given = {number: self.given.get(number, 0) for number, _, _ in pending}
        for factor, numbers in wanted.items():
            for first in range(0, len(numbers), JOBS_EACH):
                jobs = ",".join(numbers[first : first + JOBS_EACH])
                run("scontrol", "update", f"JobId={jobs}", f"SiteFactor={factor}")
        if wanted:
            told = (f"{user}@{account} {self.joules.get((account, user), 0):.0f} J" for account, user in shares)
            say(", ".join(f"{text} {factor:.4f}" for text, factor in zip(told, found.values())))  # noqa: B905  any Python

    def shares(self) -> tuple[dict[Association, float], dict[Association, float]]:
        """Return, for all users' associations, the normalized shares, and the fair-share factors by processor time."""
        shares: dict[Association, float] = {}
        fair: dict[Association, float] = {}
        for account, user, own, factor in rows(
            run("sshare", "--all", "--Users", "--noheader", "--parsable2", "--format=Account,User,NormShares,FairShare"), 4
        ):
            if user:
                association = account.strip(), user
                shares[association], fair[association] = float(own or 0), float(factor or 0)
        return shares, fair


def main(path: str) -> None:
    """Read the plan, wait until slurmctld answers, and then set priorities for ever."""
    with open(path) as file:
        plan = json.load(file)
    while subprocess.run(["scontrol", "ping"], capture_output=True, check=False).returncode != 0:
        time.sleep(1)
    FairShare(plan).run()


if __name__ == "__main__":
    main(sys.argv[1])
