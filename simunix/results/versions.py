"""Describe the software of a run's hosts: the root file systems with their releases, and the programs that the plan
started.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simunix.coverage.check import Context, programs_of
from simunix.launch.plan import HostSpec, Plan
from simunix.results.dependencies import owners
from simunix.results.run_json import sha256_of
from simunix.rjms.adapter import ClusterPlan
from simunix.rjms.registry import RJMSS
from simunix.roots.tree import THIS_COMPUTER, RootTree


def describe_roots(hosts: Sequence[HostSpec]) -> list[dict[str, object]]:
    """Return a row for every root file system that hosts used: its release, C library and RJMSs. `/` is this computer's
    own.
    """
    return [
        {
            "path": str(root.path),
            "release": root.release(),
            "glibc": root.glibc(),
            **{name: rjms.version(root) for name, rjms in RJMSS.items()},
            "hosts": [host.name for host in hosts if host.root == root],
        }
        for root in dict.fromkeys(host.root for host in hosts)
    ]


def describe_rjms(clusters: Sequence[ClusterPlan], hosts: Sequence[HostSpec]) -> str | None:
    """Return the versions of the clusters' controllers, such as `slurm 20.11.4, slurm 24.11.5`; None without a cluster."""
    roots = {host.name: host.root for host in hosts}
    versions = dict.fromkeys(f"{cluster.rjms.name} {cluster.rjms.version(roots[cluster.controller])}" for cluster in clusters)
    return ", ".join(versions) or None


def describe_programs(plan: Plan) -> dict[str, dict[str, str | None]]:
    """Return path, checksum and package of each program that the plan starts by its full path.

    The keys of the result are the paths of the programs, with the root file system's path in front if the root is not
    `/`.
    """
    found = program_files(plan)
    packages: dict[Path, str] = {}
    for root in {root for root, _ in found.values()}:
        packages |= owners(root, [file for tree, file in found.values() if tree == root])
    return {
        name: {"path": str(file), "sha256": sha256_of(file), "package": packages.get(file)} for name, (_, file) in found.items()
    }


def program_files(plan: Plan) -> dict[str, tuple[RootTree, Path]]:
    """Return the root and the file of each program that the plan starts by its full path, including programs that a
    shell starts.
    """
    roots = {host.name: host.root for host in plan.hosts}
    found: dict[str, tuple[RootTree, Path]] = {}
    for process in plan.processes:
        root = roots[process.host]
        for name in programs_of(process.argv, Context(path="", tree=root)):
            if name.startswith("/") and (name == process.argv[0] or root.has(name)):
                key = name if root == THIS_COMPUTER else f"{name} in {root.path}"
                found[key] = root, root.locate(name)
    return found
