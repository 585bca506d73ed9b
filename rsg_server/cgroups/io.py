"""The io.* control files of cgroups: limits, weights and counts of what a group's processes do at their host's storages.

A device is named as lsblk(8) shows it: 8:16 is the first storage. The host's own disk (8:0) accepts limits, but its
operations take no time and are not counted. A write-back counts for the group that has written the file last. Weights
are stored and can be read, but change no share, as on Linux for disks without io.cost.qos and the scheduler bfq.
"""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

from rsg_server.cgroups.control_file import EVERYWHERE, ControlFile, RefusedError, Request
from rsg_server.cgroups.group import NO_LIMIT, Group
from rsg_server.platform.disk import Direction
from rsg_server.storage.accounts import Account
from rsg_server.storage.disks import MAJOR, MINORS

if TYPE_CHECKING:
    from rsg_server.cgroups.hierarchy import Hierarchy

MAX, WEIGHT = "io.max", "io.weight"
KEYS = ("rbps", "wbps", "riops", "wiops")
"""The keys of io.max: bytes read and written per second, then read and write operations per second."""
WEIGHT_AT_FIRST, _WEIGHTS = 100, range(1, 10_001)
_DEVICE = r"\s*([0-9]+):\s*([0-9]+)(?=\s)"
_TOKEN = r"\S{1,26}"
_MOST_OPERATIONS = 2**32 - 1
_WRAPS = 2**64


def _devices(hierarchy: Hierarchy) -> dict[tuple[int, int], int]:
    """Return the storages of a host: the number of each by its major and minor number; -1 for the host's own disk."""
    return {(MAJOR, MINORS * (number + 1)): number for number in range(-1, len(hierarchy.host.host.disks))}


def device_and_rest(text: str) -> tuple[tuple[int, int], str]:
    """Split a written line into the device MAJ:MIN at its beginning, and the rest. Raises RefusedError for another text."""
    match = re.match(_DEVICE, text)
    if match is None:
        raise RefusedError(errno.EINVAL)
    return (int(match[1]), int(match[2])), text[match.end() :]


def limits(text: str) -> dict[str, int]:
    """Return the limits that words such as rbps=1048576 and wiops=max set; the last word for a key counts.

    Raises RefusedError for other words, as tg_set_limit of Linux does.
    """
    found = {}
    for token in re.findall(_TOKEN, text):
        key, equals, value = token.partition("=")
        number = re.match(r"[0-9]+", value)
        if not equals or (number is None and value != "max"):
            raise RefusedError(errno.EINVAL)
        limit = NO_LIMIT if number is None else int(number[0]) % _WRAPS
        if limit == 0:
            raise RefusedError(errno.ERANGE)
        if key not in KEYS or limit == 1:
            raise RefusedError(errno.EINVAL)
        is_none = limit == _WRAPS - 1
        found[key] = NO_LIMIT if is_none else min(limit, _MOST_OPERATIONS) if key.endswith("iops") else limit
    return found


def _name(device: int, key: str) -> str:
    return f"{MAX} {device} {key}"


def _limit(group: Group, device: int, key: str) -> int:
    return group.number(_name(device, key))


def _read_max(hierarchy: Hierarchy, group: Group) -> str:
    lines = []
    for (major, minor), device in _devices(hierarchy).items():
        numbers = [_limit(group, device, key) for key in KEYS]
        if any(number != NO_LIMIT for number in numbers):
            words = (f"{key}={'max' if number == NO_LIMIT else number}" for key, number in zip(KEYS, numbers, strict=True))
            lines.append(f"{major}:{minor} {' '.join(words)}\n")
    return "".join(lines)


def _write_max(request: Request) -> None:
    name, rest = device_and_rest(request.text)
    devices = _devices(request.hierarchy)
    if name not in devices:
        raise RefusedError(errno.ENODEV)
    group, device = request.group, devices[name]
    for key, limit in limits(rest).items():
        group.numbers[_name(device, key)] = limit
    if device >= 0:
        _set(request.hierarchy, group, device)


