"""Checks the programs of a scenario before it is run."""

from __future__ import annotations

import os
from collections.abc import Iterator

from simunix.coverage.check import Context, Report, check_command
from simunix.launch.plan import ProcessSpec
from simunix.planning.expand import Expansion
from simunix.roots.tree import RootTree


def check_programs(expansion: Expansion) -> list[Report]:
    """Return a report on each program that the hosts will run, for each user that runs it and each root file system."""
    roots = {host.name: host.root for host in expansion.plan.hosts}
    found: dict[tuple[str, str | None, RootTree], Report] = {}
    seen = set()
    for process in (*expansion.plan.processes, *_clients(expansion)):
        root = roots[process.host]
        if (process.argv, process.user, root) in seen:
            continue
        seen.add((process.argv, process.user, root))
        environment = {**expansion.plan.environment, **process.environment}
        library_path = environment.get("LD_LIBRARY_PATH", "")
        context = Context(environment.get("PATH", os.defpath), process.directory, process.user, library_path, root)
        for report in check_command(process.argv, context):
            found.setdefault((report.name, process.user, root), report)
    return list(found.values())


def _clients(expansion: Expansion) -> Iterator[ProcessSpec]:
    """Yield the commands that submit jobs, which every cluster needs although no process of the plan starts them."""
    started = {os.path.basename(process.argv[0]) for process in expansion.plan.processes}
    for cluster in expansion.clusters:
        for program in cluster.rjms.programs:
            if os.path.basename(program) not in started:
                yield ProcessSpec("client", next(iter(cluster.private)), (program,))
