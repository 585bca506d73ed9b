"""The disks of all hosts, and the operations on them.

A disk is three constraints of the solver that also shares links: all reads, all writes, and both together
(rsg_server/platform/disk.py). Whoever waits for an operation has a number of its own, and waits for one operation at a time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from rsg_server.network.sharing import DiskPath
from rsg_server.platform.disk import Direction
from rsg_server.platform.host import Host
from rsg_server.storage.operation import Carrier, Operation
from rsg_server.storage.room import Room

Finished = Callable[[], object]


class Network(Carrier, Protocol):
    """The network, which numbers what shares links."""

    def new_number(self) -> int: ...


class Storages:
    """Starts and ends operations; disks of a host are numbered in the order in which the host has them."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._paths: dict[tuple[str, int, int], DiskPath] = {}
        self._operations: dict[int, Operation] = {}
        self._rooms: dict[tuple[str, int], Room] = {}

    def keep(self, host: Host, disk: int, folder: Path) -> None:
        """What is below a folder is kept on a disk of a host, and takes room there if the disk has a capacity."""
        capacity = host.disks[disk].capacity_bytes
        if capacity is not None:
            self._rooms.setdefault((host.name, disk), Room(capacity)).folders.append(folder)

    def room(self, host: Host, disk: int) -> Room | None:
        """The room of a disk; None if anything fits."""
        return self._rooms.get((host.name, disk))

    def _path(self, host: Host, disk: int, direction: int) -> DiskPath:
        key = (host.name, disk, direction)
        path = self._paths.get(key)
        if path is None:
            if not 0 <= disk < len(host.disks):
                raise ValueError(f"storage {disk} of host {host.name}, which has {len(host.disks)}")
            route = host.disks[disk].route(host.name, Direction(direction))
            path = self._paths[key] = DiskPath(self._network.sharing, route)
        return path

    def start(self, waiter: int, host: Host, disk: int, direction: int, size_bytes: int, finished: Finished) -> None:
        """Have an operation begin now; `finished` is called once its latency and its bytes have passed, never at once.

        Raises ValueError for a disk that the host does not have, and for a size below 0.
        """
        if size_bytes < 0:
            raise ValueError(f"an operation of {size_bytes} bytes")
        path = self._path(host, disk, direction)

        def end() -> None:
            del self._operations[waiter]
            finished()

        self._operations[waiter] = Operation(self._network.new_number(), path, size_bytes, self._network, end)

    def end(self, waiter: int) -> int:
        """End the operation of a waiter, if there is one. Returns how many bytes have not moved, rounded up."""
        operation = self._operations.pop(waiter, None)
        if operation is None:
            return 0
        operation.cancel()
        return math.ceil(operation.left_bytes)
