"""The storages of all hosts, and the operations on them.

A disk is three constraints of the solver that also shares links: all reads, all writes, and both together
(rsg_server/platform/disk.py). Of the storages of a host, its own disks have the first numbers, then come those that it
mounts from file servers (rsg_server/storage/volume.py). Each waiter (an actor or another part) has a number, and waits
for one thing at a time. A read or write that bypasses the page cache of a host begins a transfer at once (`start`). For
a read or write that uses the page cache, `ask` returns whether the program has to wait, and `wait` lets the program
wait.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path as FilePath
from typing import Final

from rsg_server.platform.disk import Direction
from rsg_server.platform.host import Host
from rsg_server.protocol import Storage, StorageFlag
from rsg_server.storage.counts import IoCounts
from rsg_server.storage.disks import Disks
from rsg_server.storage.known import Known
from rsg_server.storage.pages import PAGE_BYTES, pages_of, pages_or_all
from rsg_server.storage.reading import Reader
from rsg_server.storage.room import Room
from rsg_server.storage.transfer import ASKS, Application, Ended, Network, Reaches, Transfer
from rsg_server.storage.unsynced import Unsynced
from rsg_server.storage.users import Users
from rsg_server.storage.volume import Layout, Range, Remote, Volume
from rsg_server.storage.writeback import Done, Writeback

STORAGE_AS_SAID: Final = 2
"""The third number of PARK_STORAGE, of an actor that waits for the answer to an earlier `ask`."""
Plan = Callable[[Done], None]


def _call(action: Done) -> None:
    action()


class HostDisks:
    """The storages of one host, as its page cache uses them."""

    def __init__(self, storages: Storages, network: Network, host: Host) -> None:
        self._storages = storages
        self._network = network
        self._host = host

    @property
    def now_ns(self) -> int:
        """The virtual time."""
        return self._network.now_ns

    def at(self, moment_ns: int, action: Done) -> object:
        """Call an action at a moment of virtual time."""
        return self._network.at(moment_ns, lambda: _call(action))

    def write(self, disk: int, file: int, pages: list[Range], done: Ended) -> None:
        """Write pages of a file to a storage, and call `done` at the end."""
        self._operate(Direction.WRITE, disk, file, pages, done)

    def read(self, disk: int, file: int, pages: list[Range], done: Ended) -> None:
        """Read pages of a file from a storage, and call `done` at the end."""
        self._operate(Direction.READ, disk, file, pages, done)

    def _operate(self, direction: Direction, disk: int, file: int, pages: list[Range], done: Ended) -> None:
        ranges = [(first * PAGE_BYTES, end * PAGE_BYTES) for first, end in pages]
        self._storages.operate(self._host, disk, direction, file, ranges, done)


class Storages:
    """Starts and ends transfers, and contains the page cache of each host."""

    def __init__(
        self,
        network: Network,
        reaches: Reaches = lambda client, server: True,
        tell_conditions: Callable[[int], object] = lambda count: None,
        application_of: Callable[[int], Application] = lambda waiter: None,
    ) -> None:
        self._network = network
        self.disks = Disks(network, reaches, tell_conditions)
        self._volumes: dict[tuple[str, int], Volume] = {}
        self._layouts: dict[tuple[tuple[str, int], ...], Layout] = {}
        self._transfers: dict[int, Transfer] = {}  # by waiter
        self._rooms: dict[tuple[tuple[str, int], ...], Room] = {}
        self._caches: dict[str, Writeback] = {}
        self._known: dict[str, Known] = {}  # by host: the files that the host has looked up
        self._plans: dict[int, Plan] = {}  # the waits that `ask` has found, for `wait`
        self._waits: dict[int, object] = {}  # the actors that wait for the page cache, each with a token of its wait
        self._errors: dict[int, int] = {}  # by waiter: the errno with which its wait has ended
        self.users = Users(application_of)
        self.unsynced: Unsynced | None = None
        """The changes of files that a power cut may lose; None unless in a run of `simunix explore`."""

    # Volumes

    def mount(self, host: Host, number: int, remote: Remote, find: Callable[[str], Host]) -> None:
        """Add disks of file servers to a host, as one more storage."""
        layout = self._layouts.setdefault(remote.servers, Layout())
        targets = tuple((find(name), disk) for name, disk in remote.servers)
        self._volumes[host.name, number] = Volume(host, targets, remote.stripe_bytes, remote.soft_ns, layout)
        for (server, disk), name in zip(targets, remote.servers, strict=True):
            if (name,) == remote.servers:  # programs of the file server write the same files
                self._volumes[server.name, disk] = Volume(server, ((server, disk),), layout=layout)

    def volume(self, host: Host, number: int) -> Volume:
        """Return a storage of a host. Raises ValueError if the host does not have it."""
        volume = self._volumes.get((host.name, number))
        if volume is None:
            if not 0 <= number < len(host.disks):
                count = len({*range(len(host.disks)), *(which for name, which in self._volumes if name == host.name)})
                raise ValueError(f"storage {number} of host {host.name}, which has {count}")
            volume = self._volumes[host.name, number] = Volume(host, ((host, number),))
        return volume

    def keep(self, host: Host, number: int, folder: FilePath) -> None:
        """Note that the files below a folder are on a storage of a host, and use its capacity if it has one."""
        volume = self.volume(host, number)
        if self.unsynced is not None and volume.layout is None and not volume.is_remote:
            self.unsynced.keep(host.name, number, volume.name, folder)
        if volume.capacity_bytes is not None:
            room = self._rooms.setdefault(_names(volume), Room(volume.capacity_bytes))
            if folder not in room.folders:
                room.folders.append(folder)

    def room(self, host: Host, number: int) -> Room | None:
        """Return the room of a storage; None if the storage has no capacity."""
        return self._rooms.get(_names(self.volume(host, number)))

    def admit(self, host: Host, number: int, wanted_bytes: int) -> int:
        """Return how many of the bytes that a writer wants have room on a storage, or a negative errno."""
        volume = self.volume(host, number)
        error = self.disks.refusal(volume)
        if error:
            return -error
        room = self._rooms.get(_names(volume))
        if wanted_bytes <= 0 or room is None:
            return 0 if self.disks.is_full(volume) else wanted_bytes
        return 0 if self.disks.is_full(volume) else room.take(wanted_bytes)

    # Past the page cache

    def operate(self, host: Host, number: int, direction: int, file: int, ranges: Iterable[Range], ended: Ended) -> Transfer:
        """Begin to read or write ranges of a file; `ended` is called at the end, never at once.

        The operation counts for the application that has used the file last on this host, where applications have shares.
        The operation is counted for the group of the process that has used the file last in this direction: so a
        write-back is counted for the group of the last writer.
        """
        volume, parts = self.volume(host, number), self.volume(host, number).parts(file, ranges)
        if direction == Direction.WRITE and self.unsynced is not None:
            ranges = tuple(ranges)
            ended = self.unsynced.after(host.name, number, file, ranges, ended)
        application, account = self.users.application(host.name, file), self.users.account(host.name, file, direction)
        return Transfer(self.disks, volume, parts, direction, ended, application, account)

    def start(self, waiter: int, host: Host, number: int, direction: int, size_bytes: int, finished: Done) -> None:
        """Begin to move bytes for a waiter, which can stop the transfer with `end`; see `operate`.

        Raises ValueError for a storage that the host does not have, and for a size below 0.
        """
        if size_bytes < 0:
            raise ValueError(f"an operation of {size_bytes} bytes")
        self._start(waiter, host, number, direction, 0, [(0, size_bytes)], finished)

    def _start(
        self, waiter: int, host: Host, number: int, direction: int, file: int, ranges: Iterable[Range], finished: Done
    ) -> None:
        def end(error: int) -> None:
            del self._transfers[waiter]
            self._note(waiter, error)
            finished()

        volume = self.volume(host, number)
        self.users.note(waiter, volume, file, direction)
        self._transfers[waiter] = self.operate(host, number, direction, file, ranges, end)

    def _note(self, waiter: int, error: int) -> None:
        if error:
            self._errors[waiter] = error

    def end(self, waiter: int) -> int:
        """End the wait of a waiter. Returns how many bytes of the waiter's transfer have not moved, rounded up, or -errno."""
        self._plans.pop(waiter, None)
        self._waits.pop(waiter, None)
        transfer = self._transfers.pop(waiter, None)
        if transfer is None:
            return -self._errors.pop(waiter, 0)
        transfer.cancel()
        return math.ceil(transfer.left_bytes)

    # Through the page cache

    def _cache(self, host: Host) -> Writeback:
        cache = self._caches.get(host.name)
        if cache is None:
            cache = self._caches[host.name] = Writeback(HostDisks(self, self._network, host), host.memory_bytes)
        return cache

    def _files(self, host: Host) -> Known:
        return self._known.setdefault(host.name, Known())

    def lose_host(self, name: str) -> None:
        """Drop the page cache of a host that has lost its power. The host's own disks finish their operations."""
        cache = self._caches.pop(name, None)
        self._known.pop(name, None)
        self.users.lose_host(name)
        if cache is not None:
            cache.lose()
        self.disks.lose_client(name)

    def ask(
        self,
        waiter: int,
        host: Host,
        what: int,
        number: int,
        file: int,
        offset: int,
        size_bytes: int,
        file_bytes: int = 0,
        counts: IoCounts | None = None,
    ) -> int:
        """Account for a program's use of a file; returns 1 if the program has to wait (`wait`), 0 if not, or -errno.

        No page behind the end of the file (`file_bytes`) is read ahead. The moved bytes are added to `counts`. Raises
        ValueError for a storage that the host does not have, for an unknown request, and for a position below 0.
        """
        volume = self.volume(host, number)
        if offset < 0 or size_bytes < 0:
            raise ValueError(f"storage: {size_bytes} bytes from byte {offset} on")
        counts, plan = counts or IoCounts(), None
        if what == Storage.AHEAD:
            self.users.note_account(waiter, volume, file, Direction.READ)
        if what == Storage.READ:
            last = -(-file_bytes // PAGE_BYTES)
            plan = self._read(waiter, volume, number, file, offset, offset + size_bytes, last, counts)
        elif what in _COUNTED:
            _COUNTED[what](self, volume, number, file, offset, offset + size_bytes, counts)
        elif what in _ASKED:
            dirtied = self._cache(host).dirtied
            plan = _ASKED[what](self, waiter, volume, number, file, offset, offset + size_bytes)
            counts.write_bytes += (self._cache(host).dirtied - dirtied) * PAGE_BYTES
            if what in _DIRECT:
                counts.add(_DIRECT[what], size_bytes)
        else:
            raise ValueError(f"storage: no {what} can be done to a file")
        plan = self.unsynced.told(host.name, number, what, file, offset + size_bytes, plan) if self.unsynced else plan
        if plan is not None:
            self._plans[waiter] = plan
        return int(plan is not None) or -self._errors.pop(waiter, 0)

    def _use(self, volume: Volume, file: int, writes: bool) -> None:
        if volume.layout is not None:
            volume.layout.used(file, volume.client.name, writes)

    def _reader(self, host: Host, counts: IoCounts) -> Reader:
        return Reader(HostDisks(self, self._network, host), self._cache(host).cache, counts)

    def _read(
        self, waiter: int, volume: Volume, number: int, file: int, first: int, end: int, last: int, counts: IoCounts
    ) -> Plan | None:
        self.users.note(waiter, volume, file, Direction.READ)
        self._use(volume, file, False)
        wait = self._reader(volume.client, counts).read(file, number, *pages_of(first, end), last)
        if wait is None:
            return None

        def plan(finished: Done) -> None:
            def ended(error: int) -> None:
                self._note(waiter, error)
                finished()

            wait(ended)

        return plan

    def _ahead(self, volume: Volume, number: int, file: int, first: int, end: int, counts: IoCounts) -> None:
        self._use(volume, file, False)
        self._reader(volume.client, counts).ahead(file, number, *pages_of(first, end))

    def _forget(self, volume: Volume, number: int, file: int, first: int, end: int, counts: IoCounts) -> None:
        self._cache(volume.client).cache.forget(file, *pages_or_all(first, end))

    def _flush(self, volume: Volume, number: int, file: int, first: int, end: int, counts: IoCounts) -> None:
        self._cache(volume.client).sync(file, number, lambda: None, *pages_or_all(first, end))

    def _write(self, waiter: int, volume: Volume, number: int, file: int, first: int, end: int) -> Plan | None:
        cache = self._cache(volume.client)
        self.users.note(waiter, volume, file, Direction.WRITE)
        self._use(volume, file, True)
        return cache.wait_for_room if cache.wrote(file, number, *pages_of(first, end)) else None

    def _write_through(self, waiter: int, volume: Volume, number: int, file: int, first: int, end: int) -> Plan | None:
        self._use(volume, file, True)
        pages = pages_of(first, end)
        self._cache(volume.client).wrote_through(file, number, *pages)
        ranges = [(pages[0] * PAGE_BYTES, pages[1] * PAGE_BYTES)]
        return partial(self._start, waiter, volume.client, number, Direction.WRITE, file, ranges)

    def _direct(
        self, direction: Direction, waiter: int, volume: Volume, number: int, file: int, first: int, end: int
    ) -> Plan | None:
        return partial(self._start, waiter, volume.client, number, direction, file, [(first, end)])

    def _sync(self, waiter: int, volume: Volume, number: int, file: int, first: int, end: int) -> Plan | None:
        cache, pages = self._cache(volume.client), pages_or_all(first, end)
        if not cache.is_dirty(file, number, *pages):
            self._note(waiter, cache.take_error(file))
            return None

        def plan(finished: Done) -> None:
            def done() -> None:
                self._note(waiter, cache.take_error(file))
                finished()

            cache.sync(file, number, done, *pages)

        return plan

    def _sync_all(self, waiter: int, volume: Volume, number: int, file: int, first: int, end: int) -> Plan | None:
        cache = self._cache(volume.client)
        disks = cache.dirty_disks() if first else [number] if cache.has_dirty(number) else []
        return partial(cache.sync_all, disks) if disks else None

    def _cut(self, volume: Volume, number: int, file: int, first: int, end: int, counts: IoCounts) -> None:
        pages = -(-end // PAGE_BYTES)
        counts.cancelled_write_bytes += self._cache(volume.client).cut(file, pages) * PAGE_BYTES
        if pages == 0:
            self.users.forget(volume.client.name, file)
            self._files(volume.client).made(file)
            for layout in self._layouts.values():
                for name in layout.forget(file):
                    if name in self._caches:
                        self._caches[name].cut(file, 0)

    # Without bytes

    def _look(self, waiter: int, volume: Volume, number: int, file: int, flags: int, end: int) -> Plan | None:
        """Look a file up, or open it: its server is asked, or its disk works, unless the host knows the file."""
        host, is_open = volume.client, bool(flags & StorageFlag.OPENED)
        if is_open and volume.layout is not None and volume.layout.take_stale(file, host.name):
            self._cache(host).cache.drop(file)
        news: bool | None = True
        if not flags & StorageFlag.UNCACHED:
            news = self._files(host).look(file, self._network.now_ns, volume.is_remote, is_open)
        return None if news is None else self._without_bytes(waiter, volume, number, file, Direction.READ if news else ASKS)

    def _change(self, waiter: int, volume: Volume, number: int, file: int, flags: int, end: int) -> Plan | None:
        """Change a name or an inode: on a file server at once; on a host's own disk, the change is written some time later."""
        if not volume.is_remote and not flags & StorageFlag.UNCACHED:
            return None
        return self._without_bytes(waiter, volume, number, file, Direction.WRITE)

    def _without_bytes(self, waiter: int, volume: Volume, number: int, file: int, direction: int) -> Plan:
        return partial(self._start, waiter, volume.client, number, direction, file, [(0, 0)])

    def wait(self, waiter: int, finished: Done) -> None:
        """Call `finished` when the operation of the last `ask` is over. Raises ValueError if there is nothing to wait for."""
        plan = self._plans.pop(waiter, None)
        if plan is None:
            raise ValueError("a wait for a storage that has nothing to do")
        token = self._waits[waiter] = object()

        def end() -> None:
            if self._waits.get(waiter) is token:  # otherwise the waiter has ended
                del self._waits[waiter]
                finished()

        plan(end)


def _names(volume: Volume) -> tuple[tuple[str, int], ...]:
    return tuple((host.name, disk) for host, disk in volume.targets)


_ASKED: dict[int, Callable[[Storages, int, Volume, int, int, int, int], Plan | None]] = {
    Storage.WRITE: Storages._write,
    Storage.THROUGH: Storages._write_through,
    Storage.SYNC: Storages._sync,
    Storage.ALL: Storages._sync_all,
    Storage.DIRECT_READ: lambda storages, *rest: storages._direct(Direction.READ, *rest),
    Storage.DIRECT_WRITE: lambda storages, *rest: storages._direct(Direction.WRITE, *rest),
    Storage.LOOK: Storages._look,
    Storage.CHANGE: Storages._change,
}
_DIRECT = {int(Storage.DIRECT_READ): Direction.READ, int(Storage.DIRECT_WRITE): Direction.WRITE}
"""The direction of the requests that bypass the page cache."""
_COUNTED: dict[int, Callable[[Storages, Volume, int, int, int, int, IoCounts], None]] = {
    Storage.CUT: Storages._cut,
    Storage.AHEAD: Storages._ahead,
    Storage.FORGET: Storages._forget,
    Storage.FLUSH: Storages._flush,
}
"""The requests for which no program waits."""
