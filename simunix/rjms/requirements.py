"""What a cluster needs of the place where it is to run; each function raises SimunixError for what is missing there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rsg_server.errors import SimunixError
from simunix.ranges import fold_hosts
from simunix.rjms.adapter import Site
from simunix.roots.tree import THIS_COMPUTER


def check_hosts(key: str, names: Iterable[str], site: Site) -> None:
    """Every host that the section at `key` names is one of the scenario's."""
    for name in names:
        if name not in site.hosts:
            raise SimunixError(f"{key}: host {name!r} is not among the hosts of the scenario; known: {fold_hosts(site.hosts)}")


def check_packages(key: str, names: Sequence[str], site: Site, packages: Mapping[str, str]) -> None:
    """The root of each of these hosts has the files of an RJMS; `packages` has the Debian package of each file."""
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
    """The caller is root, since this daemon starts jobs as their users."""
    if not site.is_root:
        raise SimunixError(f"{key}: {daemon} runs jobs as other users, which needs root; run simunix with sudo")
