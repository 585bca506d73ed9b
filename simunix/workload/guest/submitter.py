"""Submit the jobs of a workload from inside of an emulation, with the standard library only.

    python3 submitter.py PLAN.json SUBMISSIONS.csv

The plan: {"origin": epoch seconds, "jobs": [{"id", "at" (seconds after the origin), "argv": [...]}, ...], "poll": [argv]}.
Each job is submitted at its absolute moment by running its command; "number", a regular expression, finds the job's number in
the output. Afterwards `poll` is run at growing intervals until it prints nothing: the queue is empty. What else a job may say:

    "user"     index of the plan's "users" ({"name", "uid", "groups"}): its command is run as that user
    "after"    [index of the plan's "groups" of job ids, think time]: submitted so long after all of the group have ended
    "needs"    id of a job: "after" of the plan, words with that job's number for {}, go into the command
    "hold"     seconds after which "release" of the plan, with the job's number for {}, is run
    "array"    ids of the jobs that the elements of this one are, NUMBER_INDEX from "first_index" of the plan on
    "stays"    true for a command that stays until its job has ended, and tells no number

Ends are learnt from "unfinished" of the plan, a command that prints the numbers of all unfinished jobs, run every
"poll_interval" seconds while somebody waits for one; when exactly is then asked with "ended", {"argv", "pattern"}. All is done
by one process, in the order of time, then of the plan.
"""

from __future__ import annotations

import csv
import heapq
import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from typing import Any, TextIO

FIRST_POLL_S = 5.0
LAST_POLL_S = 60.0
SUBMIT, RELEASE = 0, 1


