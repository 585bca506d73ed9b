"""Check a slurm.conf against an installed Slurm: parameters by the texts in Slurm's library, plugins by their files.

slurmctld and slurmd end if they find an unknown parameter or plugin, each at its own moment and with a message in its
own log. This module reports all such errors before the start.
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
"""The parameters that name plugins, in lower case, and the kind of plugin, which begins the plugin's file name."""
PACKAGES = {"auth_jwt": "slurm-wlm-jwt-plugin", "accounting_storage_mysql": "slurm-wlm-mysql-plugin"}
"""The plugins of Slurm that are in separate Debian packages, and the package of each."""
WHAT = "a slurm.conf"
LEAST = "clustername"
"""A parameter that every library of Slurm knows. A library without this text cannot be used for checks."""
ORIGIN = re.compile(r"# from (.+:\d+)")
"""The pattern of the comment that `simunix slurm import` writes before a line which it copied from a site's file."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter and its value in a slurm.conf. `is_parameter` is false for words that describe nodes or partitions."""

    place: str
    name: str
    value: str
    is_parameter: bool = True


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed Slurm: its version, the texts in its library in lower case, and the folder of its plugins."""

    root: RootTree
    version: str
    texts: bytes
    folder: Path

    def refusals(self, settings: Iterable[Setting]) -> Iterator[tuple[Setting, str]]:
        """Yield each setting at which this Slurm's daemons would end, with the reason and what may replace the setting."""
        told = tuple(settings)
        folders = self._folders({each.name.lower(): each.value for each in told}.get("plugindir", ""))
        files = {file.stem for folder in folders for file in folder.glob("*.so")}
        for each in told:
            if not self._knows(each.name):
                yield each, f"Slurm {self.version} knows no such word; take it out, or give a release that knows it"
            elif each.is_parameter:
                yield from ((each, reason) for reason in self._without_plugin(each, files, folders))

    def _folders(self, given: str) -> list[Path]:
        """Return the folders in which plugins are searched: the library's folder, unless PluginDir names others; see
        slurm.conf(5).
        """
        return [self.root.locate(each) for each in given.split(":")] if given else [self.folder]

    def _knows(self, name: str) -> bool:
        """Return whether the library contains a word. The word may be the end of a longer text, because the linker
        stores both once.
        """
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
    """Return the Slurm that is installed in a root; None if there is none, or if its library contains no usable texts."""
    library = next((path for pattern in LIBRARIES for path in sorted(root.path.glob(pattern))), None)
    release = version(root)
    if library is None or release is None:
        return None
    found = Installed(root, release, library.read_bytes().lower(), library.parent)
    return found if found._knows(LEAST) else None


def settings_of(lines: Iterable[Line], of_many: Iterable[str]) -> Iterator[Setting]:
    """Yield the settings in lines, with their places. For a line that was copied from a site's file, the place is in
    that file.
    """
    texts: dict[Path, list[str]] = {}
    for line in lines:
        before = texts.setdefault(line.path, read_text(line.path, WHAT).split("\n"))[max(0, line.number - 2)]
        origin = ORIGIN.fullmatch(before)
        place = f"{line.place} (from {origin[1]})" if origin else line.place
        yield from (Setting(place, name, value, line.first not in of_many) for name, value in line.pairs.values())


def check_installed(config: Path | None, parameters: Mapping[str, Value], key: str, roots: Iterable[RootTree]) -> None:
    """Raise SimunixError, with all errors, for a configuration at which the daemons of a Slurm in these roots would
    end.
    """
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
    """Return the place of a setting, the setting, and the reason of its refusal as one line of text."""
    return f"{setting.place}: {setting.name}={setting.value}: {reason}"
