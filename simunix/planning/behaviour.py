"""Make the jobs of a `workload:` section, and plan what they do on their nodes: scripts, the job program, the servers
of storages.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from simunix.jobs.script import Stage, room_bytes
from simunix.jobs.workload import FOLDER, PROGRAM, STORAGE_PORT, Scripts, batsim_jobs, with_profile
from simunix.launch.factory.factory import LIBRARY
from simunix.launch.plan import DiskNeed, FileSpec, PrivateSpec, ProcessSpec
from simunix.planning.submitting.table_plan import factor_file, factors_of, on_plain_nodes
from simunix.ranges import expand_hosts
from simunix.rjms.adapter import ClusterPlan
from simunix.scenario.model import Scenario, WorkloadSection
from simunix.workload.formats.by_name import is_table
from simunix.workload.job import Job, SkippedJob
from simunix.workload.opened import OpenedTrace
from simunix.workload.transforms.selection import Selection, select_jobs

if TYPE_CHECKING:
    from simunix.workload.formats.swf import SwfTrace

JOB_PROGRAM = LIBRARY / "simunix-job"
SHARED = PrivateSpec(FOLDER, mode=0o1777, shared=True)
NS = 10**9


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The jobs of a workload; the `files` (among them the scripts) that the `hosts` share, and the `servers` of
    storages.
    """

    jobs: list[Job]
    skipped: list[SkippedJob]
    files: tuple[FileSpec, ...] = ()
    servers: tuple[ProcessSpec, ...] = ()
    hosts: tuple[str, ...] = ()
    factors: str = ""  # the path of the file with a factor of run times for each node
    private: PrivateSpec = field(default=SHARED)
    disk: tuple[DiskNeed, ...] = ()


def plan_behaviour(
    scenario: Scenario, section: WorkloadSection, key: str, trace: OpenedTrace, cluster: ClusterPlan, host: str
) -> Behaviour:
    """Plan the jobs of a section and what they do. Raises SimunixError for a job or profile that cannot be run."""
    servers = _servers(scenario, section, key)
    storages = _storages(scenario, section, cluster, key)
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
        raise SimunixError(f"{key}: {trace.path} has no usable job between begin and end; widen the window")
    if section.factors:
        return _with_factors(jobs, skipped, section, key, cluster, host)
    if not scripts.files and not servers:
        return Behaviour(jobs, skipped)
    files = [FileSpec(host, path, text.encode(), mode=0o755) for path, text in scripts.files.items()]
    program = FileSpec(host, PROGRAM, JOB_PROGRAM.read_bytes(), mode=0o755)
    hosts = dict.fromkeys([host, *cluster.nodes, *(server.host for server in servers)])
    disk = _disk_needs(scenario, section, key, _room_bytes(jobs, scripts, section, cluster))
    return Behaviour(jobs, skipped, (program, *files), servers, tuple(hosts), disk=disk)


def _room_bytes(jobs: Sequence[Job], scripts: Scripts, section: WorkloadSection, cluster: ClusterPlan) -> int:
    """Return how many bytes jobs that run at the same time can have on a disk together.

    The cluster is filled with the jobs that have the most bytes per core; the sum is of these jobs.
    """
    rooms = {path: room_bytes(text) for path, text in scripts.files.items()}
    taken = [(rooms.get(job.work.script, 0), max(1, job.cores)) for job in jobs if job.work is not None]
    free, total = len(cluster.nodes) if section.resources == "nodes" else cluster.cores, 0
    for room, cores in sorted(taken, key=lambda pair: -pair[0] / pair[1]):
        part = min(free, cores)
        free, total = free - part, total + room * part // cores
    return total


def _disk_needs(scenario: Scenario, section: WorkloadSection, key: str, size_bytes: int) -> tuple[DiskNeed, ...]:
    if not size_bytes:
        return ()
    place = scenario.place_of_key(f"{key}.storage")
    where = f"{place}: {key}.storage" if place else f"{key}.storage"
    paths = ", ".join(dict.fromkeys(name for name in section.storage.values() if name.startswith("/")))
    return (DiskNeed(where, f"by jobs that write to {paths} at a time", size_bytes),)


def _with_factors(
    jobs: list[Job], skipped: list[SkippedJob], section: WorkloadSection, key: str, cluster: ClusterPlan, host: str
) -> Behaviour:
    """Plan jobs of a job table whose run times depend on their nodes: a file contains the factor of each node."""
    if any(job.request is None for job in jobs):
        raise SimunixError(f"{key}.factors: only for job tables; convert the trace: simunix workload convert TRACE TABLE.csv")
    factors = factors_of(cluster.features, cluster.nodes, section.factors, f"{key}")
    path = f"{FOLDER}/{host}.factors"
    plain = [on_plain_nodes(job, factors, _nodes(job)) for job in jobs]
    hosts = tuple(dict.fromkeys([host, *cluster.nodes]))
    return Behaviour(plain, skipped, (FileSpec(host, path, factor_file(factors), mode=0o644),), (), hosts, path)


