"""Tells the shims, by words in shared memory, which files may stand for devices (csrc/shim/sys/device/device.c)."""

from __future__ import annotations

from typing import Final

from rsg_server.protocol import DEVICE_INODES, DEVICE_WORDS, PAGE_FIELDS

_DEVICES: Final = PAGE_FIELDS["devices"]
_DEVICE_PROGRAMS: Final = PAGE_FIELDS["device_programs"]
_WORD_BITS: Final = 64
_GOLDEN: Final = 0x9E3779B97F4A7C15
"""2^64 divided by the golden ratio. The upper bits of a product with this number are spread evenly."""


def bit_of(inode: int) -> int:
    """Return the number of the bit for files with an inode number. Other inode numbers may have the same bit."""
    return (inode * _GOLDEN & (1 << _WORD_BITS) - 1) * _WORD_BITS * DEVICE_WORDS >> _WORD_BITS


class DeviceNotices:
    """A bit for each inode of a device's file, by its hash: a file whose bit is 0 is no device.

    Besides, the number of devices.
    """

    def __init__(self, words: memoryview) -> None:
        self._words = words
        self._count = 0  # counted here and not read from shared memory, where an emulated process may write any number

    def tell_device(self, inode: int) -> None:
        """Tell the shims that a file with this inode number stands for a device."""
        bit = bit_of(inode)
        self._words[DEVICE_INODES + bit // _WORD_BITS] |= 1 << bit % _WORD_BITS
        self._count += 1
        self._words[_DEVICES] = self._count

    def tell_device_programs(self, groups: int) -> None:
        """Tell the shims how many cgroups have eBPF programs that decide who may open devices."""
        self._words[_DEVICE_PROGRAMS] = groups
