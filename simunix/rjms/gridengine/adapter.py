"""The adapter for Grid Engine: it turns the `gridengine:` section of a scenario into files, paths and daemons of hosts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from simunix.launch.plan import FileSpec
from simunix.rjms.adapter import Clients, ClusterPlan, ClusterSection, CompletedJob, JobNews, Site
from simunix.rjms.gridengine import accounting, configuration, daemons, layout
from simunix.rjms.gridengine.clients import CLIENTS
from simunix.rjms.gridengine.section import GridEngineSection
from simunix.rjms.requirements import check_hosts, check_is_root, check_packages
from simunix.roots.tree import RootTree

PACKAGES = {
    f"{layout.PROGRAMS}/sge_qmaster": "gridengine-master",
    f"{layout.PROGRAMS}/sge_execd": "gridengine-exec",
    f"{layout.PROGRAMS}/qsub": "gridengine-client",
}
"""The programs that must be installed for Grid Engine, and the Debian package of each."""
_VERSION = re.compile(rb"Grid Engine\0[^.]{0,8}?(\d+\.\d+\.\d+)\0")


@dataclass(frozen=True, slots=True)
class GridEngine:
    """The implementation of `simunix.rjms.adapter.Rjms` for Grid Engine."""

    name: str = "gridengine"
    title: str = "Grid Engine"
    section: type[ClusterSection] = GridEngineSection
    clients: Clients = CLIENTS
    programs: tuple[str, ...] = tuple(PACKAGES)

    def version(self, root: RootTree) -> str | None:
        """Return the version of Grid Engine, as found in the qmaster's file; see `Rjms.version`."""
        program = root.path / f"{layout.PROGRAMS}/sge_qmaster".lstrip("/")
        found = _VERSION.search(program.read_bytes()) if program.is_file() else None
        return found[1].decode() if found else None

    def plugins(self, root: RootTree) -> list[str]:
        """Return no plugins: Grid Engine's daemons load only the spooling library that their bootstrap file names. See
        `Rjms.plugins`.
        """
        return []

    def plan(self, section: ClusterSection, key: str, site: Site) -> ClusterPlan:
        """Return the plan of a Grid Engine cluster; see `Rjms.plan`."""
        assert isinstance(section, GridEngineSection)
        return _plan(section, key, site)

    def news(self, line: str) -> JobNews | None:
        """See `Rjms.news`. Grid Engine has no log that is read during a run."""
        return None

    def completed(self, records: Sequence[str]) -> dict[str, CompletedJob]:
        """Return the jobs that Grid Engine's accounting lists; see `Rjms.completed`."""
        jobs, allocations = records
        return accounting.parse(jobs.splitlines(), allocations.splitlines())


GRIDENGINE = GridEngine()


def _plan(section: GridEngineSection, key: str, site: Site) -> ClusterPlan:
    login = section.login or section.controller
    members = list(dict.fromkeys((section.controller, login, *section.nodes)))
    check_hosts(key, members, site)
    check_packages(key, members, site, PACKAGES)
    check_is_root(key, "sge_execd", site)
    cell = configuration.Cell(
        controller=section.controller,
        submitters=(login, section.controller),
        slots={name: site.hardware[name].cpus for name in section.nodes},
        queue=section.queue,
        scheduler=configuration.changed(configuration.SCHEDULER, section.scheduler, f"{key}.scheduler"),
        configuration=configuration.changed(configuration.CONFIGURATION, section.configuration, f"{key}.configuration"),
    )
    execds = (daemons.execd(name, index) for index, name in enumerate(section.nodes))
    return ClusterPlan(
        rjms=GRIDENGINE,
        name=section.cluster,
        controller=section.controller,
        login=login,
        files=_files(cell),
        processes=(daemons.qmaster(section.controller, len(section.nodes)), *execds),
        private={name: daemons.private_paths(name == section.controller, name in section.nodes) for name in members},
        records=(layout.ACCOUNTING, layout.HOST_FILES),
        nodes=section.nodes,
        cores=sum(cell.slots.values()),
        environment=layout.ENVIRONMENT,
    )


def _files(cell: configuration.Cell) -> tuple[FileSpec, ...]:
    """Return the files of the cluster: on the controller, or in the folder that all hosts of the cluster share."""
    texts = {**configuration.shared_files(cell), **configuration.master_files(cell)}
    programs = {layout.KEEP_HOSTS: configuration.keep_hosts(), layout.START_RANKS: configuration.start_ranks()}
    return (
        *(FileSpec(cell.controller, path, text.encode()) for path, text in texts.items()),
        *(FileSpec(cell.controller, path, text.encode(), mode=0o755) for path, text in programs.items()),
        FileSpec(cell.controller, layout.HOST_FILES, b"", mode=0o666),
    )
