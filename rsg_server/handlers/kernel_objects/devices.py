"""Handles messages about files that stand for devices, and about who may open them (csrc/shim/sys/file/device.c)."""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.cgroups import control_file as cgroup_file
from rsg_server.devices.ebpf import RefusedError
from rsg_server.devices.mounts import is_of_computer
from rsg_server.devices.programs import BLOCK, CHARACTER, MAKE, READ, WRITE
from rsg_server.devices.table import MEMORY, Device, Devices
from rsg_server.handlers.table import OK, Handler, Reply, failed, handled
from rsg_server.protocol import DeviceRequest, Op, ProgramRequest

if TYPE_CHECKING:
    from rsg_server.cgroups.cgroups import Cgroups
    from rsg_server.process.actor import Actor
    from rsg_server.process.host_state import Launcher

_UNSIGNED = (1 << 64) - 1


def _access(flags: int) -> int:
    """Return the kinds of access (READ, WRITE) that open(2) with these flags asks for."""
    mode = flags & os.O_ACCMODE
    return (0 if mode == os.O_WRONLY else READ) | (WRITE if mode != os.O_RDONLY or flags & os.O_TRUNC else 0)


def _split(number: int) -> tuple[int, int]:
    """Return the major and minor number of a device number, in the encoding of mknod(2) (new_decode_dev of Linux)."""
    return (number & 0xFFF00) >> 8, (number & 0xFF) | (number >> 12 & 0xFFF00)


class DeviceHandlers:
    """Handles DEVICE and DEVICE_PROGRAM."""

    def __init__(self, devices: Devices, cgroups: Cgroups, launcher: Launcher) -> None:
        self._devices, self._cgroups, self._launcher = devices, cgroups, launcher

    def table(self) -> dict[int, Handler]:
        """Return the handlers of this class, by the number of their message."""
        return handled(
            {
                Op.DEVICE: self.device,
                Op.DEVICE_PROGRAM: self.program,
            },
            makes_descriptors=(Op.DEVICE,),
        )

    def device(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Handle a request about a file that may stand for a device; enum simunix_device says what the arguments c and
        d and the reply mean.

        [what, st_dev, st_ino, c, d] -> see there; -ENOENT if the file stands for no device.
        """
        what, first, second = arguments[0], arguments[3], arguments[4]
        if what == DeviceRequest.OPEN_REAL:
            return OK if self._may(actor, _access(arguments[1]), Device(first, *_split(second))) else failed(errno.EPERM)
        if what == DeviceRequest.ON_MOUNT:
            return OK if self._is_for_devices(actor, arguments[1], first) else failed(errno.EACCES)
        file = arguments[1] & _UNSIGNED, arguments[2] & _UNSIGNED
        if what == DeviceRequest.MADE:
            made = Device(first, *_split(second))
            if not self._may(actor, MAKE, made):
                return failed(errno.EPERM)
            self._devices.made(file, made)
            return OK
        if what == DeviceRequest.FORGET:
            self._devices.forget(file)
            return OK
        found = self._devices.at(file)
        if found is None:
            return failed(errno.ENOENT)
        if what == DeviceRequest.TELL:
            return Reply((0, found.kind, found.major, found.minor))
        if what == DeviceRequest.DESCRIPTOR:
            return self._descriptor(actor, found, first)
        if not self._may(actor, _access(first), found):
            return failed(errno.EPERM)
        driver = self._devices.driver(actor.process.host.name, found)
        return failed(errno.ENXIO) if driver is None else Reply((int(driver),))

    def _is_for_devices(self, actor: Actor, device: int, mount: int) -> bool:
        """Return whether a mount has its flag `nodev` only because it shows a file system of this computer."""
        init = os.path.dirname(self._launcher.files_of(actor.process.host.name))
        return is_of_computer((f"/proc/{actor.process.global_pid}", init), mount, device)

    def _may(self, actor: Actor, access: int, what: Device) -> bool:
        """Return whether the device programs of a process's cgroup allow it to open or make a device."""
        if not self._devices.programs.are_used:
            return True
        try:
            group = self._cgroups.of(actor.process.host).group_of(actor.process)
        except cgroup_file.RefusedError:
            return True
        kind = BLOCK if stat.S_ISBLK(what.kind) else CHARACTER
        return self._devices.programs.allow(group, access, kind, what.number)

    def _descriptor(self, actor: Actor, found: Device, flags: int) -> Reply:
        """Return a descriptor of the host's own device with a number, for a caller that may not find it, e.g. after a
        chroot(2).
        """
        path = MEMORY.get(found.number)
        if path is None:
            return failed(errno.ENXIO)
        try:
            return Reply(fds=(os.open(self._launcher.files_of(actor.process.host.name) + path, flags | os.O_CLOEXEC),))
        except OSError as error:
            return failed(error.errno or errno.EIO)

    def program(self, actor: Actor, arguments: Sequence[Any]) -> Reply:
        """Handle a request about an eBPF program for devices; enum simunix_device_program says what a to d and the reply mean.

        [what, a, b, c, d, bytes] -> [0, number, bytes].
        """
        what, first, second, third, fourth, content = arguments
        try:
            if what == ProgramRequest.LOAD:
                return Reply((0, self._load(actor, first, second, content), b""))
            if what == ProgramRequest.FIND:
                return Reply((0, self._devices.programs.find(first).number, b""))
            group = self._cgroups.of(actor.process.host).groups.get(first)
            if group is None:
                return failed(errno.EBADF)
            if what == ProgramRequest.ATTACH:
                self._devices.programs.attach(group, second, third, fourth)
            elif what == ProgramRequest.DETACH:
                self._devices.programs.detach(group, second)
            else:
                flags, numbers = self._devices.programs.of(group, counts=bool(second))
                return Reply((0, flags, struct.pack(f"<{len(numbers)}I", *numbers)))
        except (RefusedError, cgroup_file.RefusedError) as error:
            return failed(error.number)
        return Reply((0, 0, b""))

    def _load(self, actor: Actor, offset: int, size: int, content: bytes) -> int:
        """Load one part of an eBPF program. Return the program's number when it is complete, and 0 before."""
        parts = self._devices.programs.parts
        whole = (parts.pop(actor.number, b"") if offset else b"") + content
        if len(whole) >= size:
            return self._devices.programs.load(whole)
        parts[actor.number] = whole
        return 0
