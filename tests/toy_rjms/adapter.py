"""The toy as `simunix.rjms.adapter` sees it: all that simunix needs of an RJMS, in one file."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec
from simunix.rjms.adapter import Choice, Clients, ClusterPlan, ClusterSection, CompletedJob, JobNews, Site
from simunix.roots.tree import RootTree
from simunix.scenario.section import HostList
from simunix.workload.job import Job

PYTHON = "/usr/bin/python3"
PROGRAMS = "/opt/toy"
SPOOL = "/var/lib/toy"
COMMANDS = ("toyd", "toynoded", "toysub", "toystat", "toyrls")
LIMIT_S = 10**8
"""The limit of a job that has none."""


class ToySection(ClusterSection):
    """A cluster of the toy: toyd on `controller`, toynoded on each node."""

    controller: str
    nodes: HostList


def job_name(job_id: int) -> str:
    """The name of a trace's job."""
    return f"swf-{job_id}"


def limit_s(job: Job) -> float:
    """The time limit that the toy is told, in seconds."""
    return min(job.requested_s, LIMIT_S)


def submit_command(job: Job, choice: Choice) -> tuple[str, ...]:
    """The toysub of a job. SimunixError for what the toy does not have."""
    if job.work is not None:
        raise SimunixError(f"job {job.id} does something: the toy's jobs only sleep; leave the profile out")
    words = ["toysub", "--name", job_name(job.id), "--cores", str(job.cores), "--limit", str(limit_s(job))]
    return (*words, *(["--hold"] if choice.is_held else []), *choice.arguments, "--", "sleep", str(job.runtime_s))


def array_words(count: int) -> tuple[str, ...]:
    """The words that submit a job so many times."""
    return ("--count", str(count))


def find_held(names: Sequence[str]) -> str:
    """A shell command that prints the numbers of the waiting jobs of these names."""
    return f"toystat '{{number}}' state=PENDING name={','.join(names)}"


CLIENTS = Clients(
    names=("toysub",),
    staying=frozenset(),
    command=submit_command,
    job_name=job_name,
    named=job_name,
    limit_s=limit_s,
    number=r"^(\d+)$",
    after=("--after", "{}"),
    array=array_words,
    array_max=1000,
    launch=(),
    log_name="%j",
    queue=("toystat", "{number}"),
    unfinished=("toystat", "{number}"),
    ended=("sh", "-c", "date -d @$(toystat '{end}' number={}) +end=%FT%T.%N"),
    end_pattern=r"end=(\S+)",
    release=("toyrls", "{}"),
    states="toystat '{name}|{state}|{cores}'",
    running="RUNNING",
    pending="PENDING",
    find_held=find_held,
    release_all=("toyrls",),
)


@dataclass(frozen=True, slots=True)
class Toy:
    """Implements `simunix.rjms.adapter.Rjms`."""

    name: str = "toy"
    title: str = "Toy"
    section: type[ClusterSection] = ToySection
    clients: Clients = CLIENTS
    programs: Collection[str] = (PYTHON,)

    def version(self, root: RootTree) -> str | None:
        """The toy comes with its adapter, so every root has it."""
        return "1.0"

    def plugins(self, root: RootTree) -> list[str]:
        """The toy has none."""
        return []

    def plan(self, section: ClusterSection, key: str, site: Site) -> ClusterPlan:
        """Programs and an empty spool on each host, then the daemons."""
        assert isinstance(section, ToySection)
        members = dict.fromkeys((section.controller, *section.nodes))
        for name in members:
            if name not in site.hosts:
                raise SimunixError(f"{key}: host {name!r} is not among the hosts of the scenario")
        program = f"#!{PYTHON}\n{Path(__file__).with_name('toy.py').read_text()}".encode()
        cores = {name: site.hardware[name].cpus for name in section.nodes}
        controller = (f"{PROGRAMS}/toyd", *(f"{name}:{count}" for name, count in cores.items()))
        agents = (ProcessSpec("toynoded", name, (f"{PROGRAMS}/toynoded",), essential=True) for name in section.nodes)
        return ClusterPlan(
            rjms=self,
            name=section.cluster,
            controller=section.controller,
            login=section.controller,
            files=tuple(FileSpec(host, f"{PROGRAMS}/{name}", program, mode=0o755) for host in members for name in COMMANDS),
            processes=(ProcessSpec("toyd", section.controller, controller, essential=True), *agents),
            private={host: (PrivateSpec(PROGRAMS), PrivateSpec(SPOOL)) for host in members},
            records=(f"{SPOOL}/jobs",),
            nodes=section.nodes,
            cores=sum(cores.values()),
            environment={"TOY_CONTROLLER": section.controller, "PATH": f"{PROGRAMS}:/usr/sbin:/usr/bin:/sbin:/bin"},
        )

    def completed(self, records: Sequence[str]) -> dict[str, CompletedJob]:
        """The jobs of the controller's file, one JSON object a line."""
        return {job["number"]: _completed(job) for job in map(json.loads, records[0].splitlines())}

    def news(self, line: str) -> JobNews | None:
        """The toy has no diary."""
        return None


def _completed(job: dict) -> CompletedJob:
    number = job["number"]
    return CompletedJob(
        number=int(number.split("_")[0]),
        name=job["name"],
        state=job["state"],
        submit_s=job["submit"],
        start_s=job["start"],
        end_s=job["end"],
        nodes=",".join(job["places"]),
        cores=job["cores"],
        limit_s=job["limit"],
        element=number if "_" in number else "",
        user=job["user"],
    )


TOY = Toy()
