"""Which eBPF programs decide for a cgroup, by BPF_PROG_ATTACH and the tree of groups; devices and their drivers."""

from __future__ import annotations

import errno
import stat
import struct

import pytest

from rsg_server.cgroups.group import Group
from rsg_server.devices.ebpf import RefusedError
from rsg_server.devices.programs import CHARACTER, MULTI, OVERRIDE, READ, REPLACE, Programs
from rsg_server.devices.table import Device, Devices
from rsg_server.protocol import Driver

NVIDIA = 195


def group(name: str, parent: Group | None = None) -> Group:
    return Group(name, parent, 1, frozenset())


def only(minor: int) -> bytes:
    """A program that allows one device of all."""
    return b"".join(
        struct.pack("<BBhi", *parts)
        for parts in (
            (0x61, 0x12, 8, 0),  # r2 = minor
            (0xB7, 0, 0, 0),  # r0 = 0
            (0x55, 2, 1, minor),  # skip the next if r2 is another
            (0xB7, 0, 0, 1),
            (0x95, 0, 0, 0),
        )
    )


class Page:
    """What the shims would be told of devices."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def tell_device(self, inode: int) -> None:
        self.told.append(inode)

    def tell_device_programs(self, groups: int) -> None:
        """Nobody asks."""


class Tree:
    """A job in a slice, and its step, with programs that allow one device each."""

    def __init__(self) -> None:
        self.told: list[int] = []
        self.programs = Programs(self.told.append)
        self.root = group("")
        self.slice = group("slice", self.root)
        self.job = group("job", self.slice)
        self.step = group("step", self.job)
        self.numbers = [self.programs.load(only(minor)) for minor in range(3)]

    def attach(self, at: Group, minor: int, flags: int = 0, replaced: int | None = None) -> int:
        """0 or the errno."""
        try:
            self.programs.attach(at, self.numbers[minor], flags, 0 if replaced is None else self.numbers[replaced])
        except RefusedError as error:
            return error.number
        return 0

    def detach(self, at: Group, number: int = 0) -> int:
        try:
            self.programs.detach(at, number)
        except RefusedError as error:
            return error.number
        return 0

    def allowed(self, at: Group) -> list[int]:
        """Which of the devices 0 to 2 a process of the group may open."""
        return [minor for minor in range(3) if self.programs.allow(at, READ, CHARACTER, (NVIDIA, minor))]


def test_a_group_without_programs_has_those_of_the_nearest_above() -> None:
    tree = Tree()
    assert tree.allowed(tree.step) == [0, 1, 2]
    assert tree.attach(tree.job, 1) == 0
    assert (tree.allowed(tree.step), tree.allowed(tree.job), tree.allowed(tree.slice)) == ([1], [1], [0, 1, 2])
    assert tree.attach(tree.step, 2) == errno.EPERM  # the group above lets nobody have its own
    assert tree.attach(tree.job, 0) == 0  # in the place of the former one
    assert tree.allowed(tree.step) == [0]
    assert tree.attach(tree.job, 0, OVERRIDE) == errno.EPERM
    assert tree.detach(tree.job) == 0 and tree.detach(tree.job) == errno.ENOENT
    assert tree.allowed(tree.step) == [0, 1, 2]
    assert tree.told[-1] == 0


def test_one_that_may_be_overridden_gives_way() -> None:
    tree = Tree()
    assert tree.attach(tree.job, 1, OVERRIDE) == 0 and tree.attach(tree.step, 2, OVERRIDE) == 0
    assert tree.allowed(tree.step) == [2]
    tree.programs.removed(tree.step)
    assert tree.allowed(tree.step) == [1]


def test_of_several_all_must_allow() -> None:
    tree = Tree()
    assert tree.attach(tree.slice, 1, MULTI) == 0 and tree.attach(tree.job, 1, MULTI) == 0
    assert tree.allowed(tree.step) == [1]
    assert tree.attach(tree.job, 2, MULTI) == 0 and tree.attach(tree.job, 2, MULTI) == errno.EINVAL
    assert tree.allowed(tree.step) == [] and tree.allowed(tree.slice) == [1]
    assert tree.programs.of(tree.job, counts=False) == (MULTI, [tree.numbers[1], tree.numbers[2]])
    assert tree.programs.of(tree.job, counts=True) == (0, [tree.numbers[1], tree.numbers[2], tree.numbers[1]])
    assert tree.attach(tree.job, 1, MULTI | REPLACE, replaced=0) == errno.EINVAL  # it is there already
    assert tree.attach(tree.job, 0, MULTI | REPLACE, replaced=0) == errno.ENOENT
    assert tree.attach(tree.job, 0, MULTI | REPLACE, replaced=2) == 0
    assert tree.detach(tree.job) == errno.EINVAL and tree.detach(tree.job, tree.numbers[2]) == errno.ENOENT
    assert tree.detach(tree.job, tree.numbers[0]) == 0 and tree.detach(tree.job, tree.numbers[1]) == 0
    assert tree.programs.of(tree.job, counts=False) == (0, [])
    assert tree.attach(tree.step, 0, MULTI | OVERRIDE) == tree.attach(tree.step, 0, REPLACE) == errno.EINVAL


def test_equal_programs_are_one() -> None:
    programs = Programs(lambda count: None)
    assert programs.load(only(1)) == programs.load(only(1)) != programs.load(only(2))
    with pytest.raises(RefusedError):
        programs.load(only(1)[:-8])


def test_a_device_has_a_driver_on_the_host_that_was_given_it() -> None:
    page = Page()
    devices = Devices(page)
    devices.given("node1", (5, 17), NVIDIA, 0)
    devices.made((5, 18), Device(stat.S_IFBLK, NVIDIA, 0))
    gpu = devices.at((5, 17))
    assert gpu == Device(stat.S_IFCHR, NVIDIA, 0) and page.told == [17, 18]
    assert devices.driver("node1", gpu) is Driver.NOTHING and devices.driver("node2", gpu) is None
    assert devices.driver("node1", Device(stat.S_IFBLK, NVIDIA, 0)) is None
    assert devices.driver("node2", Device(stat.S_IFCHR, 1, 5)) is Driver.MEMORY
    devices.forget((5, 17))
    assert devices.at((5, 17)) is None
