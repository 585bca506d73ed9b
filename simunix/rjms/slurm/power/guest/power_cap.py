"""Keeps the nodes of a Slurm cluster below power caps, by Slurm's public commands; runs beside slurmctld.

    python3 power_cap.py PLAN.json

Watts are licenses: a job asks for what its nodes draw under full load beyond what they draw idle (job_submit.lua), and a cap is
a reservation of the licenses that do not fit below it. So Slurm itself starts no job that would break a cap, neither now nor,
by the job's time limit, in a window to come. The plan:

    "caps"      [{"name", "announced", "start", "end" (epoch seconds), ...}, ...], in the order of their starts; "licenses": how
                many there are below the cap ("total": any number); "off": nodes that are off then, as Slurm writes them, ""
                for none; "each": the most licenses that a node may have of a job that runs under the cap
    "total"     how many licenses there are
    "states"    [[licenses of a node, speed], ...]: power states that jobs may run at, the fastest first
    "is_even"   whether jobs get the fastest power state that all nodes could have at a time, and not the one that fits now
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
FIELDS = "%i|%D|%l|%W|%P|%r"
Job = tuple[str, int, float, int]
"""A pending job: number, number of nodes, time limit in seconds, licenses. A heterogeneous job is one job, with all its
components.
"""
CANNOT_START = "JobHeld|BeginTime|Dependency|Assoc|QOS|JobArrayTaskLimit|PartitionDown|PartitionInactive"
"""The pending reasons of jobs that cannot start for other reasons than the cap; other jobs do not wait for them."""


def run(*argv: str) -> str:
    """Run a command and return its output; if the command fails, write that to the log and return ""."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        say(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()}")
        return ""
    return done.stdout


def say(text: str) -> None:
    """Write a line with the date to the log."""
    print(f"{datetime.now().isoformat(timespec='seconds')} {text}", flush=True)


def moment(seconds: float) -> str:
    """Return a moment in the notation that scontrol reads."""
    return datetime.fromtimestamp(math.floor(seconds)).isoformat() if seconds > time.time() else "now"


def limit_s(text: str) -> float:
    """Return the seconds of a time limit in squeue's notation: [[days-]hours:]minutes:seconds, or UNLIMITED."""
    found = LIMIT.match(text)
    if found is None:
        return math.inf
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def excess(running: list[tuple[float, float]], idle: float, limit: float, left: float) -> float:
    """Return by how many joules running jobs exceed a power limit in the `left` seconds; `running` has, for each job,
    watts beyond idle and seconds left.
    """
    ends = sorted({0.0, left, *(min(end, left) for _, end in running)})
    total = 0.0
    for begin, end in zip(ends, ends[1:]):  # noqa: B905, RUF007  any Python that a host has
        total += max(0.0, idle + sum(watts for watts, until in running if until > begin) - limit) * (end - begin)
    return total


