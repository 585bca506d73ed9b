"""From a checked scenario to a plan: every host, address, file and process spelled out."""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from rsg_server.clock_page import Costs
from rsg_server.errors import SimunixError
from rsg_server.kernel import KernelOptions
from rsg_server.platform.host import Host
from rsg_server.platform.platform import Platform
from rsg_server.platform.star import Access, star
from simunix.launch.hardware import Hardware
from simunix.launch.plan import FileSpec, HostSpec, Plan, PrivateSpec, ProcessSpec
from simunix.launch.programs import check_program
from simunix.rjms.slurm import clients
from simunix.rjms.slurm.adapter import SlurmPlan, plan_slurm
from simunix.roots.tree import RootTree
from simunix.scenario.model import HostSection, Scenario, WorkloadSection
from simunix.scenario.roots import host_roots
from simunix.workload import submitter
from simunix.workload.job import Job, SkippedJob
from simunix.workload.selection import Selection, select_jobs
from simunix.workload.swf import read_swf

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "TZ": "UTC", "USER": "root", "SHELL": "/bin/bash"}
FIRST_ADDRESS = IPv4Address("10.0.0.1")
WORKLOAD_FOLDER = "/var/spool/simunix"
SUBMITTER = "workload"
NS = 10**9


@dataclass(frozen=True, slots=True)
class Expansion:
    """A plan, and what the reports need to know of the workload."""

    plan: Plan
    jobs: tuple[Job, ...] = ()
    skipped: tuple[SkippedJob, ...] = ()
    slurm: SlurmPlan | None = None
    submit_host: str = ""


def expand(scenario: Scenario, folder: Path, log_every_turn: bool = False, strict: bool = False) -> Expansion:
    """Expand a scenario; relative paths in it are below `folder`. Raises SimunixError for what does not fit together."""
    hardware: dict[str, Hardware] = {}
    platform = _platform(scenario, hardware)
    hosts = {host.name: host for host in platform.hosts}
    roots = host_roots(scenario, folder)
    slurm = None
    if scenario.slurm is not None:
        section = scenario.slurm
        if section.config is not None:
            section = section.model_copy(update={"config": folder / section.config})
        slurm = plan_slurm(section, hosts, hardware, scenario.seed, os.geteuid() == 0)
    processes = list(slurm.processes) if slurm else []
    files = list(slurm.files) if slurm else []
    private = _private_paths(scenario, slurm)
    processes += _processes(scenario, hosts, roots)
    jobs: list[Job] = []
    skipped: list[SkippedJob] = []
    submit_host = ""
    inputs = {}
    if scenario.workload is not None:
        if slurm is None:
            raise SimunixError("workload: there is nothing to submit to; add a slurm section")
        assert scenario.slurm is not None
        trace = folder / scenario.workload.trace
        inputs["trace"] = trace
        submit_host = scenario.workload.host or scenario.slurm.login or scenario.slurm.controller
        if submit_host not in private:
            raise SimunixError(f"workload.host: {submit_host!r} has no Slurm; choose the controller, the login or a node")
        jobs, skipped = _read_jobs(scenario.workload, trace)
        files.append(_submission_plan(scenario, scenario.workload, jobs, submit_host))
        processes.append(_submitter(submit_host, scenario.workload))
        private[submit_host] = (*private[submit_host], PrivateSpec(WORKLOAD_FOLDER))
    plan = Plan(
        scenario.name,
        platform,
        tuple(HostSpec(name, hardware[name], private.get(name, ()), roots[name]) for name in hosts),
        tuple(processes),
        _kernel_options(scenario, strict),
        tuple(files),
        {**ENVIRONMENT, **scenario.environment},
        scenario.stop or ("workload" if scenario.workload else "processes"),
        scenario.until,
        scenario.pace,
        scenario.preempt_after / NS if scenario.preempt_after else None,
        inputs,
        log_every_turn,
    )
    return Expansion(plan, tuple(jobs), tuple(skipped), slurm, submit_host)


def _kernel_options(scenario: Scenario, strict: bool) -> KernelOptions:
    return KernelOptions(
        seed=scenario.seed,
        epoch_ns=int(scenario.epoch.timestamp()) * NS,
        costs=Costs(scenario.costs.clock_read, scenario.costs.poll, scenario.costs.call),
        strict=strict,
    )


# Hosts


