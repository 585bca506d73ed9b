"""A site's cgroup.conf as hosts without systemd need it: with cgroups of version 2, which the daemons make by themselves."""

from __future__ import annotations

from pathlib import Path

from simunix.rjms.slurm.configuration import CGROUPS_IN_USE
from simunix.rjms.slurm.files.lines import Line, file_text, pair_text, read_lines
from simunix.rjms.slurm.site.changes import Change

VERSION = "hosts have cgroups of version 2"
ADDED = "added: hosts have no systemd"
PATHS = ("cgroupmountpoint", "alloweddevicesfile", "cgroupreleaseagentdir", "cgroupreleaseagent")
LEFT_OUT = "left out: hosts have their cgroups where Slurm looks for them"


def cgroup_text(path: Path, changes: list[Change]) -> str:
    """The cgroup.conf that runs; what is not as it was is added to the changes. Raises SimunixError with file and line."""
    lines: list[Line] = []
    said: set[str] = set()
    for line in read_lines(path, "a cgroup.conf"):
        for name, (written, value) in line.pairs.items():
            said.add(name)
            if name in PATHS:
                changes.append(Change(line.place, f"{written}={value}", LEFT_OUT))
            elif name == "cgroupplugin" and value not in ("autodetect", "cgroup/v2"):
                changes.append(Change(line.place, f"{written}={value}", f"cgroup/v2: {VERSION}"))
                lines.append(line.with_pairs({name: (written, "cgroup/v2")}))
            else:
                lines.append(line.with_pairs({name: (written, value)}))
    text = file_text(lines)
    for name, value in CGROUPS_IN_USE.items():
        if name.lower() not in said:
            text += pair_text(name, value) + "\n"
            changes.append(Change(str(path), f"{name}={value}", ADDED if name == "IgnoreSystemd" else f"added: {VERSION}"))
    return text
