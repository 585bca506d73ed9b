"""The adapter for OAR: it turns the `oar:` section of a scenario into files, paths and daemons of hosts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rsg_server.errors import SimunixError
from simunix.launch.plan import FileSpec, PrivateSpec
from simunix.rjms.adapter import Clients, ClusterPlan, ClusterSection, CompletedJob, JobNews, Site
from simunix.rjms.oar import accounting, configuration, daemons, layout
from simunix.rjms.oar.clients import CLIENTS
from simunix.rjms.oar.section import OarSection
from simunix.rjms.requirements import check_hosts, check_is_root, check_packages
from simunix.roots.tree import RootTree

_VERSION = re.compile(r'\$OARVersion = "([^"]+)"')


@dataclass(frozen=True, slots=True)
class Oar:
    """The implementation of `simunix.rjms.adapter.Rjms` for OAR."""

    name: str = "oar"
    title: str = "OAR"
    section: type[ClusterSection] = OarSection
    clients: Clients = CLIENTS
    programs: tuple[str, ...] = (layout.ALMIGHTY, layout.SSHD, layout.OARSUB)

    def version(self, root: RootTree) -> str | None:
        """Return the version of OAR, as found in OAR's own library; see `Rjms.version`."""
        if not (root.has(layout.ALMIGHTY) and root.has(layout.VERSION_FILE)):
            return None
        found = _VERSION.search(root.locate(layout.VERSION_FILE).read_text())
        return found[1] if found else None

    def plugins(self, root: RootTree) -> list[str]:
        """Return no plugins: Almighty starts only the schedulers that the queues name. See `Rjms.plugins`."""
        return []

    def plan(self, section: ClusterSection, key: str, site: Site) -> ClusterPlan:
        """Return the plan of an OAR cluster; see `Rjms.plan`."""
        assert isinstance(section, OarSection)
        return _plan(section, key, site)

    def news(self, line: str) -> JobNews | None:
        """See `Rjms.news`. OAR has no log that is read during a run."""
        return None

    def completed(self, records: Sequence[str]) -> dict[str, CompletedJob]:
        """Return the jobs that OAR's database lists; see `Rjms.completed`."""
        (jobs,) = records
        return accounting.parse(jobs.splitlines())


OAR = Oar()


def _plan(section: OarSection, key: str, site: Site) -> ClusterPlan:
    login, database = section.login or section.controller, section.database or section.controller
    members = list(dict.fromkeys((section.controller, login, *section.nodes)))
    everywhere = [*members, database]
    check_hosts(key, everywhere, site)
    check_packages(key, everywhere, site, layout.PACKAGES)
    check_is_root(key, "OAR", site)
    _check_scheduler(section, key, site.roots[section.controller])
    cluster = configuration.Cluster(
        controller=section.controller,
        database=database,
        cores={name: site.hardware[name].cpus for name in section.nodes},
        sockets={name: site.hardware[name].sockets for name in section.nodes},
        scheduler=section.scheduler,
    )
    postgres, here = (_postgres(site.roots[name]) for name in (database, section.controller))
    private: dict[str, tuple[PrivateSpec, ...]] = dict.fromkeys(members, daemons.PATHS)
    private[database] = (*private.get(database, ()), *daemons.DATABASE_PATHS)
    return ClusterPlan(
        rjms=OAR,
        name=section.cluster,
        controller=section.controller,
        login=login,
        files=_files(cluster, members, section, key, site),
        processes=(
            daemons.postgres(database, postgres),
            daemons.almighty(section.controller, database, here),
            *(daemons.sshd(name, index) for index, name in enumerate(section.nodes)),
            daemons.records(section.controller, database, here),
        ),
        private=private,
        records=(layout.RECORDS,),
        record_end=accounting.LAST_LINE,
        nodes=section.nodes,
        cores=sum(cluster.cores.values()),
    )


def _files(
    cluster: configuration.Cluster, members: Sequence[str], section: OarSection, key: str, site: Site
) -> tuple[FileSpec, ...]:
    """Return the oar.conf of each host: the file in the host's own root file system, with the changes that the platform
    requires, and then those of the section.
    """
    changes = {**configuration.settings(cluster), **section.configuration}
    texts = {root: root.locate(layout.CONF).read_text() for root in {site.roots[name] for name in members}}
    texts = {root: configuration.changed(text, changes, f"{key}.configuration") for root, text in texts.items()}
    return (
        *(FileSpec(name, layout.CONF, texts[site.roots[name]].encode(), layout.USER, 0o600) for name in members),
        FileSpec(cluster.controller, daemons.STATEMENTS, configuration.resources_sql(cluster).encode(), layout.USER),
        FileSpec(cluster.controller, layout.START_RANKS, configuration.start_ranks().encode(), mode=0o755),
    )


def _postgres(root: RootTree) -> str:
    """Return the folder with the programs of the newest PostgreSQL in a root."""
    versions = [path.name for path in root.locate(layout.POSTGRES_VERSIONS).iterdir() if path.name.isdigit()]
    return f"{layout.POSTGRES_VERSIONS}/{max(versions, key=int)}/bin"


def _check_scheduler(section: OarSection, key: str, root: RootTree) -> None:
    known = sorted(path.name for path in root.locate(layout.SCHEDULERS).iterdir())
    if section.scheduler is not None and section.scheduler not in known:
        raise SimunixError(f"{key}.scheduler: {section.scheduler!r} is not installed; known: {', '.join(known)}")
