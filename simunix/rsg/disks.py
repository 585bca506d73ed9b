"""Disks of hosts, and reads and writes on them, for actors of Remote SimGrid."""

from __future__ import annotations

from enum import Enum
from itertools import count
from typing import Any

from simunix.rsg._librsg import ffi, lib
from simunix.rsg.connection import call, number
from simunix.rsg.errors import AssertionError
from simunix.rsg.waiting import Activity


class Disk:
    """A disk of a host, identified by its number."""

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
        """The disk's name on its host."""
        raw: bytes = ffi.string(self._state().name)
        return raw.decode()

    @property
    def read_bandwidth(self) -> float:
        """The bandwidth of all reads together, in bytes per second."""
        return float(self._state().read_bandwidth)

    @property
    def write_bandwidth(self) -> float:
        """The bandwidth of all writes together, in bytes per second."""
        return float(self._state().write_bandwidth)

    def read(self, size: float, priority: float = 1.0) -> int:
        """Read `size` bytes, and wait for the end; return the number of bytes read."""
        call(lib.rsg_io, self.number, 0, size, priority, about=f"read from {self.name}")
        return int(size)

    def write(self, size: float, priority: float = 1.0) -> int:
        """Write `size` bytes, and wait for the end; return the number of bytes written."""
        call(lib.rsg_io, self.number, 1, size, priority, about=f"write to {self.name}")
        return int(size)

    def io_init(self, size: float, operation: Io.OpType) -> Io:
        """Return a read or a write that has not begun."""
        return Io(self, size, operation)

    def read_async(self, size: float) -> Io:
        """Begin to read `size` bytes, and return the activity."""
        io: Io = self.io_init(size, Io.OpType.READ).start()
        return io

    def write_async(self, size: float) -> Io:
        """Begin to write `size` bytes, and return the activity."""
        io: Io = self.io_init(size, Io.OpType.WRITE).start()
        return io


def disks_of(host: int) -> list[Disk]:
    """Return the disks of the host with a number, in the platform's order."""
    found = []
    for place in count():
        try:
            found.append(Disk(number(lib.rsg_disk_at, host, place)))
        except AssertionError:
            break
    return found


class Io(Activity):
    """A read or a write of bytes on a disk."""

    class OpType(Enum):
        """The kind of the activity: read or write."""

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
        """Wait for the end, for at most `timeout` seconds; return at once if `test` has reported the end. Raises
        TimeoutException when the time is over.
        """
        if not self._is_over:
            super().wait_for(timeout)
        return self

    def set_priority(self, priority: float) -> Io:
        """Give the activity `priority` times the share of an ordinary read or write; return the activity."""
        self._priority = priority
        self._set_term(lib.RSG_WEIGHT, priority)
        return self

    def update_priority(self, priority: float) -> Io:
        """Change the priority of a running read or write; return the activity."""
        call(lib.rsg_set_priority, self._number, priority)
        return self
