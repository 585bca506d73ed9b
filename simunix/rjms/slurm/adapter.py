"""The adapter for Slurm: it turns the `slurm:` section of a scenario into files, private paths and daemons of hosts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rsg_server.errors import SimunixError
from simunix.launch.plan import FileSpec, PrivateSpec, ProcessSpec
from simunix.rjms.adapter import Clients, ClusterPlan, ClusterSection, CompletedJob, JobNews, Site
from simunix.rjms.requirements import check_hosts
from simunix.rjms.slurm import burst_buffers, cgroup_file, configuration, daemons, database, releases
from simunix.rjms.slurm.accounting import diary, news, parse_jobcomp
from simunix.rjms.slurm.accounts import account_commands
from simunix.rjms.slurm.beside import devices, files_beside, notices, replaced
from simunix.rjms.slurm.burst_buffers import with_plugin
from simunix.rjms.slurm.clients import CLIENTS
from simunix.rjms.slurm.database import Database
from simunix.rjms.slurm.installed import check_installed
from simunix.rjms.slurm.own_configuration import features_of, given_configuration, read_configuration, read_settings, slurm_user
from simunix.rjms.slurm.parameters import with_parameters
from simunix.rjms.slurm.power import cap, capmc, fairshare, saving
from simunix.rjms.slurm.power.cap import Capping
from simunix.rjms.slurm.section import SlurmSection
from simunix.rjms.slurm.usage import check_release
from simunix.rjms.slurm.wire.frames import message
from simunix.roots.tree import RootTree


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmPlan(ClusterPlan):
    """The plan of a Slurm cluster; `database` describes its slurmdbd, if it has one."""

    database: Database | None = None

    def with_accounts(
        self, accounts: Sequence[str], associations: Mapping[str, Sequence[str]], qos: Collection[str]
    ) -> ClusterPlan:
        """Return the plan with sacctmgr commands for these accounts and users, after the scenario's own commands. A
        cluster without slurmdbd has no accounts and is returned unchanged.
        """
        commands = account_commands(accounts, associations, qos)
        if self.database is None or not commands:
            return self
        told = replace(self.database, sacctmgr=(*self.database.sacctmgr, *commands))
        controller = database.slurmctld(told, self.controller)
        processes = tuple(controller if each.name == controller.name else each for each in self.processes)
        return replace(self, database=told, processes=processes)


@dataclass(frozen=True, slots=True)
class Slurm:
    """The implementation of `simunix.rjms.adapter.Rjms` for Slurm."""

    name: str = "slurm"
    title: str = "Slurm"
    section: type[ClusterSection] = SlurmSection
    clients: Clients = CLIENTS
    programs: tuple[str, ...] = tuple(releases.REQUIRED)

    def version(self, root: RootTree) -> str | None:
        """Return the version of Slurm in a root file system; see `Rjms.version`."""
        return releases.version(root)

    def plugins(self, root: RootTree) -> list[str]:
        """Return the names of Slurm's plugins in a root file system; see `Rjms.plugins`."""
        return releases.plugins(root)

    def plan(self, section: ClusterSection, key: str, site: Site) -> ClusterPlan:
        """Return the plan of a Slurm cluster; see `Rjms.plan`."""
        assert isinstance(section, SlurmSection)
        if section.config is not None:
            section = section.model_copy(update={"config": site.folder / section.config})
        return _plan(section, key, site)

    def news(self, line: str) -> JobNews | None:
        """See `Rjms.news`. The log that is read during a run is that of slurmctld."""
        return news(line)

    def completed(self, records: Sequence[str]) -> dict[str, CompletedJob]:
        """Return the jobs that Slurm's jobcomp file, the only record, lists; see `Rjms.completed`."""
        return parse_jobcomp(line for text in records for line in text.splitlines())


