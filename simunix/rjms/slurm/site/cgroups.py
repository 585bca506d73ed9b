"""Adapt a site's cgroup.conf to the hosts of a run, which have cgroups of version 2 in the usual place.

On a host of the run, slurmd gets its scope from the system bus, as from systemd on the site's nodes. So no parameter is
added.
"""

from __future__ import annotations

from pathlib import Path

from simunix.rjms.slurm.files.lines import Line, file_text, read_lines
from simunix.rjms.slurm.site.changes import Change

VERSION = "hosts have cgroups of version 2"
MOUNTPOINT = "/sys/fs/cgroup"
PATHS = ("cgroupmountpoint", "alloweddevicesfile", "cgroupreleaseagentdir", "cgroupreleaseagent")
LEFT_OUT = "left out: hosts have their cgroups where Slurm looks for them"


def cgroup_text(path: Path, changes: list[Change]) -> str:
    """Return the adapted cgroup.conf. Differences from the site's file are added to `changes`. Raises SimunixError with
    file and line.
    """
    lines: list[Line] = []
    for line in read_lines(path, "a cgroup.conf"):
        for name, (written, value) in line.pairs.items():
            if name in PATHS and Path(value) != Path(MOUNTPOINT):
                changes.append(Change(line.place, f"{written}={value}", LEFT_OUT))
            elif name == "cgroupplugin" and value not in ("autodetect", "cgroup/v2"):
                changes.append(Change(line.place, f"{written}={value}", f"cgroup/v2: {VERSION}"))
                lines.append(line.with_pairs({name: (written, "cgroup/v2")}))
            else:
                lines.append(line.with_pairs({name: (written, value)}))
    return file_text(lines)
