"""From the `slurm:` section of a scenario to files, private paths and processes of its hosts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.platform.host import Host
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec
from simunix.launch.view.hardware import Hardware
from simunix.ranges import expand_hosts
from simunix.rjms.clients import Clients
from simunix.rjms.slurm import configuration, daemons, database, releases
from simunix.rjms.slurm.clients import CLIENTS
from simunix.rjms.slurm.parameters import with_parameters
from simunix.roots.tree import RootTree
from simunix.scenario.model import SlurmSection


@dataclass(frozen=True, slots=True)
class SlurmPlan:
    """What a cluster adds to a plan; `private` by name of each host that belongs to it."""

    name: str
    controller: str
    login: str
    files: tuple[FileSpec, ...]
    processes: tuple[ProcessSpec, ...]
    private: dict[str, tuple[PrivateSpec, ...]]
    jobcomp: str
    nodes: tuple[str, ...]
    cores: int
    database: database.Database | None = None
    clients: Clients = CLIENTS

    def with_accounts(self, commands: Sequence[str]) -> SlurmPlan:
        """Sacctmgr is told these too, behind those of the scenario; without a database there is nobody to tell."""
        if self.database is None or not commands:
            return self
        told = replace(self.database, sacctmgr=(*self.database.sacctmgr, *commands))
        controller = database.slurmctld(told, self.controller)
        processes = tuple(controller if each.name == controller.name else each for each in self.processes)
        return replace(self, database=told, processes=processes)


def plan_slurm(
    section: SlurmSection,
    key: str,
    hosts: Mapping[str, Host],
    hardware: Mapping[str, Hardware],
    roots: Mapping[str, RootTree],
    seed: int,
    is_root: bool,
) -> SlurmPlan:
    """Every host of the section gets the configuration, and munged if that asks for it; controller and nodes their daemons."""
    given = None if section.config is None else with_parameters(_read(section.config), section.parameters, key)
    storage = database.of_section(section, key, read_settings(given or ""))
    members = _members(section, key, storage, hosts)
    versions = releases.of_roots(key, {name: roots[name] for name in members})
    if section.config is not None and given is not None:
        conf, private, jobcomp = _given_configuration(section, section.config, given)
    else:
        cluster = _cluster(section, hosts, hardware, storage)
        conf, private, jobcomp = configuration.slurm_conf(cluster), {}, configuration.JOBCOMP
    conf = with_parameters(conf, section.parameters, key)
    texts = {version: configuration.files(conf, version) for version in set(versions.values())}  # once for all hosts of one
    paths = {
        name: _merge(daemons.private_paths(name == section.controller, name in section.nodes), private.get(name, ()))
        for name in members
    }
    files = [file for name in members for file in daemons.host_files(name, texts[versions[name]], seed, is_root)]
    with_munge = daemons.uses_munge(read_settings(conf))
    processes = [daemons.munged(name, is_root, index) for index, name in enumerate(members) if with_munge]
    if storage is None:
        processes.append(daemons.slurmctld(section.controller, len(section.nodes)))
    else:
        added = database.plan(storage, key, section.controller, roots, is_root)
        files += added.files
        processes += added.processes
        paths[storage.storage] = _merge(paths.get(storage.storage, ()), added.private)
    processes += [daemons.slurmd(name, index, len(section.nodes)) for index, name in enumerate(section.nodes)]
    cores = sum(hardware[name].cpus for name in section.nodes)
    return SlurmPlan(
        section.cluster,
        section.controller,
        login_of(section),
        tuple(files),
        tuple(processes),
        paths,
        jobcomp,
        section.nodes,
        cores,
        storage,
    )


def login_of(section: SlurmSection) -> str:
    """The host that users work on."""
    return section.login or section.controller


def _members(section: SlurmSection, key: str, storage: database.Database | None, hosts: Mapping[str, Host]) -> list[str]:
    """The hosts that have Slurm, each once; every host that the section names must be one of the scenario's."""
    members = dict.fromkeys([section.controller, login_of(section), *section.nodes])
    if storage is not None:
        members[storage.dbd] = None
    for name in [*members, *([storage.storage] if storage else [])]:
        if name not in hosts:
            raise SimunixError(f"{key}: host {name!r} is not among the hosts of the scenario; known: {', '.join(hosts)}")
    return list(members)


def _merge(first: Sequence[PrivateSpec], second: Sequence[PrivateSpec]) -> tuple[PrivateSpec, ...]:
    return tuple({entry.path: entry for entry in (*second, *first)}.values())


def _cluster(
    section: SlurmSection, hosts: Mapping[str, Host], hardware: Mapping[str, Hardware], storage: database.Database | None
) -> configuration.SlurmCluster:
    nodes = tuple(configuration.ComputeNode(name, str(hosts[name].addresses[0]), hardware[name]) for name in section.nodes)
    return configuration.SlurmCluster(
        section.cluster,
        section.controller,
        str(hosts[section.controller].addresses[0]),
        nodes,
        section.partition,
        section.scheduler_parameters,
        section.extra,
        storage.dbd if storage else "",
        section.accounting_storage_enforce,
    )


# The user's own slurm.conf

_DIRECTORIES = ("StateSaveLocation", "SlurmdSpoolDir")
_FILES = ("SlurmctldLogFile", "SlurmdLogFile", "JobCompLoc", "SlurmSchedLogFile", "SlurmctldPidFile", "SlurmdPidFile")


def read_settings(text: str) -> dict[str, str]:
    """Simple `Key=Value` settings of a slurm.conf (keys in lower case), the last one counting."""
    joined = re.sub(r"\\\n", " ", text)
    settings = {}
    for line in joined.splitlines():
        key, equals, value = line.split("#", 1)[0].strip().partition("=")
        if equals:
            settings[key.strip().lower()] = value.strip()
    return settings


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise SimunixError(f"slurm.config: {path}: {error.strerror}; give a slurm.conf") from error


def _given_configuration(section: SlurmSection, path: Path, text: str) -> tuple[str, dict[str, tuple[PrivateSpec, ...]], str]:
    """The file as it is; the folders that it names become private to each host."""
    settings = read_settings(text)
    _check_names(section, text, path)
    folders = {settings[key.lower()] for key in _DIRECTORIES if key.lower() in settings}
    folders |= {str(Path(settings[key.lower()]).parent) for key in _FILES if settings.get(key.lower(), "").startswith("/")}
    owner = settings.get("slurmuser", "slurm")
    specs = tuple(PrivateSpec(folder, owner) for folder in sorted(folders) if not folder.startswith("/run"))
    members = dict.fromkeys([section.controller, login_of(section), *section.nodes])
    return text, dict.fromkeys(members, specs), settings.get("jobcomploc", "")


def _check_names(section: SlurmSection, text: str, path: Path) -> None:
    """The hosts of the scenario must be those of the file, or its daemons would refuse to start."""
    named = {
        name
        for value in re.findall(r"^\s*NodeName=(\S+)", text, re.MULTILINE | re.IGNORECASE)
        if value.upper() != "DEFAULT"
        for name in expand_hosts(value)
    }
    unknown = [name for name in section.nodes if name not in named]
    if unknown:
        raise SimunixError(f"slurm.nodes: {unknown[0]} has no NodeName in {path}; make the two agree")
