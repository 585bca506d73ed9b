"""The mounts that show a file system of this computer are found by the files of /proc about processes' mounts."""

from __future__ import annotations

import os
from pathlib import Path

from rsg_server.devices.mounts import devices_by_mount, is_of_computer


def folder(path: Path, mounts: dict[int, str]) -> str:
    """A process's folder of /proc that tells these mounts: their numbers, and their file systems."""
    path.mkdir()
    lines = (f"{number} 1 {device} / /at\\040{number} rw - tmpfs none rw\n" for number, device in mounts.items())
    (path / "mountinfo").write_text("".join(lines))
    return str(path)


def test_the_first_process_that_sees_the_mount_tells(tmp_path: Path) -> None:
    here = next(iter(devices_by_mount("/proc/self/mountinfo").values()))
    process = folder(tmp_path / "process", {7: here, 8: "77:99"})
    init = folder(tmp_path / "init", {8: here, 9: here, 10: "77:99"})
    found = [is_of_computer((process, init), mount, os.makedev(77, 99)) for mount in (7, 8, 9, 10)]
    assert found == [True, False, True, False]


def test_a_mount_that_nobody_sees_is_known_by_its_files(tmp_path: Path) -> None:
    major, minor = next(iter(devices_by_mount("/proc/self/mountinfo").values())).split(":")
    processes = (str(tmp_path / "gone"), folder(tmp_path / "init", {}))
    assert is_of_computer(processes, 7, os.makedev(int(major), int(minor)))
    assert not is_of_computer(processes, 7, os.makedev(77, 99))
