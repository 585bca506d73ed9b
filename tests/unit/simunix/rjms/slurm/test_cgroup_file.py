"""The allowed values of a cgroup.conf: hosts have cgroups of version 2, at one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.cgroup_file import check_file, check_parameters, check_releases


def test_version_1_is_refused_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "cgroup.conf"
    file.write_text("ConstrainCores=yes\n# old\ncgroupPlugin=cgroup/v1\n")
    with pytest.raises(SimunixError) as refused:
        check_file(file)
    assert str(refused.value) == (
        f"{file}:3: cgroupPlugin=cgroup/v1: hosts have cgroups of version 2; write cgroup/v2, or leave it out"
    )
    file.write_text("CgroupMountpoint=/cgroup\n")
    with pytest.raises(SimunixError, match=r"conf:1: CgroupMountpoint=/cgroup: hosts have their cgroups at /sys/fs/cgroup"):
        check_file(file)


def test_what_version_2_takes_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "cgroup.conf"
    file.write_text("CgroupAutomount=yes CgroupMountpoint=/sys/fs/cgroup/\nCgroupPlugin=autodetect\nConstrainDevices=yes\n")
    check_file(file)
    check_parameters("slurm", {"CgroupPlugin": "cgroup/v2", "ConstrainCores": True})


def test_the_scenarios_own_parameters_are_refused_by_their_key() -> None:
    with pytest.raises(SimunixError, match=r"^slurm.cgroup.CgroupPlugin: cgroup/v1: hosts have cgroups of version 2; write"):
        check_parameters("slurm", {"CgroupPlugin": "cgroup/v1"})


def test_a_release_that_knows_version_1_alone_is_refused() -> None:
    check_releases("slurm", {"a": (22, 5), "b": (26, 5)})
    with pytest.raises(SimunixError, match=r"^slurm: Slurm 20.11 of b knows cgroups of version 1 alone.*proctrack/pgid"):
        check_releases("slurm", {"a": (22, 5), "b": (20, 11)})