class Controller:
    """What the program has done for each cap, and how many licenses jobs asked for at the fastest power state."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.caps: list[dict[str, Any]] = plan["caps"]
        self.total: int = plan["total"]
        self.states: list[tuple[int, float]] = [(watts, speed) for watts, speed in plan["states"]]
        self.is_even: bool = plan["is_even"]
        self.margin: float = plan["margin"]
        self.interval: float = plan["interval"]
        self.limits: dict[str, float] = {}
        self.parts: dict[str, dict[str, int]] = {}  # the number of nodes of each component of pending heterogeneous jobs
        self.longest: dict[str, float] = {}  # the time limits of partitions
        self.partition_of: dict[str, str] = {}
        self.due: list[tuple[float, int, str]] = []
        for place, cap in enumerate(self.caps):
            begin = cap["start"] - self.margin
            self.due += [(min(cap["announced"], begin), place, "announce")]
            self.due += [(begin, place, "off"), (cap["end"], place, "on")] if cap["off"] else [(cap["end"], place, "end")]
        self.due.sort()

    def run(self) -> None:
        """Keep all caps until the last one has ended; then give waiting jobs the fastest power state back."""
        while self.due:
            while self.due and self.due[0][0] <= time.time():
                _, place, action = self.due.pop(0)
                getattr(self, action)(self.caps[place])
            if self.due:
                self.look()
                time.sleep(max(0.0, min(self.interval, self.due[0][0] - time.time())))
        self.restore()

    # Caps

    def announce(self, cap: dict[str, Any]) -> None:
        """Reserve the licenses that do not fit below a cap, and the nodes that must be off during the cap."""
        begin, end = moment(cap["start"] - self.margin), moment(cap["end"])
        is_bound = cap["licenses"] < self.total
        say(f"{cap['name']}: {cap['licenses'] if is_bound else 'all'} W above idle, off: {cap['off'] or 'none'}")
        words = (f"StartTime={begin}", f"EndTime={end}", "Users=root")
        licenses = f"Licenses=watts:{self.total - cap['licenses']}"
        if is_bound:
            run("scontrol", "create", "reservation", f"ReservationName={cap['name']}", *words, licenses, "Flags=LICENSE_ONLY")
        if cap["off"]:
            nodes = f"Nodes={cap['off']}"
            run("scontrol", "create", "reservation", f"ReservationName={cap['name']}-off", *words, nodes, "Flags=IGNORE_JOBS")

    def off(self, cap: dict[str, Any]) -> None:
        """Make the nodes of a cap shut down, each as soon as no job runs there."""
        run("scontrol", "update", f"NodeName={cap['off']}", "State=POWER_DOWN")

    def on(self, cap: dict[str, Any]) -> None:
        """Make the nodes of a cap boot again."""
        run("scontrol", "update", f"NodeName={cap['off']}", "State=POWER_UP")

    def end(self, cap: dict[str, Any]) -> None:
        """Do what the end of a cap needs: boot its nodes. A cap that has switched no node off needs nothing, since its
        reservation ends by itself.
        """

    # Jobs

    def look(self) -> None:
        """Give each pending job that could start the fastest power state that fits below the caps under which the job
        would run.
        """
        if len(self.states) < 2 or not any(cap["announced"] <= time.time() for cap in self.caps):
            return
        if not self.longest:
            lines = run("sinfo", "--noheader", "--format=%R|%l").split()
            self.longest = {name: limit_s(text) for name, text in (line.split("|") for line in lines)}
        jobs = self.pending()
        if not jobs:
            return
        used, idle = self.used(), self.idle()
        for job in jobs:
            number, nodes, _, licenses = job
            if nodes > idle and not self.is_even:
                continue
            fitting = self.fitting(job, used)
            if fitting is not None:
                wanted, limit = fitting
                used, idle = used + wanted, idle - nodes
                if wanted != licenses:
                    self.change(number, wanted, limit)

    def restore(self) -> None:
        """Give all pending jobs their original licenses and time limits back."""
        fastest = self.states[0][0]
        for number, nodes, limit, licenses in self.pending("nothing"):
            if licenses != nodes * fastest:
                self.change(number, nodes * fastest, self.limits.get(number, limit))

    def fitting(self, job: Job, used: int) -> tuple[int, float] | None:
        """Return the licenses and the time limit of a job at the fastest power state at which the job fits; None if it
        fits at none.
        """
        number, nodes, limit, licenses = job
        per_node = licenses // nodes
        now_speed = next((speed for watts, speed in self.states if watts == per_node), self.states[0][1])
        own = self.limits.setdefault(number, limit * now_speed / self.states[0][1])
        for watts, speed in self.states:
            longer = own * self.states[0][1] / speed
            if longer > max(own, self.longest_of(number)):
                break  # Slurm would never start such a job
            room, each = self.room(time.time() + longer)
            fits = watts <= max(each, self.states[-1][0]) if self.is_even else used + nodes * watts <= room
            if fits:
                return nodes * watts, longer
        return None

    def longest_of(self, number: str) -> float:
        """Return the time limit of a job's partition; of several partitions, the shortest limit."""
        names = self.partition_of.get(number, "").split(",")
        return min(self.longest.get(name, math.inf) for name in names)

    def room(self, end: float) -> tuple[int, int]:
        """Return the licenses of the lowest cap between now and the moment `end`: in total, and for each node."""
        now = time.time()
        under = [cap for cap in self.caps if cap["announced"] <= now < cap["end"] and cap["start"] - self.margin < end]
        most = self.total, self.states[0][0]
        return min(((int(cap["licenses"]), int(cap["each"])) for cap in under), default=most)

    def change(self, number: str, licenses: int, limit: float) -> None:
        """Change the licenses and the time limit that a pending job asks for."""
        minutes = "UNLIMITED" if math.isinf(limit) else str(math.ceil(limit / MINUTE_S))
        parts = self.parts.get(number, {number: 1})
        for part, nodes in parts.items():
            own = licenses * nodes // sum(parts.values())
            run("scontrol", "update", f"JobId={part}", f"Licenses=watts:{own}", f"TimeLimit={minutes}")

    # Questions to Slurm

    def pending(self, without: str = CANNOT_START) -> list[Job]:
        """Return the pending jobs that ask for watts, in the order of their priorities. Jobs whose pending reason is in
        `without` are left out.
        """
        found: dict[str, Job] = {}
        self.parts.clear()
        lines = run("squeue", "--noheader", "--array", "--states=PENDING", "--sort=-p,i", f"--format={FIELDS}").splitlines()
        for line in lines:
            part, nodes, limit, licenses, partition, reason = line.strip().split("|", 5)
            watts = re.search(r"\bwatts:(\d+)", licenses)
            if not watts or not nodes.isdecimal() or re.search(without, reason):
                continue
            number, plus, _ = part.partition("+")
            _, others, _, more = found.get(number, ("", 0, 0.0, 0))
            found[number] = number, others + int(nodes), limit_s(limit), more + int(watts[1])
            self.partition_of[number] = partition
            if plus:
                self.parts.setdefault(number, {})[part] = int(nodes)
        return list(found.values())

    def used(self) -> int:
        """Return the number of licenses that jobs use."""
        found = re.search(r"LicenseName=watts\s.*?Used=(\d+)", run("scontrol", "show", "licenses", "watts"), re.DOTALL)
        return int(found[1]) if found else self.total

    def idle(self) -> int:
        """Return the number of nodes that are idle, and neither reserved nor off."""
        return sum(int(count) for count in run("sinfo", "--noheader", "--states=idle", "--format=%D").split())


