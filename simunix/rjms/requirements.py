"""Check what a cluster needs of its hosts and of the caller. Each function raises SimunixError if something is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rsg_server.errors import SimunixError
from simunix.ranges import fold_hosts
from simunix.rjms.adapter import Site
from simunix.roots.tree import THIS_COMPUTER


def check_hosts(key: str, names: Iterable[str], site: Site) -> None:
    """Check that every host which the section at `key` names is a host of the scenario."""
    for name in names:
        if name not in site.hosts:
            raise SimunixError(f"{key}: host {name!r} is not among the hosts of the scenario; known: {fold_hosts(site.hosts)}")


def check_packages(key: str, names: Sequence[str], site: Site, packages: Mapping[str, str]) -> None:
    """Check that the roots of these hosts have the files of an RJMS; `packages` has the Debian package of each file."""
    for root in dict.fromkeys(site.roots[name] for name in names):
        missing = sorted({package for path, package in packages.items() if not root.has(path)})
        if missing and root == THIS_COMPUTER:
            raise SimunixError(f"{key}: not installed: {', '.join(missing)}; as root: apt-get install {' '.join(missing)}")
        if missing:
            wanted = " ".join(dict.fromkeys(packages.values()))
            raise SimunixError(
                f"{key}: not installed in the root {root.path}: {', '.join(missing)}; make it with {wanted} python3"
            )


def check_is_root(key: str, daemon: str, site: Site) -> None:
    """Check that the caller is root, which this daemon must be to start jobs as their users."""
    if not site.is_root:
        raise SimunixError(f"{key}: {daemon} runs jobs as other users, which needs root; run simunix with sudo")
