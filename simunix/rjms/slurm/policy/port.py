"""Ask Slurm for jobs and nodes, and tell Slurm what a policy decides, by squeue, sinfo and scontrol."""

from __future__ import annotations

import os
import re
import subprocess
import time
from dataclasses import replace
from math import inf

from simunix.policy.actions import Action, Release, Requeue, Start
from simunix.policy.records import Job, Node, State
from simunix.ranges import expand_hosts
from simunix.rjms.slurm.policy.watch import LogWatch

FIELDS = "%i|%T|%u|%a|%P|%D|%C|%l|%V|%S|%e|%r|%E|%N|%j"
"""The fields of squeue; the job's name, which may contain a bar, comes last."""
JOBS = ("squeue", "--noheader", "--array", "--all", "--states=all", f"--format={FIELDS}")
NODES = ("sinfo", "--noheader", "--Node", "--all", "--format=%N|%P|%C|%T")
DETAILS = ("scontrol", "--oneliner", "--details", "show", "job")
ALIVE = {"RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STAGE_OUT", "SIGNALING", "STOPPED", "RESIZING"}
HELD = ("JobHeldUser", "JobHeldAdmin", "job_requeued_in_held_state")
COMPLETING_S = 0.1
"""How long the port waits for a job whose epilog still runs: the job's cores are free a moment later."""
RETRY_S = 1.0
DAY_S = 86400


class SlurmPort:
    """The commands of Slurm's administrators as a `simunix.policy.daemon.Port`."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._watch: LogWatch | None = None
        self._ended: dict[str, Job] = {}
        self._completes = False
        self._shares: dict[tuple[str, float | None], dict[str, int]] = {}
        """the cores of running jobs on several nodes, by the job and its start"""

    def wait(self, until_s: float | None) -> None:
        """See `Port.wait`."""
        if self._completes:
            soon = time.time() + COMPLETING_S
            until_s = soon if until_s is None else min(soon, until_s)
        assert self._watch is not None
        self._watch.wait(until_s)

    def state(self) -> State:
        """See `Port.state`. Until slurmctld answers, ask once a second."""
        while True:
            jobs, nodes = _run(JOBS), _run(NODES)
            if jobs.returncode == 0 and nodes.returncode == 0 and os.path.exists(self._log):
                break
            time.sleep(RETRY_S)
        if self._watch is None:
            self._watch = LogWatch(self._log)
            return self.state()  # what happened before the log was watched is no event
        return self._state(jobs.stdout.splitlines(), nodes.stdout.splitlines())

    def _state(self, jobs: list[str], nodes: list[str]) -> State:
        waiting, running = [], []
        self._completes = False
        for line in jobs:
            job, reason, dependency = job_of(line)
            if job.state == "PENDING":
                if reason in HELD and dependency in ("", "(null)"):
                    waiting.append(job)
            elif job.state in ALIVE:
                running.append(self._placed(job))
                self._completes |= job.state == "COMPLETING"
            else:
                self._ended[job.id] = job
        waiting.sort(key=lambda job: (job.submit_s, number_of(job.id)))
        running.sort(key=lambda job: (job.start_s or 0.0, number_of(job.id)))
        ended = sorted(self._ended.values(), key=lambda job: (job.end_s or 0.0, number_of(job.id)))
        return State(now=time.time(), waiting=waiting, running=running, nodes=nodes_of(nodes), history=ended)

    def _placed(self, job: Job) -> Job:
        """Return a running job with its cores on each node. squeue does not tell them for a job on several nodes."""
        if len(job.placed) <= 1:
            return job
        key = (job.id, job.start_s)
        if key not in self._shares:
            self._shares[key] = shares_of(_run((*DETAILS, job.id)).stdout)
        return replace(job, placed=self._shares[key] or job.placed)

    def act(self, action: Action) -> str:
        """See `Port.act`."""
        for words in commands(action):
            done = _run(("scontrol", *words))
            if done.returncode != 0:
                return " ".join((done.stderr or done.stdout).split()) or f"scontrol {words[0]}: exit status {done.returncode}"
        return ""

    def take_back(self, job: str) -> None:
        """See `Port.take_back`."""
        _run(("scontrol", "hold", job))


def commands(action: Action) -> list[tuple[str, ...]]:
    """Return the words after scontrol that do an action."""
    if isinstance(action, Start):
        return [("update", f"JobId={action.job}", f"NodeList={','.join(action.nodes)}"), ("release", action.job)]
    if isinstance(action, Release):
        priority = () if action.priority is None else (("update", f"JobId={action.job}", f"Priority={action.priority}"),)
        return [("release", action.job), *priority]
    assert isinstance(action, Requeue)
    return [("requeuehold", action.job)]


def job_of(line: str) -> tuple[Job, str, str]:
    """Return the job, the reason why it waits and its dependency from a line of squeue with `FIELDS`."""
    id, state, user, account, partition, nodes, cores, limit, submit, start, end, reason, dependency, placed, name = line.split(
        "|", 14
    )
    runs = state != "PENDING"
    job = Job(
        id=id,
        name=name,
        user=user,
        account="" if account == "(null)" else account,
        partition=partition,
        cores=int(cores),
        nodes=int(nodes.split("-")[0]),
        limit_s=limit_s(limit),
        submit_s=float(submit),
        state=state,
        start_s=_moment(start) if runs else None,
        end_s=_moment(end) if runs and state not in ALIVE else None,
        placed=dict.fromkeys(expand_hosts(placed), int(cores)) if runs and placed else {},
    )
    return job, reason, dependency


def _moment(text: str) -> float | None:
    return float(text) if text.isdigit() else None


def limit_s(text: str) -> float:
    """Return a time limit as squeue prints it, [[DAYS-]HOURS:]MINUTES:SECONDS, in seconds; infinite for a word."""
    days, _, rest = text.rpartition("-")
    parts = rest.split(":")
    if not all(part.isdigit() for part in parts):
        return inf
    seconds = 0
    for part in parts:
        seconds = seconds * 60 + int(part)
    return float(seconds + int(days or 0) * DAY_S)


def shares_of(text: str) -> dict[str, int]:
    """Return the cores of a job on each node from the text of `scontrol --details show job`: Nodes=n[1-2] CPU_IDs=0-3,5."""
    shares: dict[str, int] = {}
    for nodes, ids in re.findall(r"\bNodes=(\S+) CPU_IDs=(\S+)", text):
        cores = sum(int(last or first) - int(first) + 1 for first, last in re.findall(r"(\d+)(?:-(\d+))?", ids))
        shares.update(dict.fromkeys(expand_hosts(nodes), cores))
    return shares


def nodes_of(lines: list[str]) -> list[Node]:
    """Return the nodes from the lines of sinfo, which has a line for each node and partition."""
    found: dict[str, Node] = {}
    for line in lines:
        name, partition, cores, state = line.split("|")
        _, idle, _, total = map(int, cores.split("/"))
        known = found[name].partitions if name in found else ()
        found[name] = Node(name, total, idle, state, (*known, partition.rstrip("*")))
    return list(found.values())


def number_of(id: str) -> list[int]:
    """Return the numbers in a job's id, by which ids are sorted: [7] for 7, [7, 2] for 7_2."""
    return [int(part) for part in id.replace("+", "_").split("_") if part.isdigit()]


def _run(words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run a command of Slurm's, which prints times in seconds since the Unix epoch."""
    environment = {**os.environ, "SLURM_TIME_FORMAT": "%s"}
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=environment)