def run(argv: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command and return the result, with its output as text."""
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)


def filled(argv: list[str], value: str) -> list[str]:
    """Return the words of a command with `{}` replaced."""
    return [word.replace("{}", str(value)) for word in argv]


class Submitter:
    """Submits the jobs of the plan. Moments are seconds after the origin."""

    def __init__(self, plan: dict[str, Any], writer: Flushed) -> None:
        self.plan = plan
        self.writer = writer
        self.jobs: list[dict[str, Any]] = plan["jobs"]
        groups: list[list[int]] = plan.get("groups", [])
        self.known = {id for job in self.jobs for id in job.get("array", [job["id"]])}
        self.numbers: dict[int, str] = {}  # the RJMS's numbers of submitted jobs by id; "" for refused jobs
        # indices of due jobs, by the id of the job whose number they need
        self.needed_by: dict[int, list[int]] = {}
        # by pidfd: id, messages, moment due
        self.staying: dict[int, tuple[int, subprocess.Popen[bytes], Any, float]] = {}
        self.unfinished: dict[str, int] = {}  # ids of jobs whose ends are awaited, by number
        self.next_poll: float | None = None
        self.left = [set(group) for group in groups]
        self.ends = [0.0 for _ in groups]
        self.followers: list[list[int]] = [[] for _ in groups]  # ranks
        self.groups_of: dict[int, list[int]] = {}
        # a heap of: moment, index, SUBMIT or RELEASE, number
        self.due: list[tuple[float, int, int, str]] = []
        for index, group in enumerate(groups):
            for id in group:
                self.groups_of.setdefault(id, []).append(index)
        for rank, job in enumerate(self.jobs):
            if "after" in job:
                self.followers[job["after"][0]].append(rank)
            else:
                self.due.append((job["at"], rank, SUBMIT, ""))
        heapq.heapify(self.due)

    def now(self) -> float:
        """The present moment, in seconds after the origin."""
        return time.time() - float(self.plan["origin"])

    def run(self) -> None:
        """Submit and release all jobs, and wait until every command that stays has ended."""
        while self.due or self.staying or any(self.followers):
            if self.due and self.due[0][0] <= self.now():
                moment, rank, action, number = heapq.heappop(self.due)
                if action == SUBMIT:
                    self.submit(moment, rank)
                else:
                    self.release(number)
            elif self.next_poll is not None and self.next_poll <= self.now():
                self.look()
            else:
                self.pause()

    def pause(self) -> None:
        """Wait until something is due, or a command that stays has ended."""
        moments = [self.due[0][0]] if self.due else []
        moments += [self.next_poll] if self.next_poll is not None else []
        wait_s = max(min(moments) - self.now(), 0.0) if moments else None
        if wait_s is not None and (wait_s < 0.001 or not self.staying):
            time.sleep(wait_s)  # this wait is exact to the nanosecond
            wait_s = 0.0
        poll = select.poll()
        for fd in self.staying:
            poll.register(fd, select.POLLIN)
        ready = {fd for fd, _ in poll.poll(None if wait_s is None else int(wait_s * 1000))}
        for fd in [fd for fd in self.staying if fd in ready]:
            self.finish(fd)

    # Submitting

    def submit(self, due: float, rank: int) -> None:
        """Submit the job at `rank` in the plan, which is due now, by running its command."""
        job = self.jobs[rank]
        argv: list[str] = job["argv"]
        needs: int | None = job.get("needs")
        if needs is not None and needs in self.known:
            if needs not in self.numbers:
                self.needed_by.setdefault(needs, []).append(rank)
                return
            if self.numbers[needs]:
                argv = [argv[0], *filled(self.plan["after"], self.numbers[needs]), *argv[1:]]
        ids = job.get("array", [job["id"]])
        moment = self.now()
        if job.get("stays"):
            self.start(job, argv, due, moment)
            return
        done = run(argv, **self.identity(job))
        found = re.search(self.plan["number"], done.stdout) if done.returncode == 0 else None
        number = found[1] if found else ""
        message = "" if number else " ".join((done.stderr or done.stdout).split())
        for index, id in enumerate(ids, self.plan.get("first_index", 0)):
            own = f"{number}_{index}" if number and "array" in job else number
            self.writer.writerow([id, f"{due:.6f}", f"{moment:.6f}", done.returncode, own, message])
            self.submitted(id, own)
        if number and "hold" in job:
            heapq.heappush(self.due, (moment + job["hold"], rank, RELEASE, number))

    def identity(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return the options of subprocess that make a command run as the job's user."""
        if "user" not in job:
            return {}
        user = self.plan["users"][job["user"]]
        environment = {**os.environ, "USER": user["name"], "LOGNAME": user["name"], "HOME": "/"}
        return {"user": user["uid"], "group": user["groups"][0], "extra_groups": user["groups"], "env": environment}

    def submitted(self, id: int, number: str) -> None:
        """Note the number of a submitted job; a refused job has none, and has ended."""
        self.numbers[id] = number
        for rank in self.needed_by.pop(id, []):
            heapq.heappush(self.due, (self.now(), rank, SUBMIT, ""))
        if id not in self.groups_of:
            return
        if not number:
            self.ended(id, self.now())
        else:
            self.unfinished[number] = id
            self.plan_poll()

    def start(self, job: dict[str, Any], argv: list[str], due: float, moment: float) -> None:
        """Run the command of a job that stays until the job has ended."""
        messages = tempfile.TemporaryFile()  # noqa: SIM115  closed by finish
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages, **self.identity(job)
        )
        self.staying[os.pidfd_open(process.pid)] = (job["id"], process, messages, due)
        self.writer.writerow([job["id"], f"{due:.6f}", f"{moment:.6f}", "", "", ""])

    def finish(self, fd: int) -> None:
        """Note the end of a command that stayed, and of its job; a failure is a second row."""
        id, process, messages, due = self.staying.pop(fd)
        os.close(fd)
        if process.wait() != 0:
            messages.seek(0)
            text = " ".join(messages.read().decode(errors="replace").split())
            self.writer.writerow([id, f"{due:.6f}", f"{self.now():.6f}", process.returncode, "", text])
        messages.close()
        if id in self.groups_of:
            self.ended(id, self.now())

    def release(self, number: str) -> None:
        """Release a held job."""
        done = run(filled(self.plan["release"], number))
        if done.returncode != 0:
            print(f"job {number} could not be released:", done.stderr.strip(), file=sys.stderr, flush=True)

    # Ends

    def plan_poll(self) -> None:
        """Plan the next question about unfinished jobs, if a job waits for an end."""
        if not self.unfinished or not any(self.followers):
            self.next_poll = None
        elif self.next_poll is None:
            self.next_poll = self.now() + self.plan["poll_interval"]

    def look(self) -> None:
        """Ask the RJMS which jobs are unfinished, and when exactly the others ended."""
        self.next_poll = None
        done = run(self.plan["unfinished"])
        if done.returncode == 0:
            there = set(done.stdout.split())
            for number in [number for number in self.unfinished if number not in there]:
                self.ended(self.unfinished.pop(number), self.end_of(number))
        self.plan_poll()

    def end_of(self, number: str) -> float:
        """Return when a job ended, in seconds after the origin; now, if the RJMS no longer knows."""
        told = run(filled(self.plan["ended"]["argv"], number)).stdout
        found = re.search(self.plan["ended"]["pattern"], told)
        try:
            return datetime.fromisoformat(found[1] if found else "").timestamp() - float(self.plan["origin"])
        except ValueError:
            return self.now()

    def ended(self, id: int, moment: float) -> None:
        """Note the end of a job; jobs that wait for its whole group may become due."""
        for group in self.groups_of.get(id, []):
            self.left[group].discard(id)
            self.ends[group] = max(self.ends[group], moment)
            if not self.left[group]:
                for rank in self.followers[group]:
                    due = self.ends[group] + self.jobs[rank]["after"][1]
                    heapq.heappush(self.due, (due, rank, SUBMIT, ""))
                self.followers[group] = []


def wait_until_empty(poll: list[str]) -> None:
    """Run `poll` at growing intervals until it prints nothing: the queue is empty."""
    pause = FIRST_POLL_S
    while True:
        done = run(poll)
        if done.returncode == 0 and not done.stdout.strip():
            return
        time.sleep(pause)
        pause = min(2 * pause, LAST_POLL_S)


class Flushed:
    """A csv writer that writes each row to disk at once."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.writer = csv.writer(file)

    def writerow(self, row: list[Any]) -> None:
        """Write a row, and flush it to disk."""
        self.writer.writerow(row)
        self.file.flush()


def main(plan_path: str, out_path: str) -> None:
    """Submit all jobs of the plan, then wait until the queue is empty."""
    with open(plan_path) as file:
        plan = json.load(file)
    with open(out_path, "w", newline="") as file:
        writer = Flushed(file)
        writer.writerow(["id", "planned_s", "submitted_s", "exit_code", "job_number", "message"])
        Submitter(plan, writer).run()
    wait_until_empty(plan["poll"])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
