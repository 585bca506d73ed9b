"""The bytes that a plan is known to write, compared with the free room on the disk."""

from __future__ import annotations

import os
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace

import pytest

from rsg_server.errors import ServerError, SimunixError
from rsg_server.options import KernelOptions
from rsg_server.platform.host import Host
from rsg_server.platform.star import star
from rsg_server.storage.run_disk import FULL_BYTES, RunDisk
from simunix.launch.limits.disk import check_disk
from simunix.launch.plan import DiskNeed, HostSpec, Plan

MIB = 1 << 20


def plan(*needs: DiskNeed) -> Plan:
    platform = star([Host("n1", (ip_address("10.0.0.1"),))])
    return Plan(name="p", platform=platform, hosts=(HostSpec("n1"),), processes=(), kernel=KernelOptions(), disk=needs)


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk with ten MiB left, and inodes."""
    status = SimpleNamespace(f_bavail=10, f_frsize=MIB, f_files=5, f_favail=5)
    monkeypatch.setattr(os, "statvfs", lambda path: status)


def test_what_fits_is_no_matter(left: None, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(MIB))
    fits = plan(DiskNeed("s.yaml:1: a", "by a", 9 * MIB, copies=(("n1", str(tmp_path)),)))
    assert check_disk(fits, tmp_path) == () == check_disk(plan(), tmp_path)


def test_what_does_not_fit_is_refused_at_the_place_of_the_largest(left: None, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(2 * MIB))
    large = DiskNeed("s.yaml:1: a", "by a", 9 * MIB)
    small = DiskNeed("s.yaml:2: b", "by b", copies=(("n1", str(tmp_path)),))
    expected = "s.yaml:1: a: the run is to write about 11 MiB (9 MiB by a, 2 MiB by b), and the disk of /out has 10 MiB left: "
    with pytest.raises(SimunixError) as caught:
        check_disk(plan(small, large), Path("/out"))
    assert str(caught.value).startswith(expected) and str(caught.value).endswith("; to try all the same: --set capacity=warn")
    (line,) = check_disk(replace(plan(small, large), capacity="warn"), Path("/out"))
    assert line.startswith(expected) and "capacity=warn" not in line


def test_the_disk_of_a_run(left: None) -> None:
    disk = RunDisk(Path("/out"))
    disk.no_room("dd[7]@n1", 10**9, is_stored=False)  # ten MiB are left: it was another disk
    with pytest.raises(ServerError, match=r"^/out: the disk of the run is full: dd\[7\]@n1 could not write at 1.500 s; free"):
        disk.no_room("dd[7]@n1", 1_500_000_000, is_stored=True)
    RunDisk().no_room("dd[7]@n1", 0, is_stored=True)


@pytest.mark.parametrize("change", [{"f_bavail": FULL_BYTES // MIB - 1}, {"f_favail": 0}])
def test_a_disk_without_bytes_or_inodes_is_full(monkeypatch: pytest.MonkeyPatch, change: dict[str, int]) -> None:
    status = SimpleNamespace(**{"f_bavail": 10, "f_frsize": MIB, "f_files": 5, "f_favail": 5, **change})
    monkeypatch.setattr(os, "statvfs", lambda path: status)
    with pytest.raises(ServerError, match="the disk of the run is full"):
        RunDisk(Path("/out")).no_room("dd", 0, is_stored=False)