class BudgetController(Controller):
    """Keeps an energy budget: the licenses that jobs may use follow from the joules consumed so far, as the power
    meters of hosts tell them.

    The plan has one cap, at the power limit, and in addition "budget": {"policy", "joules", "idle_w", "machines": the
    program that reads the meters}. Each job counts with the watts that it asked for first, until its time limit. So the
    saved joules always cover what runs above the power limit, and the budget is never exceeded.
    """

    def __init__(self, plan: dict[str, Any]) -> None:
        super().__init__(plan)
        self.budget: dict[str, Any] = plan["budget"]
        self.cap = self.caps[0]
        self.limit_w = self.budget["joules"] / (self.cap["end"] - self.cap["start"])
        self.begun: float | None = None  # the joules on the meters when the budget began
        self.granted: dict[str, int] = {}  # the watts of jobs that ask Slurm for fewer licenses than they need
        self.due = sorted([*self.due, (self.cap["start"], 0, "begin")])

    def begin(self, cap: dict[str, Any]) -> None:
        """Note the joules on the meters at the beginning of the budget."""
        self.begun = self.joules()

    def end(self, cap: dict[str, Any]) -> None:
        """Write the joules that are left at the end of the budget to the log."""
        say(f"budget: {self.joules() - (self.begun or 0.0):.0f} J of {self.budget['joules']:.0f} J")

    def joules(self) -> float:
        """Return the joules that all hosts and enclosures have consumed so far."""
        return float(run(self.budget["machines"], "machines", "watts").split()[1])

    def running(self) -> list[tuple[float, float]]:
        """Return, for each job that has nodes, its watts beyond idle and its seconds left. Each job runs at full speed,
        whatever licenses it has.
        """
        found: list[tuple[float, float]] = []
        states = "--states=RUNNING,CONFIGURING,COMPLETING,SUSPENDED"
        for line in run("squeue", "--noheader", "--array", states, "--format=%D|%L").split():
            nodes, left = line.split("|")
            # the job has exceeded its limit, and is about to be ended
            seconds = MINUTE_S if left == "INVALID" else limit_s(left)
            found.append((int(nodes) * self.states[0][0], seconds + MINUTE_S))
        return found

    def exceed(self, job: Job, running: list[tuple[float, float]], saved: float, room: int) -> int:
        """Let a job exceed the power limit if enough joules have been saved. Return the number of licenses that jobs
        may then use.

        `running` includes jobs that others may start in the meantime. A job that may exceed the limit asks Slurm for no
        more licenses than exist. So it waits for nodes only, and Slurm reserves these for it.
        """
        number, _, limit, licenses = job
        wanted, left = self.granted.get(number, licenses), self.cap["end"] - time.time()
        missing = excess([*running, (wanted, limit + MINUTE_S)], self.budget["idle_w"], self.limit_w, left) - saved
        if missing <= 0:
            self.granted[number], room = wanted, max(1, room)
            if licenses != room:
                self.change(number, room, limit)
            return room
        if self.granted.pop(number, licenses) != licenses:
            self.change(number, wanted, limit)
        return 0 if self.budget["policy"] == "energyBud" else int(room - missing / left)

    def look(self) -> None:
        """Adjust the reserved licenses to the saved joules. The first job of the queue may exceed the power limit if
        enough joules have been saved.
        """
        if self.cap["licenses"] >= self.total:
            return  # the joules suffice for all jobs
        if self.begun is None or not self.cap["start"] <= time.time() < self.cap["end"]:
            return
        left, spent = self.cap["end"] - time.time(), self.joules() - self.begun
        saved = self.limit_w * (time.time() - self.cap["start"]) - spent
        running, used = self.running(), self.used()
        room = int(self.limit_w - self.budget["idle_w"] - sum(watts for watts, _ in running))
        for job in self.pending()[:1]:
            if self.granted.get(job[0], job[3]) > room and self.budget["policy"] != "powercap":
                room = self.exceed(job, [*running, (max(0, room), left)], saved, room)
        reserved = min(self.total, max(0, self.total - used - max(0, room)))
        run("scontrol", "update", f"ReservationName={self.cap['name']}", f"Licenses=watts:{reserved}")


def main(path: str) -> None:
    """Read the plan, wait until slurmctld answers, and keep the caps until they end."""
    with open(path) as file:
        plan = json.load(file)
    controller = BudgetController(plan) if "budget" in plan else Controller(plan)
    while subprocess.run(["scontrol", "ping"], capture_output=True, check=False).returncode != 0:
        time.sleep(1)
    controller.run()


if __name__ == "__main__":
    main(sys.argv[1])
