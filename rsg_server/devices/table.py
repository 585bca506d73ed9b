"""Records which files stand for devices, and which drivers each host has.

A file is named by its file system and inode of the real kernel, so hosts that share a folder see the same device there.
A host has drivers for devices such as /dev/null, and for the devices that a scenario gives the host before its daemons
start. A device with any other number can be made and looked at, but open(2) fails with ENXIO, as on Linux.
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from typing import Protocol

from rsg_server.devices.programs import Programs
from rsg_server.protocol import Driver

MEMORY = {(1, 5): "/dev/zero", (1, 7): "/dev/full"}
"""The path of some devices in every host's /dev, by major and minor number.

A program that opens any file which stands for such a device gets the file at this path.
"""
DRIVERS = {
    (1, 3): Driver.NOTHING,
    **dict.fromkeys(MEMORY, Driver.MEMORY),
    (1, 8): Driver.RANDOM,
    (1, 9): Driver.RANDOM,
    (5, 0): Driver.TERMINAL,
}
"""The drivers that every host has, by type, major and minor number; see null(4), random(4), tty(4)."""


@dataclass(frozen=True, slots=True)
class Device:
    """A device, given by its type (the bits S_IFMT of st_mode) and its number (st_rdev)."""

    kind: int
    major: int
    minor: int

    @property
    def number(self) -> tuple[int, int]:
        """The major and the minor number of the device, by which the kernel finds its driver."""
        return self.major, self.minor


class Notices(Protocol):
    """The part of rsg_server/shared/devices.py that is used here: messages to the shims."""

    def tell_device(self, inode: int) -> None: ...
    def tell_device_programs(self, groups: int) -> None: ...


class Devices:
    """All devices of a run, and the eBPF programs that decide who may open them. Shims learn about both by shared memory."""

    def __init__(self, notices: Notices) -> None:
        self._tell = notices.tell_device
        self.programs = Programs(notices.tell_device_programs)
        self._of: dict[tuple[int, int], Device] = {}
        self._drivers: dict[str, set[tuple[int, int]]] = {}

    def made(self, file: tuple[int, int], device: Device) -> None:
        """Note that a file, given by st_dev and st_ino, stands for a device from now on."""
        self._of[file] = device
        self._tell(file[1])

    def given(self, host: str, file: tuple[int, int], major: int, minor: int) -> None:
        """Note a character device that a host was given at its start. The driver of such a device does nothing."""
        self._drivers.setdefault(host, set()).add((major, minor))
        self.made(file, Device(stat.S_IFCHR, major, minor))

    def forget(self, file: tuple[int, int]) -> None:
        """Forget that a file stands for a device, because the file was removed and its inode belongs to another one."""
        self._of.pop(file, None)

    def at(self, file: tuple[int, int]) -> Device | None:
        """Return the device that a file stands for; None if it is no device."""
        return self._of.get(file)

    def driver(self, host: str, device: Device) -> Driver | None:
        """Return the driver with which a host opens a device; None if the host has no driver for it."""
        if device.kind != stat.S_IFCHR:
            return None
        if device.number in self._drivers.get(host, ()):
            return Driver.NOTHING
        return DRIVERS.get(device.number)
