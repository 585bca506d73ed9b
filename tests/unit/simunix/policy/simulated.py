"""A cluster that is simulated event by event, as a port for a policy's daemon: jobs start at once and end by their run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from simunix.policy.actions import Action, Release, Requeue, Start
from simunix.policy.base import Policy
from simunix.policy.daemon import Daemon
from simunix.policy.placement import fill
from simunix.policy.records import Job, Node, State


@dataclass(frozen=True)
class Task:
    """A job of a test: its submission, run time and limit in seconds, its cores and least number of nodes."""

    submit: float
    run: float
    limit: float
    cores: int
    nodes: int = 1
    user: str = "someone"


class Cluster:
    """Nodes and jobs; a job is named by its place in `tasks`, from 1 on."""

    def __init__(self, tasks: Sequence[Task], nodes: int, cores: int) -> None:
        self.now = 0.0
        self.tasks = {str(rank): task for rank, task in enumerate(tasks, 1)}
        self.cores = {f"n{number}": cores for number in range(1, nodes + 1)}
        self.jobs: dict[str, Job] = {}
        self.refusals: list[str] = []

    def run(self, policy: Policy) -> dict[str, float]:
        """Run a policy until all jobs have ended. Return the start of each job."""
        daemon = Daemon(policy, self)
        self.wait(None)
        while any(job.end_s is None for job in self.jobs.values()) or len(self.jobs) < len(self.tasks):
            daemon.step()
            assert self.moments(), f"stuck at {self.now}: {[id for id, job in self.jobs.items() if job.start_s is None]} wait"
            self.wait(None)
        return {id: job.start_s for id, job in self.jobs.items() if job.start_s is not None}

    def free(self) -> dict[str, int]:
        """Return the free cores of each node."""
        free = dict(self.cores)
        for job in self.jobs.values():
            if job.start_s is not None and job.end_s is None:
                for name, cores in job.placed.items():
                    free[name] -= cores
        assert min(free.values()) >= 0
        return free

    def moments(self) -> list[float]:
        """Return the moments of the coming submissions and ends."""
        running = [(id, job.start_s) for id, job in self.jobs.items() if job.start_s is not None and job.end_s is None]
        ends = [start + self.tasks[id].run for id, start in running]
        return ends + [task.submit for id, task in self.tasks.items() if id not in self.jobs]

    # The port

    def wait(self, until_s: float | None) -> None:
        """Go on to the next moment at which a job ends or is submitted; ends come first."""
        self.now = min(self.moments())
        for id, job in self.jobs.items():
            if job.start_s is not None and job.end_s is None and job.start_s + self.tasks[id].run <= self.now:
                self.jobs[id] = replace(job, end_s=self.now, state="COMPLETED")
        for id, task in self.tasks.items():
            if id not in self.jobs and task.submit <= self.now:
                self.jobs[id] = self._submitted(id, task)

    def _submitted(self, id: str, task: Task) -> Job:
        return Job(id, id, task.user, "", "", task.cores, task.nodes, task.limit, task.submit, "PENDING")

    def state(self) -> State:
        """See `Port.state`."""
        free, jobs = self.free(), self.jobs.values()
        return State(
            now=self.now,
            waiting=[job for job in jobs if job.start_s is None],
            running=[job for job in jobs if job.start_s is not None and job.end_s is None],
            nodes=[Node(name, cores, free[name], "idle") for name, cores in self.cores.items()],
            history=sorted((job for job in jobs if job.end_s is not None), key=lambda job: job.end_s or 0.0),
        )

    def act(self, action: Action) -> str:
        """See `Port.act`. A job that does not fit on the nodes is refused."""
        assert isinstance(action, (Start, Release, Requeue))
        job, free = self.jobs[action.job], self.free()
        if isinstance(action, Requeue):
            self.jobs[job.id] = replace(job, start_s=None, placed={}, state="PENDING")
            return ""
        shares = fill(job.cores, action.nodes if isinstance(action, Start) else tuple(free), free)
        if sum(shares.values()) < job.cores or any(cores > free[name] for name, cores in shares.items()):
            self.refusals.append(job.id)
            return "does not fit"
        self.jobs[job.id] = replace(job, start_s=self.now, placed=shares, state="RUNNING")
        return ""

    def take_back(self, job: str) -> None:
        """See `Port.take_back`: jobs start at once here."""
        raise AssertionError(f"job {job} was told to start and did not")