def _nodes(job: Job) -> list[str]:
    """Return the nodes that the job ran on in the trace; no nodes if they are unknown."""
    try:
        return expand_hosts(job.request.node_list) if job.request is not None and job.request.node_list else []
    except ValueError:
        return []  # a job without nodes has a text such as "None assigned" in the accounting


def _read_jobs(
    scenario: Scenario, section: WorkloadSection, key: str, trace: OpenedTrace, cluster: ClusterPlan, scripts: Scripts
) -> tuple[list[Job], list[SkippedJob]]:
    end_s = math.inf if section.end is None else section.end / NS
    selection = Selection(section.begin / NS, end_s, section.max_jobs, section.processors, section.margin)
    if trace.batsim is not None:
        if section.profile is not None:
            text = f"{trace.path} is a workload of Batsim, which has profiles of its own; leave it out"
            raise SimunixError(f"{key}.profile: {text}")
        return _perturbed(scenario, batsim_jobs(trace.batsim, selection, scripts, str(trace.path)), trace), []
    assert trace.records is not None
    if is_table(trace.path):
        jobs, skipped = _table_jobs(section, key, trace, trace.records, selection)
        return _perturbed(scenario, jobs, trace), skipped
    jobs, skipped = select_jobs(trace.records.records, selection)
    jobs = _perturbed(scenario, jobs, trace)
    if section.profile in (None, "sleep") and section.resources == "cores":
        return jobs, skipped
    return with_profile(jobs, section.profile or "sleep", scripts, _speed_flops(scenario, cluster), f"{key}.profile"), skipped


def _perturbed(scenario: Scenario, jobs: list[Job], trace: OpenedTrace) -> list[Job]:
    """Return the jobs changed at random by the scenario's `perturb:` section, with the run's seed.

    The jobs of a context (those that ran or waited when the window begins) stay unchanged, because they must wait and
    run as recorded.
    """
    if (section := scenario.perturbation) is None:
        return jobs
    from simunix.perturbation.jobs import perturbed_jobs

    return perturbed_jobs(jobs, section, scenario.seed, trace.path.name, frozenset(trace.of_context))


def _table_jobs(
    section: WorkloadSection, key: str, trace: OpenedTrace, table: SwfTrace, selection: Selection
) -> tuple[list[Job], list[SkippedJob]]:
    from simunix.workload.formats.requests import table_jobs
    from simunix.workload.transforms.context import PLAIN_NUMBERS

    if section.profile is not None or section.resources != "cores":
        text = f"{trace.path} says itself what its jobs ask for and do; leave profile and resources out"
        raise SimunixError(f"{key}.profile: {text}")
    if trace.context is not None and "JobID" in table.jobs:
        raise SimunixError(f"{key}.trace: {trace.path}: {PLAIN_NUMBERS}; cut the window without its context")
    if trace.context is not None and "JobName" in table.jobs:  # jobs of a context are found by the names that simunix gives
        own = table.jobs["job"].isin(trace.of_context)
        table = replace(table, jobs=table.jobs.assign(JobName=table.jobs["JobName"].where(~own, "")))
    return table_jobs(table, selection, str(trace.path))


def _speed_flops(scenario: Scenario, cluster: ClusterPlan) -> float:
    """Return the speed, in flop/s, of a core of the cluster's first node."""
    return next(host.speed[host.pstate] for host in scenario.hosts if cluster.nodes[0] in host.name)


def _storages(scenario: Scenario, section: WorkloadSection, cluster: ClusterPlan, key: str) -> dict[str, tuple[str, int] | str]:
    """Return what each label of a storage means: a server, or a path that all nodes have mounted.

    The text of a SimunixError begins with the wrong key.
    """
    found: dict[str, tuple[str, int] | str] = {}
    for label, name in section.storage.items():
        found[label] = name.rstrip("/") if name.startswith("/") else (name, STORAGE_PORT)
        for node in cluster.nodes if name.startswith("/") else ():
            mounted = [mount.path for mount in scenario.mounts if node in mount.host]
            if not any(f"{name}/".startswith(f"{path}/") for path in mounted):
                text = f"{name} of {node} is on no storage; mount one there under mounts, or name a host"
                raise SimunixError(f"{key}.storage.{label}: {text}")
    return found


def _servers(scenario: Scenario, section: WorkloadSection, key: str) -> tuple[ProcessSpec, ...]:
    """Plan the servers of storages: one on each host that is a storage, even if several labels name the host."""
    known = [name for host in scenario.hosts for name in host.name]
    hosts = {label: name for label, name in section.storage.items() if not name.startswith("/")}
    for label, name in hosts.items():
        if name not in known:
            raise SimunixError(f"{key}.storage.{label}: {name!r} is not among the hosts; known: {', '.join(known)}")
    command = (PROGRAM, "storage", str(STORAGE_PORT))
    return tuple(ProcessSpec("storage", name, command, essential=True) for name in dict.fromkeys(hosts.values()))