def _set(hierarchy: Hierarchy, group: Group, device: int) -> None:
    """Apply the limits of a cgroup at a storage, also to reads and writes that have begun."""
    account = account_of(hierarchy, group)
    assert account is not None
    numbers = [None if (limit := _limit(group, device, key)) == NO_LIMIT else limit for key in KEYS]
    for direction in Direction:
        account.limit((device, direction), numbers[direction], numbers[2 + direction])
        hierarchy.controlled.storages.disks.limits_changed(hierarchy.host.host, (device, direction), account)


def account_of(hierarchy: Hierarchy, group: Group) -> Account | None:
    """Return the account that a cgroup's operations at storages are counted to.

    The account belongs to the nearest group, from this one upwards, that has the controller io; None stands for the root group.
    """
    if group.parent is None:
        return None
    if "io" not in group.controllers:
        return account_of(hierarchy, group.parent)
    if group.storages is None:
        group.storages = Account(f"cgroup {hierarchy.host.name}:{group.inode}", account_of(hierarchy, group.parent))
    return group.storages


def follow(hierarchy: Hierarchy, group: Group) -> None:
    """Delete the limits and counts of a cgroup from which the controller io was taken."""
    if group.storages is None or "io" in group.controllers:
        return
    account, group.storages = group.storages, None
    for device in _devices(hierarchy).values():
        for key in KEYS:
            group.numbers.pop(_name(device, key), None)
        for direction in Direction:
            account.limit((device, direction), None, None)
            hierarchy.controlled.storages.disks.limits_changed(hierarchy.host.host, (device, direction), account)


def _stat(hierarchy: Hierarchy, group: Group) -> str:
    """Return io.stat: a line for each storage at which the cgroup has done something.

    The counts of discards (fstrim(8)) are always 0.
    """
    disks, account, lines = hierarchy.controlled.storages.disks, account_of(hierarchy, group), []
    for (major, minor), device in _devices(hierarchy).items():
        ways = [(device, direction) for direction in Direction] if device >= 0 else []
        done = [disks.done(hierarchy.host.host, way) if account is None else account.counted(way) for way in ways]
        if any(operations for _, operations in done):
            (read, reads), (written, writes) = done
            lines.append(f"{major}:{minor} rbytes={read} wbytes={written} rios={reads} wios={writes} dbytes=0 dios=0\n")
    return "".join(lines)


def weight(text: str) -> int:
    """Return the number at the beginning of a text. Raises RefusedError if there is none."""
    match = re.match(r"\s*([0-9]{1,9})", text)
    if match is None or int(match[1]) not in _WEIGHTS:
        raise RefusedError(errno.EINVAL)
    return int(match[1])


def _read_weight(hierarchy: Hierarchy, group: Group) -> str:
    text = f"default {group.number(WEIGHT, WEIGHT_AT_FIRST)}\n"
    for (major, minor), device in _devices(hierarchy).items():
        if (number := group.number(_name(device, WEIGHT))) != NO_LIMIT:
            text += f"{major}:{minor} {number}\n"
    return text


def _write_weight(request: Request) -> None:
    """Handle a write to io.weight: `[default] NUMBER`, `MAJ:MIN NUMBER` or `MAJ:MIN default` (ioc_weight_write of Linux)."""
    if ":" not in request.text:
        request.group.numbers[WEIGHT] = weight(request.text.removeprefix("default "))
        return
    name, rest = device_and_rest(request.text)
    devices = _devices(request.hierarchy)
    if name not in devices:
        raise RefusedError(errno.ENODEV)
    is_default = rest.lstrip().startswith("default")
    request.group.numbers[_name(devices[name], WEIGHT)] = NO_LIMIT if is_default else weight(rest)


FILES = (
    ControlFile("io.stat", "io", _stat, None, EVERYWHERE),
    ControlFile(MAX, "io", _read_max, _write_max),
    ControlFile(WEIGHT, "io", _read_weight, _write_weight),
)