def _platform(scenario: Scenario, hardware: dict[str, Hardware]) -> Platform:
    network = scenario.network
    default = Access(network.bandwidth, network.latency)
    overrides: dict[str, Access] = {}
    hosts: list[Host] = []
    free: IPv4Address | IPv6Address = FIRST_ADDRESS
    for index, section in enumerate(scenario.hosts):
        address = ip_address(section.address) if section.address else free
        for name in section.name:
            if name in hardware:
                raise SimunixError(f"hosts[{index}].name: host {name} is named twice; host names must differ")
            hardware[name] = _hardware(section)
            hosts.append(Host(name, (address,), section.cores, section.memory))
            if section.bandwidth or section.latency is not None:
                latency = default.latency_ns if section.latency is None else section.latency
                overrides[name] = Access(section.bandwidth or default.bandwidth_bytes_per_s, latency)
            address += 1
        if section.address is None:
            free = address
    return star(hosts, default, Access(network.loopback_bandwidth, network.loopback_latency), overrides)


def _hardware(section: HostSection) -> Hardware:
    return Hardware(
        section.sockets,
        section.cores // (section.sockets * section.threads_per_core),
        section.threads_per_core,
        section.memory,
    )


def _private_paths(scenario: Scenario, slurm: SlurmPlan | None) -> dict[str, tuple[PrivateSpec, ...]]:
    """Paths of the hosts' own, of their processes, and of Slurm; the first to name a path decides its owner."""
    found: dict[str, dict[str, PrivateSpec]] = {}
    for name, specs in (slurm.private if slurm else {}).items():
        found.setdefault(name, {}).update({spec.path: spec for spec in specs})
    for host in scenario.hosts:
        for name in host.name:
            for path in host.private:
                found.setdefault(name, {}).setdefault(path.rstrip("/"), PrivateSpec(path.rstrip("/")))
    for process in scenario.processes:
        for name in process.host:
            for path in process.private:
                spec = PrivateSpec(path.rstrip("/"), process.user or "")
                found.setdefault(name, {}).setdefault(spec.path, spec)
    return {name: tuple(specs.values()) for name, specs in found.items()}


# Processes


def _processes(scenario: Scenario, hosts: dict[str, Host], roots: dict[str, RootTree]) -> list[ProcessSpec]:
    specs = []
    names: set[tuple[str, str]] = set()
    path = scenario.environment.get("PATH", PATH)
    for index, section in enumerate(scenario.processes):
        for host in section.host:
            if host not in hosts:
                raise SimunixError(f"processes[{index}].host: {host!r} is not among the hosts; known: {', '.join(hosts)}")
            problem = check_program(section.command[0], path, section.directory, roots[host])
            if problem is not None:
                raise SimunixError(f"processes[{index}].command: {problem}")
            if (host, section.name) in names:
                raise SimunixError(f"processes[{index}].name: {section.name!r} runs on {host} twice; names must differ")
            names.add((host, section.name))
            specs.append(
                ProcessSpec(
                    section.name,
                    host,
                    section.command,
                    section.start,
                    section.user,
                    section.environment,
                    section.directory,
                    section.restart,
                    section.restart_delay,
                    section.essential,
                )
            )
    return specs


# Workload


def _read_jobs(section: WorkloadSection, trace: Path) -> tuple[list[Job], list[SkippedJob]]:
    end_s = math.inf if section.end is None else section.end / NS
    selection = Selection(section.begin / NS, end_s, section.max_jobs, section.processors, section.margin)
    jobs, skipped = select_jobs(read_swf(trace).records, selection)
    if not jobs:
        raise SimunixError(f"workload: {trace} has no usable job between begin and end; widen the window")
    return jobs, skipped


def _submission_plan(scenario: Scenario, section: WorkloadSection, jobs: list[Job], host: str) -> FileSpec:
    origin = int(scenario.epoch.timestamp()) + section.start / NS
    plan = {
        "origin": origin,
        "poll": clients.QUEUE,
        "jobs": [{"id": job.id, "at": job.submit_s, "argv": clients.submit_command(job)} for job in jobs],
    }
    return FileSpec(host, f"{WORKLOAD_FOLDER}/plan.json", json.dumps(plan, indent=1).encode())


def _submitter(host: str, section: WorkloadSection) -> ProcessSpec:
    script = str(Path(submitter.__file__).resolve())
    argv = (sys.executable, "-I", script, f"{WORKLOAD_FOLDER}/plan.json", f"{WORKLOAD_FOLDER}/submissions.csv")
    return ProcessSpec(SUBMITTER, host, argv, section.start, is_workload=True, essential=True)


def with_options(plan: Plan, until_ns: int | None, pace: float | None) -> Plan:
    """The plan with what the command line says instead."""
    return replace(plan, until_ns=plan.until_ns if until_ns is None else until_ns, pace=plan.pace if pace is None else pace)
