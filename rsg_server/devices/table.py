"""The files that stand for devices, and the drivers that hosts have.

A file is known by its file system and inode on this computer's kernel: hosts that share a folder see the same device there.
A host has the drivers of the devices that it was given before its daemons began, and of /dev/null and its like. A device of
any other number can be made and looked at, but not be opened (ENXIO), as on Linux.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from typing import Protocol

from rsg_server.devices.programs import Programs
from rsg_server.protocol import Driver

MEMORY = {(1, 5): "/dev/zero", (1, 7): "/dev/full"}
"""Devices that each host has in its own /dev, by number. A program that opens another file with such a number gets these."""
DRIVERS = {
    (1, 3): Driver.NOTHING,
    **dict.fromkeys(MEMORY, Driver.MEMORY),
    (1, 8): Driver.RANDOM,
    (1, 9): Driver.RANDOM,
    (5, 0): Driver.TERMINAL,
}
"""The drivers that every host has, see null(4), random(4), tty(4)."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device by its type (bits of st_mode) and number."""

    kind: int
    major: int
    minor: int

    @property
    def number(self) -> tuple[int, int]:
        """The major and minor number, by which the kernel finds the driver."""
        return self.major, self.minor


class Notices(Protocol):
    """The part of rsg_server/shared/devices.py that is used here: messages to the shims."""

    def tell_device(self, inode: int) -> None: ...
    def tell_device_programs(self, groups: int) -> None: ...


class Devices:
    """All devices of a run, and the programs that decide who may open them. The shims learn of both."""

    def __init__(self, notices: Notices) -> None:
        self._tell = notices.tell_device
        self.programs = Programs(notices.tell_device_programs)
        self._of: dict[tuple[int, int], Device] = {}
        self._drivers: dict[str, set[tuple[int, int]]] = {}

    def made(self, file: tuple[int, int], device: Device) -> None:
        """Note that a file (st_dev, st_ino) stands for a device from now on."""
        self._of[file] = device
        self._tell(file[1])

    def given(self, host: str, file: tuple[int, int], major: int, minor: int) -> None:
        """Note a character device that a host was given at its start; its driver does nothing."""
        self._drivers.setdefault(host, set()).add((major, minor))
        self.made(file, Device(stat.S_IFCHR, major, minor))

    def forget(self, file: tuple[int, int]) -> None:
        """Forget that a file stands for a device: its inode belongs to another file now."""
        self._of.pop(file, None)

    def at(self, file: tuple[int, int]) -> Device | None:
        """Return the device for which a file stands; None if the file is no device."""
        return self._of.get(file)

    def driver(self, host: str, device: Device) -> Driver | None:
        """Return the driver that opens a device on a host; None if there is no driver."""
        if device.kind != stat.S_IFCHR:
            return None
        if device.number in self._drivers.get(host, ()):
            return Driver.NOTHING
        return DRIVERS.get(device.number)
