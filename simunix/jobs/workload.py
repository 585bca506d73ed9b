"""What the jobs of a workload do: the profiles in a Batsim workload, or one profile for all jobs of another trace."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from simunix.jobs.script import Profiles, Stage, job_script
from simunix.workload.job import Job, Work
from simunix.workload.transforms.selection import Selection

if TYPE_CHECKING:
    from simunix.workload.formats.batsim import BatsimJob, BatsimWorkload

FOLDER = "/run/simunix/jobs"
"""The folder that all hosts of a cluster share, as on a network file system: it has the job program, the scripts and
the logs of jobs.
"""
PROGRAM = f"{FOLDER}/simunix-job"
STORAGE_PORT = 6000
UNKNOWN_S = -1.0
"""The run time of a job that runs until its profile is done, however long that takes."""


@dataclass(slots=True)
class Scripts:
    """The scripts of one workload, by path below `folder`; jobs with equal scripts share a file."""

    folder: str
    stage: Stage
    output: str
    on_nodes: bool = False
    files: dict[str, str] = field(default_factory=dict)
    _known: dict[tuple[str, int], Work] = field(default_factory=dict)

    def work(self, profiles: Profiles, name: str, ranks: int) -> Work:
        """Return what a job does that runs the named profile on `ranks` ranks."""
        key = (name, ranks)
        if key not in self._known:
            plain = re.sub(r"[^\w.-]", "_", name, flags=re.ASCII)[:60]
            path = f"{self.folder}/{len(self._known)}-{plain}-{ranks}.job"
            self.files[path] = job_script(profiles, name, ranks, self.stage)
            self._known[key] = Work(name, path, ranks, self.output, self.on_nodes)
        return self._known[key]


# Batsim


def batsim_jobs(workload: BatsimWorkload, selection: Selection, scripts: Scripts, where: str) -> list[Job]:
    """Return the jobs ordered by submission time (equal times: by their place in the file). Times are seconds from the
    beginning of the window. Raises SimunixError, beginning with `where`.
    """
    profiles = Profiles(workload.profiles, where)
    numbered = all(str(job.id).isdecimal() for job in workload.jobs)
    jobs: list[Job] = []
    for place, job in enumerate(workload.jobs):
        if not selection.begin_s <= job.subtime < selection.end_s:
            continue
        try:
            work = scripts.work(profiles, job.profile, job.res)
        except SimunixError as error:
            raise SimunixError(f"{error} (job {job.id})") from None
        jobs.append(_batsim_job(job, int(job.id) if numbered else place + 1, selection, work))
    _check_ids(jobs, where)
    jobs.sort(key=lambda job: job.submit_s)
    return jobs[: selection.max_jobs]


def _batsim_job(job: BatsimJob, number: int, selection: Selection, work: Work) -> Job:
    limit_s = math.inf if job.walltime is None or job.walltime < 0 else job.walltime * selection.margin
    cores = job.res if work.on_nodes else job.res * selection.processors
    name = "" if str(number) == str(job.id) else str(job.id)
    return Job(number, job.subtime - selection.begin_s, UNKNOWN_S, limit_s, cores, name=name, work=work)


def _check_ids(jobs: Iterable[Job], where: str) -> None:
    seen: set[int] = set()
    for job in jobs:
        if job.id in seen:
            raise SimunixError(f"{where}: jobs: id {job.id} is there twice; ids must differ")
        seen.add(job.id)


# Traces of other formats


def with_profile(
    jobs: Sequence[Job], profile: str | Mapping[str, Any], scripts: Scripts, speed_flops: float, where: str
) -> list[Job]:
    """Return jobs that all do the given profile; `speed_flops` is the speed of a core. Raises SimunixError, beginning
    with `where`.
    """
    if isinstance(profile, str):
        titles = [f"{profile} {job.runtime_s:g}" for job in jobs]
        own = _OWN_TIME[profile]
        descriptions = {title: own(job.runtime_s, speed_flops) for title, job in zip(titles, jobs, strict=True)}
    else:
        titles = [str(profile.get("type", "profile"))] * len(jobs)
        descriptions = {titles[0]: dict(profile)} if titles else {}
    profiles = Profiles(descriptions, where)
    return [replace(job, work=scripts.work(profiles, title, job.cores)) for title, job in zip(titles, jobs, strict=True)]


_OWN_TIME: dict[str, Callable[[float, float], dict[str, Any]]] = {
    "suspendable": lambda runtime_s, speed_flops: {"type": "suspendable", "delay": runtime_s},
    "sleep": lambda runtime_s, speed_flops: {"type": "delay", "delay": runtime_s},
    "compute": lambda runtime_s, speed_flops: {"type": "parallel_homogeneous", "cpu": runtime_s * speed_flops, "com": 0},
}
"""The profile that a name alone means for a job, by its run time: the job takes its run time if it has its cores to
itself.
"""
