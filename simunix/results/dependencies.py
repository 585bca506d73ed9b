"""List the properties of this computer on which an event log depends besides the scenario: the processor, packages,
plugins of an RJMS, the caller's limits.

A package's build decides which calls a program makes; a daemon that lists its folder of plugins finds each installed
plugin. The list of packages and plugins goes to packages.txt; run.json contains its checksum.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rsg_server.whole_files import whole_file
from simunix.launch.limits.limits import lowered_limits
from simunix.launch.plan import HostSpec
from simunix.rjms.registry import RJMSS
from simunix.roots.tree import RootTree

PACKAGES_FILE = "packages.txt"
STATUS, LISTS = "/var/lib/dpkg/status", "/var/lib/dpkg/info"
_PACKAGE = re.compile(
    r"^Package: (\S+)$.*?^Status: (.*?)$.*?^Architecture: (\S+)$.*?^Version: (\S+)$", re.MULTILINE | re.DOTALL
)


def packages(root: RootTree) -> list[str]:
    """Return the packages that are installed in a root, with their versions, sorted; [] for a root without dpkg."""
    try:
        text = root.locate(STATUS).read_text(errors="replace")
    except OSError:
        return []
    stanzas = (_PACKAGE.search(stanza) for stanza in text.split("\n\n"))
    return sorted(f"{found[1]}:{found[3]} {found[4]}" for found in stanzas if found and found[2].endswith(" installed"))


def owners(root: RootTree, files: Iterable[Path]) -> dict[Path, str]:
    """Return the packages, with their versions, to which files of a root belong, by file. Files of no package are left
    out.

    The files are given as this computer sees them, without links. Since /bin is a link to /usr/bin, packages may list
    either path.
    """
    names: dict[bytes, Path] = {}
    for file in files:
        inside = f"/{file.relative_to(root.path)}"
        names |= {b"\n" + name.encode() + b"\n": file for name in (inside, inside.removeprefix("/usr"))}
    versions: dict[str, str] = {}
    for name, _, version in (one.partition(" ") for one in packages(root)):
        package = name.partition(":")[0]
        # the second form is needed if several architectures are possible
        versions |= dict.fromkeys((package, name), f"{package} {version}")
    found: dict[Path, str] = {}
    for listing in sorted(root.locate(LISTS).glob("*.list")) if names else ():
        text = _content(listing)
        found |= {file: versions[listing.stem] for line, file in names.items() if line in text and listing.stem in versions}
    return found


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def processor() -> str:
    """Return the processor's name, on which C libraries base their choice of functions."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor()
    return cpu_model(text) or platform.processor()


def cpu_model(cpuinfo: str) -> str | None:
    """Return the model name of the first processor in /proc/cpuinfo; None if there is none."""
    found = re.search(r"^model name\s*: (.*)$", cpuinfo, re.MULTILINE)
    return found[1].strip() if found else None


def listed(roots: Iterable[RootTree]) -> list[str]:
    """Return a line for every package and plugin of every root: the root's path, the kind, the name and the version."""
    lines = []
    for root in roots:
        lines += [f"{root.path} package {package}" for package in packages(root)]
        for name, rjms in RJMSS.items():
            lines += [f"{root.path} plugin {name}/{plugin}" for plugin in rjms.plugins(root)]
    return lines


def write_packages(directory: Path, text: str) -> None:
    """Write packages.txt; `dependencies` returns its text."""
    with whole_file(directory / PACKAGES_FILE) as file:
        file.write(text)


def dependencies(hosts: Iterable[HostSpec]) -> tuple[dict[str, Any], str]:
    """Return the entries of run.json about the computer, packages, plugins and limits, and the text of packages.txt."""
    lines = listed(dict.fromkeys(host.root for host in hosts))
    text = "".join(f"{line}\n" for line in lines)
    found = {
        "machine": platform.machine(),
        "processor": processor(),
        "packages": sum(" package " in line for line in lines),
        "plugins": sum(" plugin " in line for line in lines),
        "lowered_limits": lowered_limits(),
        "list_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    return found, text