SLURM = Slurm()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    """A `slurm:` section with what follows from it: `members` are the hosts that have Slurm, each with its Slurm
    release.
    """

    section: SlurmSection
    key: str
    site: Site
    storage: Database | None
    members: dict[str, releases.Release]
    conf: str
    private: Mapping[str, tuple[PrivateSpec, ...]]  # the private paths that the user's own slurm.conf asks for
    jobcomp: str
    beside: Mapping[str, tuple[bytes, int]]  # the files beside the user's own slurm.conf, with their modes
    capping: Capping | None = None

    def files(self) -> Iterator[FileSpec]:
        """Yield the files of every host that has Slurm: the configuration in the form for the host's release, and
        munge's key.
        """
        cgroups = self.cgroup_conf()
        texts = {release: configuration.files(self.conf, release, cgroups) for release in set(self.members.values())}
        for name, release in self.members.items():
            yield from daemons.host_files(name, texts[release], self.site.seed, self.site.is_root)
            beside = {path: file for path, file in self.beside.items() if path not in texts[release]}
            yield from (FileSpec(name, path, content, mode=mode) for path, (content, mode) in beside.items())
        yield from saving.files(self.section)
        yield from fairshare.files(self.section)
        yield from capmc.files(self.section, self.key, self.site)
        if self.capping is not None:
            yield from self.capping.files()

    def cgroup_conf(self) -> str:
        """Return the cgroup.conf if plugins use cgroups: the file beside the user's slurm.conf, or else simunix's; ""
        if no plugin does.
        """
        if not configuration.asks_for_cgroups(read_settings(self.conf)):
            if self.section.cgroup:
                raise SimunixError(
                    f"{self.key}.cgroup: no plugin of slurm.conf uses cgroups; name one in {self.key}.parameters"
                )
            return ""
        cgroup_file.check_releases(self.key, self.members)
        if configuration.CGROUP_CONFIG in self.beside:
            assert self.section.config is not None
            if self.section.cgroup:
                raise SimunixError(f"{self.key}.cgroup: there is a cgroup.conf beside {self.section.config}; change that")
            cgroup_file.check_file(self.section.config.parent / "cgroup.conf")
            return self.beside[configuration.CGROUP_CONFIG][0].decode()
        cgroup_file.check_parameters(self.key, self.section.cgroup)
        return configuration.cgroup_conf(self.section.cgroup)

    def paths(self) -> dict[str, tuple[PrivateSpec, ...]]:
        """Return the private paths of every host that has Slurm."""
        section, user = self.section, slurm_user(self.conf)
        return {
            name: _merge(
                daemons.private_paths(name == section.controller, name in section.nodes, user), self.private.get(name, ())
            )
            for name in self.members
        }

    def munged(self) -> list[ProcessSpec]:
        """Return a munged process for each host, if the configuration asks for munge."""
        if not daemons.uses_munge(read_settings(self.conf)):
            return []
        return [daemons.munged(name, self.site.is_root, index) for index, name in enumerate(self.members)]

    def slurmds(self) -> list[ProcessSpec]:
        """Return a slurmd process for each node."""
        nodes = self.section.nodes
        return [daemons.slurmd(name, index, len(nodes)) for index, name in enumerate(nodes)]

    def beside_slurmctld(self) -> tuple[ProcessSpec, ...]:
        """Return the programs that run beside slurmctld and steer it by Slurm's public commands."""
        return (*([self.capping.process()] if self.capping else ()), *fairshare.processes(self.section))


def _plan(section: SlurmSection, key: str, site: Site) -> SlurmPlan:
    cluster = _cluster(section, key, site)
    files, processes, paths = list(cluster.files()), cluster.munged(), cluster.paths()
    storage = cluster.storage
    if storage is None:
        processes.append(daemons.slurmctld(section.controller, len(section.nodes)))
    else:
        added = database.plan(storage, key, section.controller, site.roots, site.is_root)
        files += added.files
        processes += added.processes
        if added.private:
            paths[storage.storage] = _merge(paths.get(storage.storage, ()), added.private)
    return SlurmPlan(
        rjms=SLURM,
        name=section.cluster,
        controller=section.controller,
        login=login_of(section),
        files=tuple(files),
        processes=(*processes, *cluster.slurmds(), *cluster.beside_slurmctld()),
        power_caps=cluster.capping.power_caps if cluster.capping else (),
        wires=capmc.wires(section),
        private=paths,
        records=(cluster.jobcomp,) if cluster.jobcomp else (),
        nodes=section.nodes,
        cores=sum(site.hardware[name].cpus for name in section.nodes),
        database=storage,
        replaced=replaced(site.environment, section.config, key, site.folder),
        features=features_of(cluster.conf),
        message=message,
        diary=diary(cluster.conf),
        **_of_gres(section, cluster.conf),
    )


