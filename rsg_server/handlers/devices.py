"""Devices: what the files that stand for them are, and who may open them (csrc/shim/sys/file/device.c)."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rsg_server.devices.table import MEMORY, Device
from rsg_server.handlers.table import OK, Handler, Reply, failed
from rsg_server.protocol import DeviceRequest, Op

if TYPE_CHECKING:
    from rsg_server.handlers.needs import DeviceKernel
    from rsg_server.process.actor import Actor

_UNSIGNED = (1 << 64) - 1


def device(kernel: DeviceKernel, actor: Actor, arguments: Sequence[Any]) -> Reply:
    """[what, st_dev, st_ino, a, b] -> as enum simunix_device says; -ENOENT if the file stands for no device."""
    what, first, second = arguments[0], arguments[3], arguments[4]
    file = arguments[1] & _UNSIGNED, arguments[2] & _UNSIGNED
    if what == DeviceRequest.MADE:
        kernel.devices.made(file, Device(first, *_split(second)))
        return OK
    if what == DeviceRequest.FORGET:
        kernel.devices.forget(file)
        return OK
    found = kernel.devices.at(file)
    if found is None:
        return failed(errno.ENOENT)
    if what == DeviceRequest.TELL:
        return Reply((0, found.kind, found.major, found.minor))
    if what == DeviceRequest.DESCRIPTOR:
        return _descriptor(kernel, actor, found, first)
    driver = kernel.devices.driver(actor.process.host.name, found)
    return failed(errno.ENXIO) if driver is None else Reply((int(driver),))


def _split(number: int) -> tuple[int, int]:
    """Major and minor, as mknod(2) gives them to the kernel (new_decode_dev)."""
    return (number & 0xFFF00) >> 8, (number & 0xFF) | (number >> 12 & 0xFFF00)


def _descriptor(kernel: DeviceKernel, actor: Actor, found: Device, flags: int) -> Reply:
    """The host's own device of that number, which the sender may not find, as in another root directory."""
    path = MEMORY.get(found.number)
    if path is None:
        return failed(errno.ENXIO)
    try:
        return Reply(fds=(os.open(kernel.launcher.files_of(actor.process.host.name) + path, flags | os.O_CLOEXEC),))
    except OSError as error:
        return failed(error.errno or errno.EIO)


HANDLERS: dict[int, Handler] = {int(Op.DEVICE): Handler("iiiii", device, makes_descriptors=True)}
