"""Keeps the nodes of a Slurm cluster below power caps, by Slurm's public commands; runs beside slurmctld.

    python3 power_cap.py PLAN.json

Watts are licenses: a job asks for what its nodes draw under full load beyond what they draw idle (job_submit.lua), and a cap is
a reservation of the licenses that do not fit below it. So Slurm itself starts no job that would break a cap, neither now nor,
by the job's time limit, in a window to come. The plan:

    "caps"      [{"name", "announced", "start", "end" (epoch seconds), "licenses": how many there are below the cap,
                "off": nodes that are off then, as Slurm writes them, "" for none}, ...], in the order of their starts
    "total"     how many licenses there are
    "states"    [[licenses of a node, speed], ...]: power states that jobs may run at, the fastest first
    "margin"    seconds before a cap from which on nothing may be above it: a job may outlive its time limit a little
    "interval"  seconds between two looks at the queue

A node that is to be off is reserved, then told POWER_DOWN, and POWER_UP at the end of the cap. A pending job that does not fit
gets the fastest power state at which it does: fewer licenses, and more time, since it takes longer.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import time
from datetime import datetime
from typing import Any

MINUTE_S = 60
LIMIT = re.compile(r"(?:(?:(\d+)-)?(\d+):)?(\d+):(\d+)$")
FIELDS = "%i|%D|%l|%W"
Job = tuple[str, int, float, int]
"""A pending job: its number, its nodes, its time limit in seconds, its licenses."""


def run(*argv: str) -> str:
    """What a command prints; one that fails is told of, and prints nothing."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        say(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()}")
        return ""
    return done.stdout


def say(text: str) -> None:
    """Write a line into the log, with the moment."""
    print(f"{datetime.now().isoformat(timespec='seconds')} {text}", flush=True)


def moment(seconds: float) -> str:
    """A moment as scontrol reads it."""
    return datetime.fromtimestamp(math.floor(seconds)).isoformat() if seconds > time.time() else "now"


def limit_s(text: str) -> float:
    """Seconds of a time limit as squeue writes it: [[days-]hours:]minutes:seconds, or UNLIMITED."""
    found = LIMIT.match(text)
    if found is None:
        return math.inf
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