def _cluster(section: SlurmSection, key: str, site: Site) -> _Cluster:
    given = None if section.config is None else with_parameters(read_configuration(section.config), section.parameters, key)
    storage = database.of_section(section, key, read_settings(given or ""))
    members = _members(section, key, storage, site)
    installed = releases.of_roots(key, {name: site.roots[name] for name in members})
    check_release(section.usage, installed[section.controller], key)
    check_installed(section.config, section.parameters | capmc.plugin(section), key, (site.roots[name] for name in members))
    if section.config is not None and given is not None:
        conf, private, jobcomp = given_configuration(section, section.config, given)
    else:
        conf, private, jobcomp = configuration.slurm_conf(_described(section, site, storage)), {}, configuration.JOBCOMP
    capped = cap.capping(section, key, site)
    if capped is not None:
        section = capped.applied_to(section, key)
    power = saving.parameters(section, key) | (capped.parameters() if capped else {}) | capmc.parameters(section, key, site)
    conf = with_parameters(conf, power | fairshare.parameters(section, conf, key, site), key)
    return _Cluster(
        section=section,
        capping=capped,
        key=key,
        site=site,
        storage=storage,
        members=installed,
        conf=with_parameters(conf, with_plugin(section.burst_buffers, section.parameters), key),
        private=private,
        jobcomp=jobcomp,
        beside={
            **({} if section.config is None else files_beside(section.config, conf, section.sacctmgr)),
            **burst_buffers.files(section.burst_buffers, key),
        },
    )


def _of_gres(section: SlurmSection, conf: str) -> dict[str, Any]:
    """Return the devices of nodes, and warnings about the gres.conf beside the user's own slurm.conf."""
    if section.config is None:
        return {}
    told = tuple(notices(section.config, conf, section.nodes))
    return {"devices": devices(section.config, conf, section.nodes), "warnings": told}


def login_of(section: SlurmSection) -> str:
    """Return the host on which the cluster's users work."""
    return section.login or section.controller


def _members(section: SlurmSection, key: str, storage: Database | None, site: Site) -> list[str]:
    """Return the hosts that have Slurm, each once. Raises SimunixError for a host in the section that the scenario does
    not have.
    """
    members = dict.fromkeys([section.controller, login_of(section), *section.nodes])
    if storage is not None and not storage.shared:
        members[storage.dbd] = None
    check_hosts(key, [*members, *([storage.dbd, storage.storage] if storage else [])], site)
    return list(members)


def _merge(first: Sequence[PrivateSpec], second: Sequence[PrivateSpec]) -> tuple[PrivateSpec, ...]:
    """Return the private paths of both lists, each path once; for a path in both, the entry of `first` counts."""
    return tuple({entry.path: entry for entry in (*second, *first)}.values())


def _described(section: SlurmSection, site: Site, storage: Database | None) -> configuration.SlurmCluster:
    """Return the facts from which slurm.conf is written."""
    addresses = {name: str(site.hosts[name].addresses[0]) for name in (section.controller, *section.nodes)}
    nodes = tuple(configuration.ComputeNode(name, addresses[name], site.hardware[name]) for name in section.nodes)
    return configuration.SlurmCluster(
        section.cluster,
        section.controller,
        addresses[section.controller],
        nodes,
        section.partition,
        section.scheduler_parameters,
        section.extra,
        storage.dbd if storage else "",
        section.accounting_storage_enforce,
    )
