"""Choose the major and minor numbers of the devices of hosts: those that Linux uses for known file names, free ones for
all others.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DeviceNode:
    """A character device below /dev of a host; reading and writing it does nothing."""

    path: str
    major: int
    minor: int


KNOWN: Sequence[tuple[str, int, int]] = (
    (r"/dev/nvidia(\d+)", 195, 0),
    (r"/dev/nvidiactl", 195, 255),
    (r"/dev/nvidia-modeset", 195, 254),
    (r"/dev/dri/card(\d+)", 226, 0),
    (r"/dev/dri/renderD(\d+)", 226, 0),
    (r"/dev/infiniband/umad(\d+)", 231, 0),
    (r"/dev/infiniband/issm(\d+)", 231, 64),
    (r"/dev/infiniband/uverbs(\d+)", 231, 192),
)
"""Patterns of paths, the major number, and the minor number to which the number in the path is added, from drivers and
Linux's devices.txt.
"""
FREE = range(511, 383, -1)
"""The major numbers that Linux gives to drivers without a number of their own, in Linux's order (fs/char_dev.c)."""


def numbered(paths: Mapping[str, Sequence[str]]) -> dict[str, tuple[DeviceNode, ...]]:
    """Return the devices of each host, given the paths of its devices. A path has one number on all hosts."""
    every = dict.fromkeys(path for found in paths.values() for path in found)
    stems = dict.fromkeys(_stem(path)[0] for path in every if _known(path) is None)
    majors = dict(zip(stems, FREE, strict=False))
    nodes = {path: DeviceNode(path, *(_known(path) or _free(path, majors))) for path in every}
    return {host: tuple(nodes[path] for path in found) for host, found in paths.items()}


def _known(path: str) -> tuple[int, int] | None:
    for pattern, major, first in KNOWN:
        if found := re.fullmatch(pattern, path):
            return major, first + int("".join(found.groups()) or 0)
    return None


def _stem(path: str) -> tuple[str, int]:
    """Split a path into its stem and the number at its end."""
    stem = path.rstrip("0123456789")
    return stem, int(path[len(stem) :] or 0)


def _free(path: str, majors: Mapping[str, int]) -> tuple[int, int]:
    stem, minor = _stem(path)
    return majors.get(stem, FREE[-1]), minor
