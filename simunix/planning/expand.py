"""Expand a checked scenario to a plan, in which every host, address, file and process is written out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Address, IPv6Address, ip_address
from itertools import chain
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.network.sharing import Fairness
from rsg_server.options import KernelOptions
from rsg_server.platform.host import Host, NumaNodes
from rsg_server.platform.platform import Platform
from rsg_server.platform.star import Access
from rsg_server.processor.charges import Charging
from simunix.checks.commands import plan_checks
from simunix.dates import since_1970_ns
from simunix.launch.debug.observation import ObservationOptions
from simunix.launch.plan import FileSpec, HostSpec, Plan, PrivateSpec, ProcessSpec
from simunix.launch.programs import check_program
from simunix.launch.shipped import ship
from simunix.launch.view.device_numbers import numbered
from simunix.launch.view.hardware import Hardware
from simunix.launch.view.temporary import FOLDERS
from simunix.perturbation.kernel import perturbed_options
from simunix.planning import submission
from simunix.planning.actors import as_actors, costs_of, shared_with_functions, with_actors
from simunix.planning.bmcs import Bmcs, plan_bmcs
from simunix.planning.clusters import plan_clusters
from simunix.planning.cpu_policies import charging_of, check_speeds
from simunix.planning.faults import plan_faults, with_clocks
from simunix.planning.flow_model import flow_model
from simunix.planning.hardware.sizes import hardware_of
from simunix.planning.host_users import etc_of_hosts
from simunix.planning.network import build_platform
from simunix.planning.platform_profiles import not_played
from simunix.planning.power import boots_of, enclosures_of
from simunix.planning.roots import host_roots, privileged_hosts
from simunix.planning.storages import Mounts, copies, plan_mounts, with_disks
from simunix.planning.submission import WorkloadPlan, Workloads, inputs_of, plan_workloads
from simunix.planning.workload_context import ContextPlan, plan_contexts
from simunix.ranges import fold_hosts
from simunix.rjms.adapter import ClusterPlan, Site
from simunix.scenario.located import located
from simunix.scenario.model import STOPS, HostSection, PrivateSection, ProcessSection, Scenario
from simunix.scenario.power_section import power_of_host

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8", "TZ": "UTC", "USER": "root", "SHELL": "/bin/bash"}
FIRST_ADDRESS = IPv4Address("10.0.0.1")
NS = 10**9


@dataclass(frozen=True, slots=True)
class Expansion:
    """A plan, and what the reports need to know of the plan's clusters and workloads."""

    plan: Plan
    clusters: tuple[ClusterPlan, ...] = ()
    workloads: tuple[WorkloadPlan, ...] = ()
    contexts: tuple[ContextPlan, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The parts of a plan before they are joined: the `site` with its platform, and the programs that run there."""

    scenario: Scenario
    platform: Platform
    site: Site
    clusters: tuple[ClusterPlan, ...]
    found: Workloads
    contexts: tuple[ContextPlan, ...]
    mounts: Mounts
    bmcs: Bmcs

    @property
    def workloads(self) -> tuple[WorkloadPlan, ...]:
        """The workloads of all clusters, in the order of the scenario."""
        return self.found.plans

    @property
    def replaced(self) -> dict[str, str]:
        """The environment variables whose value on hosts differs from the scenario's `environment`."""
        return {name: value for cluster in self.clusters for name, value in cluster.replaced.items()}

    def hosts(self, shipped: Mapping[str, tuple[PrivateSpec, ...]]) -> tuple[HostSpec, ...]:
        """Return the hosts in the scenario's order, as they get addresses; `shipped` has more private paths by host."""
        roots = self.site.roots
        private = _private_paths(self.scenario, self.clusters, self.workloads, self.mounts.private, self.bmcs.private, shipped)
        etc = etc_of_hosts(self.found.host_users, self.clusters, roots)
        devices = numbered({name: files for cluster in self.clusters for name, files in cluster.devices.items()})
        privileged = privileged_hosts(self.scenario)
        wires = [self.bmcs.wires, *(cluster.wires for cluster in self.clusters)]
        return tuple(
            HostSpec(
                name,
                self.site.hardware[name],
                private.get(name, ()),
                roots[name],
                etc.get(name, {}),
                devices=devices.get(name, ()),
                mounts=self.mounts.specs.get(name, ()),
                remotes=self.mounts.remotes.get(name, ()),
                wired=tuple(dict.fromkeys(host for each in wires for host in each.get(name, ()))),
                privileged=name in privileged,
            )
            for name in self.site.hosts
        )

    def processes(self, checked: bool) -> tuple[ProcessSpec, ...]:
        """Return all processes, daemons of the RJMS first.

        Of processes that start at one moment, the first one in the list starts first.
        """
        return (
            *(process for cluster in self.clusters for process in cluster.processes),
            *_processes("processes", self.scenario, self.site, checked),
            *as_actors(self.scenario, _processes("actors", self.scenario, self.site, checked)),
            *_storage_servers(self.workloads),
            *(process for workload in self.workloads for process in workload.processes),
            *(context.process for context in self.contexts),
            *self.bmcs.processes,
            *plan_checks(self.scenario, self.site),
        )

    def files(self) -> tuple[FileSpec, ...]:
        """Return the files that simunix writes into private paths of the hosts."""
        return (
            *(file for cluster in self.clusters for file in cluster.files),
            *(file for workload in self.workloads for file in workload.files),
            *(context.program for context in self.contexts),
            *self.bmcs.files,
        )


def expand(
    scenario: Scenario, folder: Path, log_every_turn: bool = False, strict: bool = False, checked: bool = True
) -> Expansion:
    """Expand a scenario to a plan; relative paths of the scenario are relative to `folder`.

    Raises SimunixError if parts of the scenario do not fit together and, with `checked`, if a program cannot be run.
    """
    with located(scenario):
        parts = _parts(with_actors(scenario, folder), folder, checked)
        plan = _plan(parts, folder, log_every_turn, strict, checked)
        return Expansion(plan, parts.clusters, parts.workloads, parts.contexts)


def _parts(scenario: Scenario, folder: Path, checked: bool) -> _Parts:
    hardware: dict[str, Hardware] = {}
    platform = _platform(scenario, hardware, folder)
    site = Site(
        folder=folder,
        hosts={host.name: host for host in platform.hosts},
        hardware=hardware,
        roots=host_roots(scenario, folder),
        seed=scenario.seed,
        is_root=os.geteuid() == 0,
        epoch_s=scenario.epoch.timestamp(),
        environment=scenario.environment,
        enclosures=enclosures_of(scenario, platform),
    )
    clusters = plan_clusters(scenario, site)
    found = plan_workloads(scenario, folder, clusters, site.roots, site.is_root)
    return _Parts(
        scenario=scenario,
        platform=platform,
        site=site,
        clusters=found.with_accounts(clusters),
        found=found,
        contexts=plan_contexts(found.plans),
        mounts=plan_mounts(scenario.mounts, site.hosts, site.roots),
        bmcs=plan_bmcs(scenario.bmcs, site.hosts, site.roots, scenario.environment.get("PATH", PATH), checked),
    )


def _plan(parts: _Parts, folder: Path, log_every_turn: bool, strict: bool, checked: bool) -> Plan:
    scenario, platform = parts.scenario, parts.platform
    shipped = ship(parts.processes(checked), scenario.environment)
    hosts, processes = parts.hosts(shipped.private), shipped.processes
    charging = charging_of(scenario, processes, folder)
    check_speeds(charging, platform)
    faults, profiles = plan_faults(scenario.events, scenario.profiles, folder, platform, processes)
    return Plan(
        name=scenario.name,
        platform=platform,
        hosts=hosts,
        processes=processes,
        kernel=_kernel_options(parts, charging, strict),
        files=(*parts.files(), *shipped.files),
        environment={**ENVIRONMENT, **scenario.environment, **parts.replaced},
        stop=_stop(scenario, processes),
        until_ns=scenario.until,
        pace=scenario.pace,
        preempt_after_s=scenario.preempt_after / NS if scenario.preempt_after else None,
        inputs=inputs_of(parts.workloads),
        log_every_turn=log_every_turn,
        faults=faults,
        profiles=profiles,
        observation=ObservationOptions(scenario.pcap, scenario.link_usage),
        decoders={name: cluster.message for cluster in parts.clusters if cluster.message for name in cluster.private},
        working=sum(_working(workload) for workload in parts.workloads),
        merge_pages=_choice(scenario.merge_pages),
        capacity=scenario.capacity,
        shared=(*scenario.shared, *_own_folder(folder), *shared_with_functions(scenario)),
        disk=(*copies(scenario), *chain.from_iterable(workload.behaviour.disk for workload in parts.workloads)),
        warnings=(
            *(warning for cluster in parts.clusters for warning in cluster.warnings),
            *parts.found.warnings,
            *platform.description.warnings,
            *not_played(platform.description.profiles),
        ),
    )


def _stop(scenario: Scenario, processes: Sequence[ProcessSpec]) -> str | frozenset[str]:
    """Return what ends the run; the default is the end of the workload if there is one, else of all processes."""
    if scenario.stop is None:
        return "workload" if scenario.workload else "processes"
    if len(scenario.stop) == 1 and scenario.stop[0] in STOPS:
        return scenario.stop[0]
    known = {process.name for process in processes if not process.collects}
    for name in scenario.stop:
        if name not in known:
            raise SimunixError(f"stop: there is no process {name}; expected {', '.join((*STOPS, *sorted(known)))}")
    return frozenset(scenario.stop)


def _working(workload: WorkloadPlan) -> int:
    """Return on how many nodes jobs may run programs at one time. A job that sleeps does so on its first node only."""
    nodes = len(workload.cluster.nodes)
    sleeps = all(job.work is None for job in workload.jobs)
    return min(nodes, len(workload.jobs)) if sleeps else nodes


def _own_folder(folder: Path) -> tuple[str, ...]:
    """Return the scenario's folder, which hosts share even if it lies below their own /tmp; () for /tmp itself."""
    path = os.path.realpath(folder)
    return () if path in FOLDERS else (path,)


def _choice(value: bool | str) -> str:
    """Return `auto`, `yes` or `no` for a value that YAML may have read as a boolean."""
    return value if isinstance(value, str) else "yes" if value else "no"


def _storage_servers(workloads: Sequence[WorkloadPlan]) -> list[ProcessSpec]:
    """Return the servers of storages: one on each host, even if several workloads use that host."""
    servers = (server for workload in workloads for server in workload.behaviour.servers)
    return list({server.host: server for server in servers}.values())


def _kernel_options(parts: _Parts, charging: Charging | None, strict: bool) -> KernelOptions:
    scenario, platform = parts.scenario, parts.platform
    options = KernelOptions(
        seed=scenario.seed,
        epoch_ns=since_1970_ns(scenario.epoch),
        costs=costs_of(scenario),
        strict=strict or scenario.strict,
        network_model=flow_model(scenario.network, platform.description.config),
        fairness=Fairness(scenario.network.fair_per),
        charging=charging,
        enclosures=enclosures_of(scenario, platform),
        boots=boots_of(scenario),
    )
    options = with_clocks(options, scenario.events)
    if (section := scenario.perturbation) is None:
        return options
    return perturbed_options(options, section, (cluster.controller for cluster in parts.clusters), platform.links)


# Hosts


def _platform(scenario: Scenario, hardware: dict[str, Hardware], folder: Path) -> Platform:
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
            hardware[name] = hardware_of(section)
            hosts.append(_host(section, name, address))
            if section.bandwidth or section.latency is not None:
                latency = default.latency_ns if section.latency is None else section.latency
                overrides[name] = Access(section.bandwidth or default.bandwidth_bytes_per_s, latency)
            address += 1
        if section.address is None:
            free = address
    return build_platform(network, with_disks(hosts, scenario.storages), overrides, folder)


def _host(section: HostSection, name: str, address: IPv4Address | IPv6Address) -> Host:
    return Host(
        name,
        (address,),
        section.cores,
        section.memory,
        section.speed,
        section.pstate,
        disk_bytes=section.disk,
        power=power_of_host(section.wattage_per_state, section.wattage_off, len(section.speed)),
        numa=NumaNodes(section.numa_nodes, section.cores // section.threads_per_core),
    )


def platform_of(scenario: Scenario, folder: Path) -> Platform:
    """Return the platform of a scenario: its hosts and its network, without what runs there."""
    with located(scenario):
        return _platform(scenario, {}, folder)


def _private_paths(
    scenario: Scenario,
    clusters: Sequence[ClusterPlan],
    workloads: Sequence[WorkloadPlan],
    *others: Mapping[str, tuple[PrivateSpec, ...]],
) -> dict[str, tuple[PrivateSpec, ...]]:
    """Return each host's private paths: those of the scenario, of its processes and of the RJMS.

    The first section that lists a path decides who owns it.
    """
    found: dict[str, dict[str, PrivateSpec]] = {}
    for cluster in clusters:
        for name, specs in cluster.private.items():
            found.setdefault(name, {}).update({spec.path: spec for spec in specs})
    for host in scenario.hosts:
        for name in host.name:
            for entry in host.private:
                spec = _private_spec(entry)
                found.setdefault(name, {}).setdefault(spec.path, spec)
    for process in (*scenario.processes, *scenario.actors):
        for name in process.host:
            for entry in process.private:
                spec = _private_spec(entry, process.user or "")
                found.setdefault(name, {}).setdefault(spec.path, spec)
    for name, specs in chain.from_iterable(other.items() for other in others):
        for spec in specs:
            known = found.setdefault(name, {}).get(spec.path, spec)
            found[name][spec.path] = replace(known, export=spec.export or known.export)
    private = {name: tuple(specs.values()) for name, specs in found.items()}
    for workload in workloads:
        private[workload.host] = (*private[workload.host], submission.PRIVATE)
        for name in workload.behaviour.hosts:
            shared = {entry.path: entry for entry in (*private.get(name, ()), workload.behaviour.private)}
            private[name] = tuple(shared.values())
    return private


def _private_spec(entry: PrivateSection, owner: str = "") -> PrivateSpec:
    return PrivateSpec(entry.path.rstrip("/"), owner, mode=None, copied=entry.content == "copy")


# Processes


def _processes(key: str, scenario: Scenario, site: Site, checked: bool) -> list[ProcessSpec]:
    """Return the processes of a key of the scenario. Raises SimunixError for a process that cannot be run."""
    specs = []
    names: set[tuple[str, str]] = set()
    path = scenario.environment.get("PATH", PATH)
    for index, section in enumerate(getattr(scenario, key)):
        for host in section.host:
            if host not in site.hosts:
                known = fold_hosts(site.hosts)
                raise SimunixError(f"{key}[{index}].host: {host!r} is not among the hosts; known: {known}")
            problem = check_program(section.command[0], path, section.directory, site.roots[host], section.user)
            if checked and problem is not None:
                raise SimunixError(f"{key}[{index}].command: {problem}")
            if (host, section.name) in names:
                raise SimunixError(f"{key}[{index}].name: {section.name!r} runs on {host} twice; names must differ")
            names.add((host, section.name))
            specs.append(process_spec(section, host))
    return specs


def process_spec(section: ProcessSection, host: str) -> ProcessSpec:
    """Return the process that a section describes, on one of the section's hosts."""
    return ProcessSpec(
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
        expect=section.expect,
        cpu_policy=section.cpu_policy or "",
    )
