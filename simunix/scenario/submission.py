"""From a `workload:` section to the program that submits its jobs, on a host of the cluster that gets them."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec
from simunix.launch.programs import check_program
from simunix.rjms.slurm import clients
from simunix.rjms.slurm.adapter import SlurmPlan
from simunix.roots.tree import THIS_COMPUTER, RootTree
from simunix.scenario.behaviour import Behaviour, plan_behaviour
from simunix.scenario.model import Scenario, WorkloadSection
from simunix.workload import submitter
from simunix.workload.job import Job, SkippedJob

WORKLOAD_FOLDER = "/var/spool/simunix"
PRIVATE = PrivateSpec(WORKLOAD_FOLDER)
SUBMITTER = "workload"
PYTHON_OF_ROOT = "/usr/bin/python3"
NS = 10**9


@dataclass(frozen=True, slots=True)
class WorkloadPlan:
    """What a workload adds to a plan, and what the reports need to know of it. `label` names it in jobs.csv."""

    label: str
    section: WorkloadSection
    trace: Path
    slurm: SlurmPlan
    host: str
    jobs: tuple[Job, ...]
    skipped: tuple[SkippedJob, ...]
    behaviour: Behaviour
    files: tuple[FileSpec, ...]
    process: ProcessSpec


def plan_workloads(
    scenario: Scenario, folder: Path, clusters: Sequence[SlurmPlan], roots: Mapping[str, RootTree]
) -> tuple[WorkloadPlan, ...]:
    """One program for each workload. Raises SimunixError for what does not fit together."""
    sections = scenario.workload or []
    plans: list[WorkloadPlan] = []
    for index, section in enumerate(sections):
        key = "workload" if len(sections) == 1 else f"workload[{index}]"
        slurm = _cluster(section, key, clusters)
        host = section.host or slurm.login
        if host not in slurm.private:
            raise SimunixError(f"{key}.host: {host!r} has no Slurm; choose the controller, the login or a node of {slurm.name}")
        if any(plan.host == host for plan in plans):
            raise SimunixError(f"{key}.host: {host} submits a workload already; choose another host of {slurm.name}")
        plans.append(_plan(scenario, section, key, folder / section.trace, slurm, host, roots[host]))
    return tuple(plans)


def _cluster(section: WorkloadSection, key: str, clusters: Sequence[SlurmPlan]) -> SlurmPlan:
    """The cluster that a workload names, or that its host belongs to, or the only one."""
    if not clusters:
        raise SimunixError(f"{key}: there is nothing to submit to; add a slurm section")
    names = ", ".join(cluster.name for cluster in clusters)
    if section.cluster is not None:
        found = [cluster for cluster in clusters if cluster.name == section.cluster]
        if not found:
            raise SimunixError(f"{key}.cluster: {section.cluster!r} is no cluster of the slurm section; known: {names}")
        return found[0]
    fitting = [cluster for cluster in clusters if section.host is None or section.host in cluster.private] or list(clusters)
    if len(fitting) > 1:
        raise SimunixError(f"{key}.cluster: missing, and there are several; choose one of {names}")
    return fitting[0]


def _plan(
    scenario: Scenario, section: WorkloadSection, key: str, trace: Path, slurm: SlurmPlan, host: str, root: RootTree
) -> WorkloadPlan:
    behaviour = plan_behaviour(scenario, section, key, trace, slurm, host)
    jobs = behaviour.jobs
    several = len(scenario.workload or []) > 1
    return WorkloadPlan(
        f"{section.trace.name}@{slurm.name}" if several else section.trace.name,
        section,
        trace,
        slurm,
        host,
        tuple(jobs),
        tuple(behaviour.skipped),
        behaviour,
        (_submission_plan(scenario, section, jobs, host), _script(host), *behaviour.files),
        _submitter(host, section, key, root),
    )


def _submission_plan(scenario: Scenario, section: WorkloadSection, jobs: list[Job], host: str) -> FileSpec:
    origin = int(scenario.epoch.timestamp()) + section.start / NS
    plan = {
        "origin": origin,
        "poll": clients.QUEUE,
        "jobs": [{"id": job.id, "at": job.submit_s, "argv": clients.submit_command(job)} for job in jobs],
    }
    return FileSpec(host, f"{WORKLOAD_FOLDER}/plan.json", json.dumps(plan, indent=1).encode())


def _script(host: str) -> FileSpec:
    """The program itself, where every root file system can see it."""
    return FileSpec(host, f"{WORKLOAD_FOLDER}/submitter.py", Path(submitter.__file__).read_bytes())


def _submitter(host: str, section: WorkloadSection, key: str, root: RootTree) -> ProcessSpec:
    python = sys.executable if root == THIS_COMPUTER else PYTHON_OF_ROOT
    if check_program(python, "", tree=root) is not None:
        raise SimunixError(f"{key}: no {python} in the root {root.path} of {host}, which submits it; add the package python3")
    argv = (python, "-I", *(f"{WORKLOAD_FOLDER}/{name}" for name in ("submitter.py", "plan.json", "submissions.csv")))
    return ProcessSpec(SUBMITTER, host, argv, section.start, is_workload=True, essential=True)
