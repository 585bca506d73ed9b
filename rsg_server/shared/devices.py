"""Tells the shims which files stand for devices (csrc/shim/sys/device/device.c)."""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import DEVICE_INODES, DEVICE_WORDS, PAGE_FIELDS

_DEVICES: Final = PAGE_FIELDS["devices"]
_DEVICE_PROGRAMS: Final = PAGE_FIELDS["device_programs"]
_WORD_BITS: Final = 64
_GOLDEN: Final = 0x9E3779B97F4A7C15
"""2^64 by the golden ratio: the upper bits of a product with it are spread evenly."""


def bit_of(inode: int) -> int:
    """Return the number of the bit for files with this inode number; other inode numbers may share the bit."""
    return (inode * _GOLDEN & (1 << _WORD_BITS) - 1) * _WORD_BITS * DEVICE_WORDS >> _WORD_BITS


class DeviceNotices:
    """The number of devices, and a bit for the hash of each device's inode: a file whose bit is not set is no device."""

    def __init__(self, words: memoryview) -> None:
        self._words = words
        self._count = 0  # not read back: an emulated process may have written any number there

    def tell_device(self, inode: int) -> None:
        """Tell the shims that a file with this inode stands for a device."""
        bit = bit_of(inode)
        self._words[DEVICE_INODES + bit // _WORD_BITS] |= 1 << bit % _WORD_BITS
        self._count += 1
        self._words[_DEVICES] = self._count

    def tell_device_programs(self, groups: int) -> None:
        """Tell the shims how many cgroups have programs that decide who may open devices."""
        self._words[_DEVICE_PROGRAMS] = groups