class Controller:
    """What has been done for each cap, and what jobs asked for at the fastest power state."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.caps: list[dict[str, Any]] = plan["caps"]
        self.total: int = plan["total"]
        self.states: list[tuple[int, float]] = [(watts, speed) for watts, speed in plan["states"]]
        self.margin: float = plan["margin"]
        self.interval: float = plan["interval"]
        self.limits: dict[str, float] = {}
        self.due: list[tuple[float, int, str]] = []
        for place, cap in enumerate(self.caps):
            begin = cap["start"] - self.margin
            self.due += [(min(cap["announced"], begin), place, "announce")]
            self.due += [(begin, place, "off"), (cap["end"], place, "on")] if cap["off"] else [(cap["end"], place, "end")]
        self.due.sort()

    def run(self) -> None:
        """Until the last cap has ended."""
        while self.due:
            while self.due and self.due[0][0] <= time.time():
                _, place, action = self.due.pop(0)
                getattr(self, action)(self.caps[place])
            if self.due:
                self.look()
                time.sleep(max(0.0, min(self.interval, self.due[0][0] - time.time())))

    # Caps

    def announce(self, cap: dict[str, Any]) -> None:
        """Reserve the licenses that do not fit below a cap, and the nodes that are to be off."""
        begin, end = moment(cap["start"] - self.margin), moment(cap["end"])
        say(f"{cap['name']}: {cap['licenses']} of {self.total} W above idle, off: {cap['off'] or 'none'}")
        words = (f"StartTime={begin}", f"EndTime={end}", "Users=root")
        licenses = f"Licenses=watts:{self.total - cap['licenses']}"
        run("scontrol", "create", "reservation", f"ReservationName={cap['name']}", *words, licenses, "Flags=LICENSE_ONLY")
        if cap["off"]:
            nodes = f"Nodes={cap['off']}"
            run("scontrol", "create", "reservation", f"ReservationName={cap['name']}-off", *words, nodes, "Flags=IGNORE_JOBS")

    def off(self, cap: dict[str, Any]) -> None:
        """Have nodes shut down, as soon as no job runs there."""
        run("scontrol", "update", f"NodeName={cap['off']}", "State=POWER_DOWN")

    def on(self, cap: dict[str, Any]) -> None:
        """Have nodes boot."""
        run("scontrol", "update", f"NodeName={cap['off']}", "State=POWER_UP")

    def end(self, cap: dict[str, Any]) -> None:
        """Nothing is to be done when a cap ends that has turned no node off: its reservation ends by itself."""

    # Jobs

    def look(self) -> None:
        """Give pending jobs that could start the fastest power state that fits below the caps that they would run under."""
        if len(self.states) < 2 or not any(cap["announced"] <= time.time() for cap in self.caps):
            return
        jobs = self.pending()
        if not jobs:
            return
        used, idle = self.used(), self.idle()
        for job in jobs:
            number, nodes, _, licenses = job
            if nodes > idle:
                continue
            fitting = self.fitting(job, used)
            if fitting is not None:
                wanted, limit = fitting
                used, idle = used + wanted, idle - nodes
                if wanted != licenses:
                    self.change(number, wanted, limit)

    def fitting(self, job: Job, used: int) -> tuple[int, float] | None:
        """Licenses and time limit at the fastest power state at which a job fits; None if it fits at none."""
        number, nodes, limit, licenses = job
        per_node = licenses // nodes
        now_speed = next((speed for watts, speed in self.states if watts == per_node), self.states[0][1])
        own = self.limits.setdefault(number, limit * now_speed / self.states[0][1])
        for watts, speed in self.states:
            longer = own * self.states[0][1] / speed
            if used + nodes * watts <= self.room(time.time() + longer):
                return nodes * watts, longer
        return None

    def room(self, end: float) -> int:
        """The licenses of the lowest cap that something would run under from now to a moment."""
        now = time.time()
        under = [cap for cap in self.caps if cap["announced"] <= now < cap["end"] and cap["start"] - self.margin < end]
        return min((int(cap["licenses"]) for cap in under), default=self.total)

    def change(self, number: str, licenses: int, limit: float) -> None:
        """Have a pending job ask for other licenses and another time limit."""
        minutes = "UNLIMITED" if math.isinf(limit) else str(math.ceil(limit / MINUTE_S))
        run("scontrol", "update", f"JobId={number}", f"Licenses=watts:{licenses}", f"TimeLimit={minutes}")

    # What Slurm says

    def pending(self) -> list[Job]:
        """The pending jobs that ask for watts, in the order of their priorities."""
        found: list[Job] = []
        for line in run("squeue", "--noheader", "--array", "--states=PENDING", "--sort=-p,i", f"--format={FIELDS}").split():
            number, nodes, limit, licenses = line.split("|")
            watts = re.search(r"\bwatts:(\d+)", licenses)
            if watts and nodes.isdecimal():
                found.append((number, int(nodes), limit_s(limit), int(watts[1])))
        return found

    def used(self) -> int:
        """Licenses that jobs have."""
        found = re.search(r"LicenseName=watts\s.*?Used=(\d+)", run("scontrol", "show", "licenses", "watts"), re.DOTALL)
        return int(found[1]) if found else self.total

    def idle(self) -> int:
        """How many nodes are idle, and neither reserved nor off."""
        return sum(int(count) for count in run("sinfo", "--noheader", "--states=idle", "--format=%D").split())


def main(path: str) -> None:
    """Read the plan, wait until slurmctld answers, and keep the caps."""
    with open(path) as file:
        controller = Controller(json.load(file))
    while subprocess.run(["scontrol", "ping"], capture_output=True, check=False).returncode != 0:
        time.sleep(1)
    controller.run()


if __name__ == "__main__":
    main(sys.argv[1])
