"""Which release of Slurm each host has, read from its root file system."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rsg_server.errors import SimunixError
from simunix.roots.tree import THIS_COMPUTER, RootTree

Release = tuple[int, int]
"""A release of Slurm as year and month: (24, 11)."""

REQUIRED = {
    "/usr/sbin/munged": "munge",
    "/usr/sbin/slurmctld": "slurmctld",
    "/usr/sbin/slurmd": "slurmd",
    "/usr/bin/sbatch": "slurm-client",
}
"""The programs that must be installed for Slurm, and the Debian package of each."""
OLDEST: Release = (20, 11)
LIBRARIES = (
    "usr/lib/*/slurm*/libslurmfull.so",
    "usr/lib*/slurm*/libslurmfull.so",
    "usr/local/lib*/slurm*/libslurmfull.so",
)
_VERSION = re.compile(rb"\0(\d\d\.\d\d\.\d+)\0")


def version(root: RootTree) -> str | None:
    """Return the version of the Slurm in a root, such as `24.11.5`, from the text of Slurm's own library; None if the
    root has no Slurm.
    """
    for pattern in LIBRARIES:
        for library in sorted(root.path.glob(pattern)):
            found = _VERSION.search(library.read_bytes())
            if found:
                return found[1].decode()
    return None


def plugins(root: RootTree) -> list[str]:
    """Return the names of the files in the folders of Slurm's libraries, nearly all of which are plugins."""
    found = (file for pattern in LIBRARIES for library in root.path.glob(pattern) for file in library.parent.glob("*.so"))
    return sorted({file.name for file in found})


def of_roots(key: str, roots: Mapping[str, RootTree]) -> dict[str, Release]:
    """Return each host's Slurm release by host name. Raises SimunixError if a root has no Slurm, or one that is too
    old.
    """
    found = {root: _of_root(key, root) for root in dict.fromkeys(roots.values())}
    return {name: found[root] for name, root in roots.items()}


def _of_root(key: str, root: RootTree) -> Release:
    missing = sorted({package for program, package in REQUIRED.items() if not root.has(program)})
    installed = version(root)
    if missing or installed is None:
        names = ", ".join(missing or ["slurm-wlm"])
        if root == THIS_COMPUTER:
            raise SimunixError(f"{key}: not installed: {names}; as root: apt-get install slurm-wlm munge")
        raise SimunixError(f"{key}: not installed in the root {root.path}: {names}; make it with slurm-wlm munge python3")
    year, month = (int(part) for part in installed.split(".")[:2])
    if (year, month) < OLDEST:
        raise SimunixError(f"{key}: Slurm {installed} in {root.path} is older than 20.11, the oldest that simunix configures")
    return year, month
