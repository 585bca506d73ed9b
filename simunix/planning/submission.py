"""Plan the program that submits the jobs of a `workload:` section; it runs on a host of the cluster that gets the jobs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from simunix.dates import since_1970_ns
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec
from simunix.launch.programs import check_program
from simunix.planning.behaviour import Behaviour, plan_behaviour
from simunix.planning.submitting.policies import PolicyPlan, plan_policy
from simunix.planning.submitting.submit_plan import SubmitPlan, submit_plan
from simunix.rjms.adapter import ClusterPlan
from simunix.rjms.registry import RJMSS
from simunix.roots.tree import THIS_COMPUTER, RootTree
from simunix.scenario.model import Scenario, WorkloadSection
from simunix.workload.guest import submitter, table_submitter
from simunix.workload.job import Job, SkippedJob
from simunix.workload.opened import OpenedTrace, open_trace
from simunix.workload.population import NO_PEOPLE, Population, population, together

if TYPE_CHECKING:
    from simunix.workload.transforms.context import Context

WORKLOAD_FOLDER = "/var/spool/simunix"
PRIVATE = PrivateSpec(WORKLOAD_FOLDER)
SUBMITTER = "workload"
PYTHON = "/usr/bin/python3"
WITHOUT_ROOT = (
    "{0}.users: without root every user of a host is you: all jobs are submitted by one user; accounts are those of the trace"
)
SECTIONS = " or ".join(RJMSS)
NS = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadPlan:
    """The parts that a workload adds to a plan, and the facts about the workload that reports need. The `label` of a
    workload identifies its jobs in jobs.csv.

    `context` describes, from the trace, the jobs that ran or waited when the replayed window begins.
    """

    label: str
    section: WorkloadSection
    trace: Path
    cluster: ClusterPlan
    host: str
    jobs: tuple[Job, ...]
    skipped: tuple[SkippedJob, ...]
    submit: SubmitPlan
    behaviour: Behaviour
    files: tuple[FileSpec, ...]
    process: ProcessSpec
    context: Context | None = None
    policy: PolicyPlan | None = None

    @property
    def processes(self) -> tuple[ProcessSpec, ...]:
        """The programs that run for the workload: the daemon of its policy, if any, and the submitting program."""
        return (self.process,) if self.policy is None else (self.policy.process, self.process)


@dataclass(frozen=True, slots=True)
class _Task:
    """A `workload:` section, the host from which its jobs are submitted, and the jobs."""

    section: WorkloadSection
    key: str
    trace: OpenedTrace
    cluster: ClusterPlan
    host: str
    behaviour: Behaviour

    @property
    def jobs(self) -> list[Job]:
        """The jobs in the order of their submission."""
        return self.behaviour.jobs


@dataclass(frozen=True, slots=True)
class Workloads:
    """All workloads of a scenario. `host_users` are the users of their traces; `warnings` tell of wishes that cannot be
    met on this computer.
    """

    plans: tuple[WorkloadPlan, ...] = ()
    host_users: Population = NO_PEOPLE
    warnings: tuple[str, ...] = ()

    def with_accounts(self, clusters: Sequence[ClusterPlan]) -> tuple[ClusterPlan, ...]:
        """Return the clusters with accounting databases that contain every user who submits jobs there."""
        return tuple(_with_accounts(cluster, self.plans) for cluster in clusters)


def plan_workloads(
    scenario: Scenario, folder: Path, clusters: Sequence[ClusterPlan], roots: Mapping[str, RootTree], is_root: bool
) -> Workloads:
    """Plan the submitting program of each workload. Raises SimunixError for workloads that do not fit the clusters."""
    tasks = _tasks(scenario, folder, clusters)
    _check_names(tasks)
    with_users = [task for task in tasks if task.section.users == "trace"]
    host_users = together([population(task.jobs) for task in with_users]) if is_root else NO_PEOPLE
    warnings = tuple(WITHOUT_ROOT.format(task.key) for task in with_users if not is_root)
    plans = tuple(_plan(scenario, task, host_users if task in with_users else NO_PEOPLE, folder, roots) for task in tasks)
    return Workloads(plans, host_users, warnings)


def _tasks(scenario: Scenario, folder: Path, clusters: Sequence[ClusterPlan]) -> list[_Task]:
    sections = scenario.workload or []
    tasks: list[_Task] = []
    for index, section in enumerate(sections):
        key = "workload" if len(sections) == 1 else f"workload[{index}]"
        cluster = _cluster(section, key, clusters)
        host = section.host or cluster.login
        if host not in cluster.private:
            raise SimunixError(
                f"{key}.host: {host!r} has no {cluster.rjms.title}; "
                f"choose the controller, the login or a node of {cluster.name}"
            )
        if any(task.host == host for task in tasks):
            raise SimunixError(f"{key}.host: {host} submits a workload already; choose another host of {cluster.name}")
        trace = open_trace(folder / section.trace)
        behaviour = plan_behaviour(scenario, section, key, trace, cluster, host)
        tasks.append(_Task(section, key, trace, cluster, host, behaviour))
    return tasks


def _check_names(tasks: Sequence[_Task]) -> None:
    """Raise SimunixError for a client that prints no job numbers if another workload has the same cluster: such jobs
    are identified by name.
    """
    for task in tasks:
        others = [other.key for other in tasks if other is not task and other.cluster.name == task.cluster.name]
        if others and task.section.client in task.cluster.rjms.clients.staying:
            raise SimunixError(
                f"{task.key}.client: {task.section.client} prints no job number, and {others[0]} has jobs of the same names on "
                f"{task.cluster.name}; use {task.cluster.rjms.clients.names[0]}"
            )


def _with_accounts(cluster: ClusterPlan, plans: Sequence[WorkloadPlan]) -> ClusterPlan:
    """Return the cluster with the accounts and users of all its workloads, each once."""
    own = [plan.submit for plan in plans if plan.cluster == cluster]
    associations: dict[str, dict[str, None]] = {}
    for submit in own:
        for user, accounts in submit.associations.items():
            associations.setdefault(user, {}).update(dict.fromkeys(accounts))
    new = dict.fromkeys(account for submit in own for account in submit.accounts)
    qos = {name for submit in own for name in submit.qos}
    return cluster.with_accounts(list(new), {user: list(accounts) for user, accounts in associations.items()}, qos)


def _cluster(section: WorkloadSection, key: str, clusters: Sequence[ClusterPlan]) -> ClusterPlan:
    """Return the cluster that a workload names, or else the cluster to which its host belongs, or else the only
    cluster.
    """
    if not clusters:
        raise SimunixError(f"{key}: there is nothing to submit to; add a section {SECTIONS}")
    names = ", ".join(cluster.name for cluster in clusters)
    if section.cluster is not None:
        found = [cluster for cluster in clusters if cluster.name == section.cluster]
        if not found:
            raise SimunixError(f"{key}.cluster: {section.cluster!r} is no cluster of the section {SECTIONS}; known: {names}")
        return found[0]
    fitting = [cluster for cluster in clusters if section.host is None or section.host in cluster.private] or list(clusters)
    if len(fitting) > 1:
        raise SimunixError(f"{key}.cluster: missing, and there are several; choose one of {names}")
    return fitting[0]


def _plan(scenario: Scenario, task: _Task, host_users: Population, folder: Path, roots: Mapping[str, RootTree]) -> WorkloadPlan:
    section, cluster = task.section, task.cluster
    several = len(scenario.workload or []) > 1
    context = task.trace.context
    submit = submit_plan(section, task.key, task.jobs, cluster.rjms.clients, host_users, context, task.behaviour.factors)
    python = _python(roots[cluster.controller])
    policy = plan_policy(section, task.key, folder, section.start, cluster, roots, python)
    own_files = policy.files if policy is not None else ()
    return WorkloadPlan(
        label=f"{section.trace.name}@{cluster.name}" if several else section.trace.name,
        section=section,
        trace=task.trace.path,
        cluster=cluster,
        host=task.host,
        jobs=tuple(task.jobs),
        skipped=tuple(task.behaviour.skipped),
        submit=submit,
        behaviour=task.behaviour,
        files=(_submission_plan(scenario, section, submit, task.host), *_scripts(task), *task.behaviour.files, *own_files),
        process=_submitter(task, roots[task.host]),
        context=context,
        policy=policy,
    )


def _submission_plan(scenario: Scenario, section: WorkloadSection, submit: SubmitPlan, host: str) -> FileSpec:
    origin = since_1970_ns(scenario.epoch) / NS + section.start / NS
    plan = {"origin": origin, **submit.content}
    return FileSpec(host, f"{WORKLOAD_FOLDER}/plan.json", json.dumps(plan, indent=1).encode())


def _is_table(jobs: Sequence[Job]) -> bool:
    return any(job.request is not None for job in jobs)


def _scripts(task: _Task) -> tuple[FileSpec, ...]:
    """Return the submitting program, and for a job table its extension, copied to a folder that every root file system
    sees.

    Python reads such a program in blocks of 4096 bytes, and each read is in the event log. So a program that grows by a
    block, even by comments, changes event logs.
    """
    modules = (submitter, table_submitter) if _is_table(task.jobs) else (submitter,)
    files = [Path(str(module.__file__)) for module in modules]
    return tuple(FileSpec(task.host, f"{WORKLOAD_FOLDER}/{file.name}", file.read_bytes()) for file in files)


def inputs_of(workloads: Sequence[WorkloadPlan]) -> dict[str, Path]:
    """Return the input files of workloads whose checksums go into run.json, by the role of the file."""
    return {"trace" if len(workloads) == 1 else f"trace {plan.label}": plan.trace for plan in workloads}


def _python(root: RootTree) -> str:
    """Return the path of Python in a root. simunix's own Python is not used, since its path differs by checkout, and
    the event log contains paths.
    """
    return sys.executable if root == THIS_COMPUTER and not os.access(PYTHON, os.X_OK) else PYTHON


def _submitter(task: _Task, root: RootTree) -> ProcessSpec:
    python, host = _python(root), task.host
    if check_program(python, "", tree=root) is not None:
        raise SimunixError(
            f"{task.key}: no {python} in the root {root.path} of {host}, which submits it; add the package python3"
        )
    program = "table_submitter.py" if _is_table(task.jobs) else "submitter.py"
    argv = (python, "-I", *(f"{WORKLOAD_FOLDER}/{name}" for name in (program, "plan.json", "submissions.csv")))
    environment = dict(task.cluster.environment)
    return ProcessSpec(SUBMITTER, host, argv, task.section.start, environment=environment, is_workload=True, essential=True)
