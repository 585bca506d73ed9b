"""Find the root file system of each host of a scenario, and the hosts whose root user is root of this computer."""

from __future__ import annotations

from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.roots.tree import THIS_COMPUTER, RootTree, open_root
from simunix.scenario.model import Scenario


def host_roots(scenario: Scenario, folder: Path) -> dict[str, RootTree]:
    """Return every host's root file system by the host's name: the host's own `root`, else the `root` of the scenario,
    else the root of this computer. Relative paths are relative to `folder`.
    """
    opened: dict[Path, RootTree] = {}
    roots = {}
    for index, section in enumerate(scenario.hosts):
        path, key = section.root, f"hosts[{index}].root"
        if path is None:
            path, key = scenario.root or Path("/"), "root"
        roots.update(dict.fromkeys(section.name, _open(folder / _home(path, key), key, opened)))
    return roots


def privileged_hosts(scenario: Scenario) -> frozenset[str]:
    """Return the hosts whose root user is root of this computer, by the host's key `privileged`, else by that of the
    scenario.
    """
    said = ((section, scenario.privileged if section.privileged is None else section.privileged) for section in scenario.hosts)
    return frozenset(name for section, is_privileged in said if is_privileged for name in section.name)


def _home(path: Path, key: str) -> Path:
    """Return the path with a ~ at its beginning replaced by the home folder."""
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise SimunixError(f"{key}: {path}: no user of that name has a home folder; write the folder itself") from error


def _open(path: Path, key: str, opened: dict[Path, RootTree]) -> RootTree:
    if path == Path("/"):
        return THIS_COMPUTER
    if path not in opened:
        try:
            opened[path] = open_root(path)
        except SimunixError as error:
            raise SimunixError(f"{key}: {error}") from error
    return opened[path]
