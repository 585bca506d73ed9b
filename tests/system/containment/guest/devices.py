"""Ways by devices: nodes that are made, found below covers, or that lie about; terminals and loop devices."""

from __future__ import annotations

import os
import stat

from ways import LIBC, Outside, mount, nest, opened, place, try_all, uncover, way

KINDS = {"disk": stat.S_IFBLK, "memory": stat.S_IFCHR, "log": stat.S_IFCHR, "ports": stat.S_IFCHR}


def _numbers(which: str, outside: Outside) -> tuple[int, int]:
    if which == "disk":
        major, minor = outside.disk.split(":")
        return int(major), int(minor)
    return {"memory": (1, 1), "log": (1, 11), "ports": (1, 4)}[which]


def _make_and_open(folder: str, which: str, outside: Outside) -> str:
    path = f"{folder}/node-{which}-{os.getpid()}"
    os.mknod(path, KINDS[which] | 0o600, os.makedev(*_numbers(which, outside)))
    try:
        return opened(path, os.O_RDONLY)
    finally:
        os.unlink(path)


@way
def node_of_a_disk(outside: Outside) -> str:
    return _make_and_open(outside.folder, "disk", outside)


@way
def node_of_memory(outside: Outside) -> str:
    return _make_and_open(outside.folder, "memory", outside)


@way
def node_of_ports(outside: Outside) -> str:
    return _make_and_open(outside.folder, "ports", outside)


@way
def node_of_the_log(outside: Outside) -> str:
    return _make_and_open(outside.folder, "log", outside)


@way
def node_on_a_fresh_tmpfs(outside: Outside) -> str:
    path = place("nodes")
    mount("none", path, "tmpfs", 0, "mode=755")
    return _make_and_open(path, "disk", outside)


@way
def node_in_a_nested_user_namespace(outside: Outside) -> str:
    nest("mnt")
    path = "/tmp"
    mount("none", path, "tmpfs")
    return _make_and_open(path, "disk", outside)


@way
def node_that_lies_about(outside: Outside) -> str:
    return opened(f"{outside.folder}/node", os.O_RDONLY)


@way
def node_that_lies_about_on_a_remounted_file_system(outside: Outside) -> str:
    mount("", outside.folder, "", 32 | 4096)  # without nodev
    return opened(f"{outside.folder}/node", os.O_RDONLY)


def _found(names: tuple[str, ...]) -> list[str]:
    uncover("/dev")
    return [f"/dev/{name}" for name in sorted(os.listdir("/dev")) if name.startswith(names)]


@way
def disks_below_covers(outside: Outside) -> str:
    return try_all([lambda path=path: opened(path, os.O_RDONLY) for path in _found(("vd", "sd", "nvme", "xvd"))])


@way
def disks_below_covers_by_their_group(outside: Outside) -> str:
    found = _found(("vd", "sd", "nvme", "xvd"))
    os.setgroups([6])
    os.setresgid(6, 6, 6)
    os.setresuid(1234, 1234, 1234)
    return try_all([lambda path=path: opened(path, os.O_RDONLY) for path in found])


@way
def memory_below_covers(outside: Outside) -> str:
    return try_all([lambda path=path: opened(path, os.O_RDONLY) for path in _found(("mem", "port", "kmsg"))])


@way
def loop_devices(outside: Outside) -> str:
    uncover("/dev")
    fd = os.open("/dev/loop-control", os.O_RDWR)
    return f"loop device {LIBC.ioctl(fd, 0x4C82)}"


@way
def terminals_below_covers(outside: Outside) -> str:
    uncover("/dev/pts")
    uncover("/dev")
    fd = os.open(f"/dev/pts/{outside.terminal}", os.O_RDWR | os.O_NOCTTY)
    os.write(fd, b"simunix-contained")
    return "wrote to a terminal"


@way
def terminals_by_their_group(outside: Outside) -> str:
    uncover("/dev/pts")
    uncover("/dev")
    os.setgroups([5])
    os.setresgid(5, 5, 5)
    fd = os.open(f"/dev/pts/{outside.terminal}", os.O_WRONLY | os.O_NOCTTY)
    os.write(fd, b"simunix-contained")
    return "wrote to a terminal"


@way
def nodes_in_the_computers_dev(outside: Outside) -> str:
    uncover("/dev")
    os.mkdir("/dev/simunix-contained")
    return "made a folder in the computer's /dev"
