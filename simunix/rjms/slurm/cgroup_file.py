"""Check a cgroup.conf if plugins of slurm.conf use cgroups: emulated hosts have only cgroups of version 2, mounted at
the usual place.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.configuration import FIRST_WITH_V2
from simunix.rjms.slurm.files.lines import read_lines
from simunix.rjms.slurm.releases import Release

MOUNT_POINT = "/sys/fs/cgroup"
VERSION = "hosts have cgroups of version 2; write cgroup/v2, or leave it out"
WANTED: Mapping[str, tuple[tuple[str, ...], str]] = {
    "cgroupplugin": (
        ("cgroup/v2", "autodetect", "disabled"),
        "hosts have cgroups of version 2; write cgroup/v2, or leave it out",
    ),
    "cgroupmountpoint": ((MOUNT_POINT,), f"hosts have their cgroups at {MOUNT_POINT}; leave it out"),
}
"""By the lower-case name of a parameter of cgroup.conf: the values that hosts support, and what the error message says
about other values.
"""


def check_releases(key: str, members: Mapping[str, Release]) -> None:
    """Raise SimunixError for a host whose Slurm release has no plugin for cgroups of version 2."""
    for name, release in members.items():
        if release < FIRST_WITH_V2:
            raise SimunixError(
                f"{key}: Slurm {release[0]}.{release[1]:02} of {name} knows cgroups of version 1 alone, and hosts have"
                " version 2; take ProctrackType=proctrack/pgid, TaskPlugin=task/none, JobAcctGatherType=jobacct_gather/none"
            )


def check_parameters(key: str, parameters: Mapping[str, object]) -> None:
    """Raise SimunixError if the scenario's own parameters of cgroup.conf ask for cgroups that hosts do not have."""
    for name, value in parameters.items():
        _check(f"{key}.cgroup.{name}: {value}", name, str(value))


def check_file(path: Path) -> None:
    """Raise SimunixError, with file and line, if a cgroup.conf asks for cgroups that hosts do not have."""
    for line in read_lines(path, "a cgroup.conf"):
        for name, (written, value) in line.pairs.items():
            _check(f"{line.place}: {written}={value}", name, value)


def _check(where: str, name: str, value: str) -> None:
    values, reason = WANTED.get(name.lower(), ((), ""))
    if reason and value.lower().rstrip("/") not in values:
        raise SimunixError(f"{where}: {reason}")
