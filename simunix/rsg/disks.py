"""Disks of hosts, and what is read and written on them."""

from __future__ import annotations

from enum import Enum
from itertools import count
from typing import Any

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.connection import call, number
from simunix.rsg.errors import AssertionError
from simunix.rsg.waiting import Activity


class Disk:
    """A disk of a host, known by its number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"Disk({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Disk) and other.number == self.number

    def __hash__(self) -> int:
        return hash(self.number)

    def _state(self) -> Any:
        state = ffi.new("struct rsg_disk_state *")
        call(lib.rsg_disk_state, self.number, state)
        return state

    @property
    def name(self) -> str:
        """The name that its host has for it."""
        raw: bytes = ffi.string(self._state().name)
        return raw.decode()

    @property
    def read_bandwidth(self) -> float:
        """Bytes per second of all that is read."""
        return float(self._state().read_bandwidth)

    @property
    def write_bandwidth(self) -> float:
        """Bytes per second of all that is written."""
        return float(self._state().write_bandwidth)

    def read(self, size: float, priority: float = 1.0) -> int:
        """Read so many bytes, and wait for that: how many."""
        call(lib.rsg_io, self.number, 0, size, priority, about=f"read from {self.name}")
        return int(size)

    def write(self, size: float, priority: float = 1.0) -> int:
        """Write so many bytes, and wait for that: how many."""
        call(lib.rsg_io, self.number, 1, size, priority, about=f"write to {self.name}")
        return int(size)

    def io_init(self, size: float, operation: Io.OpType) -> Io:
        """Return a read or a write that is still to begin."""
        return Io(self, size, operation)

    def read_async(self, size: float) -> Io:
        """Begin to read."""
        io: Io = self.io_init(size, Io.OpType.READ).start()
        return io

    def write_async(self, size: float) -> Io:
        """Begin to write."""
        io: Io = self.io_init(size, Io.OpType.WRITE).start()
        return io


def disks_of(host: int) -> list[Disk]:
    """Return the disks of the host of a number, in the order in which the platform has them."""
    found = []
    for place in count():
        try:
            found.append(Disk(number(lib.rsg_disk_at, host, place)))
        except AssertionError:
            break
    return found


class Io(Activity):
    """Bytes that are read or written."""

    class OpType(Enum):
        """What is done."""

        READ = 0
        WRITE = 1

    def __init__(self, disk: Disk, size: float, operation: OpType) -> None:
        super().__init__()
        self._disk, self._size, self._operation = disk, size, operation
        self._priority = 1.0

    def __repr__(self) -> str:
        return f"{'read from' if self._operation is Io.OpType.READ else 'write to'} {self._disk.name}"

    def _create(self, begins: bool) -> int:
        operation = lib.rsg_io_async if begins else lib.rsg_io_init
        return number(operation, self._disk.number, self._operation.value, self._size, self._priority, about=repr(self))

    def wait_for(self, timeout: float) -> Io:
        """Wait for the end, for so many seconds; at once if `test` has told it. Raises TimeoutException after that."""
        if not self._is_over:
            super().wait_for(timeout)
        return self

    def set_priority(self, priority: float) -> Io:
        """Return so many times the share of an ordinary read or write."""
        self._priority = priority
        self._set_term(lib.RSG_WEIGHT, priority)
        return self

    def update_priority(self, priority: float) -> Io:
        """Another share from now on."""
        call(lib.rsg_set_priority, self._number, priority)
        return self
