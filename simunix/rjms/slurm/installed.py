"""Whether an installed Slurm knows what a slurm.conf says: its parameters by Slurm's own library, its plugins by their files.

slurmctld and slurmd end at a word or a plugin that they do not know, each at its own moment and in its own log. This module
says so before the start, for all of them at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import Line, read_lines, read_text
from simunix.rjms.slurm.parameters import OF_MANY, Value
from simunix.rjms.slurm.releases import LIBRARIES, version
from simunix.roots.tree import RootTree

PLUGINS = {
    **{f"{kind}type": kind for kind in ("select", "priority", "preempt", "auth", "cred", "proctrack", "switch")},
    "accountingstoragetype": "accounting_storage",
    "acctgatherenergytype": "acct_gather_energy",
    "acctgatherfilesystemtype": "acct_gather_filesystem",
    "acctgatherinterconnecttype": "acct_gather_interconnect",
    "acctgatherprofiletype": "acct_gather_profile",
    "authalttypes": "auth",
    "burstbuffertype": "burst_buffer",
    "clifilterplugins": "cli_filter",
    "jobacctgathertype": "jobacct_gather",
    "jobcomptype": "jobcomp",
    "jobcontainertype": "job_container",
    "jobsubmitplugins": "job_submit",
    "mcsplugin": "mcs",
    "mpidefault": "mpi",
    "nodefeaturesplugins": "node_features",
    "powerplugin": "power",
    "prepplugins": "prep",
    "prioritysitefactorplugin": "site_factor",
    "routeplugin": "route",
    "schedulertype": "sched",
    "taskplugin": "task",
    "topologyplugin": "topology",
}
"""Parameters that name plugins, by their names in small letters, and the kind of plugin, with which its file's name begins."""
PACKAGES = {"auth_jwt": "slurm-wlm-jwt-plugin", "accounting_storage_mysql": "slurm-wlm-mysql-plugin"}
"""Plugins that Debian has in packages of their own."""
WHAT = "a slurm.conf"
LEAST = "clustername"
"""What every library of Slurm knows: one that does not is not asked."""
ORIGIN = re.compile(r"# from (.+:\d+)")
"""A line that `simunix slurm import` writes before one that it has taken over."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A word and its value in a slurm.conf; `is_parameter` if it does not describe nodes or partitions."""

    place: str
    name: str
    value: str
    is_parameter: bool = True


@dataclass(frozen=True, slots=True)
class Installed:
    """A Slurm as it is installed: its version, the texts of its library in small letters, the folder of its plugins."""

    root: RootTree
    version: str
    texts: bytes
    folder: Path

    def refusals(self, settings: Iterable[Setting]) -> Iterator[tuple[Setting, str]]:
        """Yield what of a configuration this Slurm would end at, with the reason and what may take its place."""
        told = tuple(settings)
        folders = self._folders({each.name.lower(): each.value for each in told}.get("plugindir", ""))
        files = {file.stem for folder in folders for file in folder.glob("*.so")}
        for each in told:
            if not self._knows(each.name):
                yield each, f"Slurm {self.version} knows no such word; take it out, or give a release that knows it"
            elif each.is_parameter:
                yield from ((each, reason) for reason in self._without_plugin(each, files, folders))

    def _folders(self, given: str) -> list[Path]:
        """Return where plugins are looked for: in the folder of the library, unless PluginDir says otherwise. man
        slurm.conf(5).
        """
        return [self.root.locate(each) for each in given.split(":")] if given else [self.folder]

    def _knows(self, name: str) -> bool:
        """Return whether the library has the word; it may be the end of a longer one, as the linker stores both once."""
        return f"{name.lower()}\0".encode() in self.texts

    def _without_plugin(self, each: Setting, files: set[str], folders: list[Path]) -> Iterator[str]:
        kind = PLUGINS.get(each.name.lower())
        found = sorted(file.removeprefix(f"{kind}_") for file in files if file.startswith(f"{kind}_"))
        if kind is None or not found:  # this release has no plugins of this kind, and ignores the parameter
            return
        for value in filter(None, each.value.split(",")):
            name = value.strip().removeprefix(f"{kind}/")
            if name in ("none", *found):
                continue
            package = PACKAGES.get(f"{kind}_{name}")
            other = f"install {package}, or " if package else ""
            yield (
                f"Slurm {self.version} has no plugin {kind}/{name} in {', '.join(map(str, folders))}; "
                f"{other}give one that is there: {', '.join(found)}"
            )


def installed(root: RootTree) -> Installed | None:
    """Return the Slurm of a root; None if there is none, or its library cannot be asked."""
    library = next((path for pattern in LIBRARIES for path in sorted(root.path.glob(pattern))), None)
    release = version(root)
    if library is None or release is None:
        return None
    found = Installed(root, release, library.read_bytes().lower(), library.parent)
    return found if found._knows(LEAST) else None


def settings_of(lines: Iterable[Line], of_many: Iterable[str]) -> Iterator[Setting]:
    """Yield what lines say, and where: for a line that was taken over from a site's file, the place in that file."""
    texts: dict[Path, list[str]] = {}
    for line in lines:
        before = texts.setdefault(line.path, read_text(line.path, WHAT).split("\n"))[max(0, line.number - 2)]
        origin = ORIGIN.fullmatch(before)
        place = f"{line.place} (from {origin[1]})" if origin else line.place
        yield from (Setting(place, name, value, line.first not in of_many) for name, value in line.pairs.values())


def check_installed(config: Path | None, parameters: Mapping[str, Value], key: str, roots: Iterable[RootTree]) -> None:
    """Refuse a configuration that a Slurm of these roots would end at. Raises SimunixError with all that is wrong."""
    given = [Setting(f"{key}.parameters.{name}", name, str(value)) for name, value in parameters.items() if value is not None]
    replaced = {name.lower() for name in parameters}
    if config is not None:
        lines = settings_of(read_lines(config, WHAT), OF_MANY)
        given += [each for each in lines if not (each.is_parameter and each.name.lower() in replaced)]
    if not given:
        return
    for root in dict.fromkeys(roots):
        found = installed(root)
        wrong = [] if found is None else list(found.refusals(given))
        if wrong:
            told = "; ".join(f"({number}) {told_of(*each)}" for number, each in enumerate(wrong, 1))
            raise SimunixError(f"{key}: Slurm would not start; settings that it does not know: {told} (docs/guide/slurm.md)")


def told_of(setting: Setting, reason: str) -> str:
    """Place, setting and reason as one text."""
    return f"{setting.place}: {setting.name}={setting.value}: {reason}"
