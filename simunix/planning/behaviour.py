"""From a `workload:` section to its jobs and what they do: scripts, the job program, the servers of storages."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.jobs.script import Stage
from simunix.jobs.workload import FOLDER, PROGRAM, STORAGE_PORT, Scripts, batsim_jobs, with_profile
from simunix.launch.factory.factory import LIBRARY
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec
from simunix.rjms.adapter import ClusterPlan
from simunix.scenario.model import Scenario, WorkloadSection
from simunix.workload.job import Job, SkippedJob
from simunix.workload.transforms.selection import Selection, select_jobs

JOB_PROGRAM = LIBRARY / "simunix-job"
SHARED = PrivateSpec(FOLDER, mode=0o1777, shared=True)
NS = 10**9


@dataclass(frozen=True, slots=True)
class Behaviour:
    """A workload's jobs; the `files` that `hosts` share, among them the scripts, and the `servers` of storages."""

    jobs: list[Job]
    skipped: list[SkippedJob]
    files: tuple[FileSpec, ...] = ()
    servers: tuple[ProcessSpec, ...] = ()
    hosts: tuple[str, ...] = ()
    private: PrivateSpec = field(default=SHARED)


def plan_behaviour(
    scenario: Scenario, section: WorkloadSection, key: str, trace: Path, cluster: ClusterPlan, host: str
) -> Behaviour:
    """What the jobs of a section are and do. Raises SimunixError for what cannot be run."""
    servers = _servers(scenario, section, key)
    storages = {label: (name, STORAGE_PORT) for label, name in section.storage.items()}
    clients = cluster.rjms.clients
    log = f"{host}-{clients.log_name}" if len(scenario.workload or []) > 1 else clients.log_name
    scripts = Scripts(
        f"{FOLDER}/scripts/{host}",
        Stage(PROGRAM, clients.launch, storages),
        f"{FOLDER}/{log}.log",
        section.resources == "nodes",
    )
    jobs, skipped = _read_jobs(scenario, section, key, trace, cluster, scripts)
    if not jobs:
        raise SimunixError(f"{key}: {trace} has no usable job between begin and end; widen the window")
    if not scripts.files and not servers:
        return Behaviour(jobs, skipped)
    files = [FileSpec(host, path, text.encode(), mode=0o755) for path, text in scripts.files.items()]
    program = FileSpec(host, PROGRAM, JOB_PROGRAM.read_bytes(), mode=0o755)
    hosts = dict.fromkeys([host, *cluster.nodes, *section.storage.values()])
    return Behaviour(jobs, skipped, (program, *files), servers, tuple(hosts))


def _read_jobs(
    scenario: Scenario, section: WorkloadSection, key: str, trace: Path, cluster: ClusterPlan, scripts: Scripts
) -> tuple[list[Job], list[SkippedJob]]:
    end_s = math.inf if section.end is None else section.end / NS
    selection = Selection(section.begin / NS, end_s, section.max_jobs, section.processors, section.margin)
    if trace.suffix == ".json":
        from simunix.workload.formats.batsim import (
            read_workload,  # this and read_swf bring pandas, which only workloads wait for
        )

        if section.profile is not None:
            raise SimunixError(f"{key}.profile: {trace} is a workload of Batsim, which has profiles of its own; leave it out")
        return batsim_jobs(read_workload(trace), selection, scripts, str(trace)), []
    from simunix.workload.formats.swf import read_swf

    jobs, skipped = select_jobs(read_swf(trace).records, selection)
    if section.profile in (None, "sleep") and section.resources == "cores":
        return jobs, skipped
    return with_profile(jobs, section.profile or "sleep", scripts, _speed_flops(scenario, cluster), f"{key}.profile"), skipped


def _speed_flops(scenario: Scenario, cluster: ClusterPlan) -> float:
    """Of a core of the cluster's first node."""
    return next(host.speed for host in scenario.hosts if cluster.nodes[0] in host.name)


def _servers(scenario: Scenario, section: WorkloadSection, key: str) -> tuple[ProcessSpec, ...]:
    """One on each host that is a storage, of whatever labels."""
    known = [name for host in scenario.hosts for name in host.name]
    for label, name in section.storage.items():
        if name not in known:
            raise SimunixError(f"{key}.storage.{label}: {name!r} is not among the hosts; known: {', '.join(known)}")
    command = (PROGRAM, "storage", str(STORAGE_PORT))
    return tuple(ProcessSpec("storage", name, command, essential=True) for name in dict.fromkeys(section.storage.values()))
