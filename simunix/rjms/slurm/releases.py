"""Which release of Slurm each host has, read from its root file system."""

from __future__ import annotations

from collections.abc import Mapping

from rsg_server.errors import SimunixError
from simunix.roots.tree import THIS_COMPUTER, RootTree

Release = tuple[int, int]
"""Year and month, as Slurm counts: (24, 11)."""

REQUIRED = {
    "/usr/sbin/munged": "munge",
    "/usr/sbin/slurmctld": "slurmctld",
    "/usr/sbin/slurmd": "slurmd",
    "/usr/bin/sbatch": "slurm-client",
}
"""Programs that must be installed, and the Debian package of each."""
OLDEST: Release = (20, 11)


def of_roots(key: str, roots: Mapping[str, RootTree]) -> dict[str, Release]:
    """Each host's release of Slurm, by host name. Raises SimunixError if a root has none, or one that is too old."""
    found = {root: _of_root(key, root) for root in dict.fromkeys(roots.values())}
    return {name: found[root] for name, root in roots.items()}


def _of_root(key: str, root: RootTree) -> Release:
    missing = sorted({package for program, package in REQUIRED.items() if not root.has(program)})
    version = root.slurm()
    if missing or version is None:
        names = ", ".join(missing or ["slurm-wlm"])
        if root == THIS_COMPUTER:
            raise SimunixError(f"{key}: not installed: {names}; as root: apt-get install slurm-wlm munge")
        raise SimunixError(f"{key}: not installed in the root {root.path}: {names}; make it with slurm-wlm munge python3")
    year, month = (int(part) for part in version.split(".")[:2])
    if (year, month) < OLDEST:
        raise SimunixError(f"{key}: Slurm {version} in {root.path} is older than 20.11, the oldest that simunix configures")
    return year, month
