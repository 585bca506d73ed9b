"""The adapter for HTCondor: it turns the `htcondor:` section of a scenario into files, paths and daemons of hosts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rsg_server.errors import SimunixError
from simunix.rjms.adapter import Clients, ClusterPlan, ClusterSection, CompletedJob, JobNews, Site
from simunix.rjms.htcondor import accounting, daemons, layout
from simunix.rjms.htcondor.clients import clients_of
from simunix.rjms.htcondor.configuration import Pool, changes_of
from simunix.rjms.htcondor.section import HTCondorSection
from simunix.rjms.requirements import check_hosts, check_is_root
from simunix.roots.tree import THIS_COMPUTER, RootTree

PACKAGE = "condor"
"""The Debian package that has all daemons and commands of HTCondor."""
PROGRAMS = (
    layout.MASTER,
    *(f"/usr/sbin/condor_{name}" for name in ("collector", "negotiator", "schedd", "shadow", "startd", "starter")),
    *(f"/usr/bin/condor_{name}" for name in ("submit", "q", "history", "release")),
)
_VERSION = re.compile(rb"\$CondorVersion: (\d+\.\d+\.\d+) ")


@dataclass(frozen=True, slots=True)
class HTCondor:
    """The implementation of `simunix.rjms.adapter.Rjms` for HTCondor. `clients` depends on the nodes of a pool, because
    the words of a submission depend on them.
    """

    clients: Clients
    name: str = "htcondor"
    title: str = "HTCondor"
    section: type[ClusterSection] = HTCondorSection
    programs: tuple[str, ...] = PROGRAMS

    def version(self, root: RootTree) -> str | None:
        """Return the version of HTCondor, as found in condor_submit; see `Rjms.version`."""
        program = root.locate("/usr/bin/condor_submit")
        found = _VERSION.search(program.read_bytes()) if program.is_file() else None
        return found[1].decode() if found else None

    def plugins(self, root: RootTree) -> list[str]:
        """Return no plugins, since HTCondor's daemons load none; see `Rjms.plugins`."""
        return []

    def plan(self, section: ClusterSection, key: str, site: Site) -> ClusterPlan:
        """Return the plan of an HTCondor pool; see `Rjms.plan`."""
        assert isinstance(section, HTCondorSection)
        return _plan(section, key, site)

    def news(self, line: str) -> JobNews | None:
        """See `Rjms.news`. HTCondor has no log that is read during a run."""
        return None

    def completed(self, records: Sequence[str]) -> dict[str, CompletedJob]:
        """Return the jobs that HTCondor's history file lists; see `Rjms.completed`."""
        return accounting.parse(line for text in records for line in text.splitlines())


HTCONDOR = HTCondor(clients_of((1,)))


def _plan(section: HTCondorSection, key: str, site: Site) -> ClusterPlan:
    login = section.login or section.controller
    members = list(dict.fromkeys((section.controller, login, *section.nodes)))
    _check(key, members, site)
    pool = Pool(
        name=section.cluster,
        controller=section.controller,
        login=login,
        nodes=frozenset(section.nodes),
        changes=changes_of(section.configuration, f"{key}.configuration"),
    )
    cores = [site.hardware[name].cpus for name in section.nodes]
    return ClusterPlan(
        rjms=replace(HTCONDOR, clients=clients_of(cores)),
        name=section.cluster,
        controller=section.controller,
        login=login,
        files=tuple(file for name in members for file in daemons.host_files(pool, name, site.seed)),
        processes=tuple(daemons.master(pool, name, index) for index, name in enumerate(members)),
        private=dict.fromkeys(members, daemons.PRIVATE),
        records=(layout.HISTORY,),
        record_mark=f"\n{accounting.BANNER}".encode(),
        nodes=section.nodes,
        cores=sum(cores),
    )


def _check(key: str, members: Sequence[str], site: Site) -> None:
    """Raise SimunixError for a host that the scenario lacks, for a host without HTCondor, and for a caller who is not
    root.
    """
    check_hosts(key, members, site)
    for root in dict.fromkeys(site.roots[name] for name in members):
        missing = [program for program in PROGRAMS if not root.has(program)]
        if missing and root == THIS_COMPUTER:
            raise SimunixError(f"{key}: no {missing[0]}; as root: apt-get install {PACKAGE} (from Debian 13 on), or use a root")
        if missing:
            raise SimunixError(f"{key}: no {missing[0]} in the root {root.path}; make it with {PACKAGE} python3")
    check_is_root(key, "condor_starter", site)
