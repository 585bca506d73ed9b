"""The disks of all hosts, and what is done to them.

A disk is three constraints of the solver that also shares links: all reads, all writes, and both together
(rsg_server/platform/disk.py). Whoever waits for something has a number of its own, and waits for one thing at a time. What goes
past the page cache of a host is an operation at once (`start`); for what goes through it, `ask` says whether there is anything
to wait for, and `wait` waits for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from rsg_server.network.sharing import DiskPath
from rsg_server.platform.disk import Direction
from rsg_server.platform.host import Host
from rsg_server.protocol import Storage
from rsg_server.storage.operation import Carrier, Operation
from rsg_server.storage.pages import PAGE_BYTES
from rsg_server.storage.room import Room
from rsg_server.storage.writeback import Done, Writeback

STORAGE_AS_SAID: Final = 2
"""The third number of PARK_STORAGE of an actor that waits for what `ask` has said."""
Plan = Callable[[Done], None]


class Network(Carrier, Protocol):
    """The network, which numbers what shares links."""

    def new_number(self) -> int: ...


def _call(action: Done) -> None:
    action()


def check_disk(host: Host, disk: int) -> None:
    """Raise ValueError for the number of a disk that a host does not have."""
    if not 0 <= disk < len(host.disks):
        raise ValueError(f"storage {disk} of host {host.name}, which has {len(host.disks)}")


class HostDisks:
    """The disks of one host, as its page cache sees them."""

    def __init__(self, storages: Storages, network: Network, host: Host) -> None:
        self._storages = storages
        self._network = network
        self._host = host

    @property
    def now_ns(self) -> int:
        """The virtual time."""
        return self._network.now_ns

    def at(self, moment_ns: int, action: Done) -> object:
        """Have an action called at a moment of virtual time."""
        return self._network.at(moment_ns, lambda: _call(action))

    def write(self, disk: int, size_bytes: int, done: Done) -> None:
        """Write bytes on a disk, whoever waits for that."""
        self._storages.operate(self._host, disk, Direction.WRITE, size_bytes, done)


class Storages:
    """Starts and ends operations; disks of a host are numbered in the order in which the host has them."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._paths: dict[tuple[str, int, int], DiskPath] = {}
        self._operations: dict[int, Operation] = {}
        self._rooms: dict[tuple[str, int], Room] = {}
        self._caches: dict[str, Writeback] = {}
        self._plans: dict[int, Plan] = {}  # what actors have been told to wait for
        self._waits: dict[int, object] = {}  # actors that wait for the page cache, each with a token of this wait

    def keep(self, host: Host, disk: int, folder: Path) -> None:
        """What is below a folder is kept on a disk of a host, and takes room there if the disk has a capacity."""
        capacity = host.disks[disk].capacity_bytes
        if capacity is not None:
            self._rooms.setdefault((host.name, disk), Room(capacity)).folders.append(folder)

    def room(self, host: Host, disk: int) -> Room | None:
        """The room of a disk; None if anything fits."""
        return self._rooms.get((host.name, disk))

    # Past the page cache

    def _path(self, host: Host, disk: int, direction: int) -> DiskPath:
        key = (host.name, disk, direction)
        path = self._paths.get(key)
        if path is None:
            check_disk(host, disk)
            route = host.disks[disk].route(host.name, Direction(direction))
            path = self._paths[key] = DiskPath(self._network.sharing, route)
        return path

    def operate(self, host: Host, disk: int, direction: int, size_bytes: int, finished: Done) -> Operation:
        """Have an operation begin now; `finished` is called once its latency and its bytes have passed, never at once.

        Raises ValueError for a disk that the host does not have, and for a size below 0.
        """
        if size_bytes < 0:
            raise ValueError(f"an operation of {size_bytes} bytes")
        path = self._path(host, disk, direction)
        return Operation(self._network.new_number(), path, size_bytes, self._network, finished)

    def start(self, waiter: int, host: Host, disk: int, direction: int, size_bytes: int, finished: Done) -> None:
        """Have an operation begin now for a waiter, whose end ends the operation; see `operate`."""

        def end() -> None:
            del self._operations[waiter]
            finished()

        self._operations[waiter] = self.operate(host, disk, direction, size_bytes, end)

    def end(self, waiter: int) -> int:
        """End what somebody waits for. Returns how many bytes of its own operation have not moved, rounded up."""
        self._plans.pop(waiter, None)
        self._waits.pop(waiter, None)
        operation = self._operations.pop(waiter, None)
        if operation is None:
            return 0
        operation.cancel()
        return math.ceil(operation.left_bytes)

    # Through the page cache

    def _cache(self, host: Host) -> Writeback:
        cache = self._caches.get(host.name)
        if cache is None:
            cache = self._caches[host.name] = Writeback(HostDisks(self, self._network, host), host.memory_bytes)
        return cache

    def lose_host(self, name: str) -> None:
        """A host has lost its power, and with it the pages in its memory. What its disks are at comes to an end."""
        cache = self._caches.pop(name, None)
        if cache is not None:
            cache.lose()

    def ask(self, waiter: int, host: Host, what: int, disk: int, file: int, offset: int, size_bytes: int) -> bool:
        """Account for what somebody has done to a file; returns whether there is anything to wait for (`wait`).

        Raises ValueError for a disk that the host does not have, for what cannot be done, and for a place below 0.
        """
        check_disk(host, disk)
        if offset < 0 or size_bytes < 0:
            raise ValueError(f"storage: {size_bytes} bytes from byte {offset} on")
        first, end = offset // PAGE_BYTES, -(-(offset + size_bytes) // PAGE_BYTES)
        if what not in _ASKED:
            raise ValueError(f"storage: no {what} can be done to a file")
        plan = _ASKED[what](self, waiter, host, disk, file, first, end)
        if plan is not None:
            self._plans[waiter] = plan
        return plan is not None

    def _read(self, waiter: int, host: Host, disk: int, file: int, first: int, end: int) -> Plan | None:
        missing = self._cache(host).cache.read(file, disk, first, end)
        return partial(self.start, waiter, host, disk, Direction.READ, missing * PAGE_BYTES) if missing else None

    def _write(self, waiter: int, host: Host, disk: int, file: int, first: int, end: int) -> Plan | None:
        cache = self._cache(host)
        return cache.wait_for_room if cache.wrote(file, disk, first, end) else None

    def _write_through(self, waiter: int, host: Host, disk: int, file: int, first: int, end: int) -> Plan | None:
        self._cache(host).wrote_through(file, disk, first, end)
        return partial(self.start, waiter, host, disk, Direction.WRITE, (end - first) * PAGE_BYTES)

    def _sync(self, waiter: int, host: Host, disk: int, file: int, first: int, end: int) -> Plan | None:
        cache = self._cache(host)
        return partial(cache.sync, file, disk) if cache.is_dirty(file, disk) else None

    def _sync_all(self, waiter: int, host: Host, disk: int, file: int, first: int, end: int) -> Plan | None:
        cache = self._cache(host)
        return partial(cache.sync_all, disk) if cache.has_dirty(disk) else None

    def _cut(self, waiter: int, host: Host, disk: int, file: int, first: int, end: int) -> Plan | None:
        self._cache(host).cut(file, end)
        return None

    def wait(self, waiter: int, finished: Done) -> None:
        """Have `finished` called when that is over which `ask` has told. Raises ValueError if that was nothing."""
        plan = self._plans.pop(waiter, None)
        if plan is None:
            raise ValueError("a wait for a storage that has nothing to do")
        token = self._waits[waiter] = object()

        def end() -> None:
            if self._waits.get(waiter) is token:  # else the waiter has gone
                del self._waits[waiter]
                finished()

        plan(end)


_ASKED: dict[int, Callable[[Storages, int, Host, int, int, int, int], Plan | None]] = {
    Storage.READ: Storages._read,
    Storage.WRITE: Storages._write,
    Storage.THROUGH: Storages._write_through,
    Storage.SYNC: Storages._sync,
    Storage.ALL: Storages._sync_all,
    Storage.CUT: Storages._cut,
}
