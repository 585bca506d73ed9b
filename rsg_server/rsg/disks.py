"""Disks as programs of Remote SimGrid use them, by name: their reads and writes are operations on the disks of the storages.

These operations are flows of the engine (rsg_server.network.engine.FlowEngine.operate), and share a disk with the reads
and writes of intercepted programs (rsg_server/storage/). As in SimGrid, nothing is stored or cached, and a capacity
does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rsg_server.platform.disk import Direction, Disk
from rsg_server.platform.host import Host
from rsg_server.rsg.activity import STARTED, Io
from rsg_server.rsg.errors import Code, OperationError
from rsg_server.storage.disks import Condition

if TYPE_CHECKING:
    from rsg_server.network.engine import FlowEngine
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg
    from rsg_server.storage.disks import Disks


@dataclass(frozen=True, slots=True)
class DiskPlace:
    """A disk, given by its host and by its number on that host."""

    host: Host
    number: int

    @property
    def name(self) -> str:
        """The name of the disk on its host."""
        return self.host.disks[self.number].name


class ProgramDisks:
    """All disks by number, in the order of hosts in the platform."""

    def __init__(self, room: Rsg, hosts: tuple[Host, ...], disks: Disks, engine: FlowEngine) -> None:
        self._room, self._disks, self._engine = room, disks, engine
        self._all = [DiskPlace(host, number) for host in hosts for number in range(len(host.disks))]
        self._firsts: dict[str, int] = {}
        for number, place in enumerate(self._all):
            self._firsts.setdefault(place.host.name, number)

    def number_of(self, host: Host, place: int) -> int:
        """Return the number, among all disks, of the disk at a place of a host."""
        if not 0 <= place < len(host.disks):
            raise OperationError(Code.UNKNOWN_DISK)
        return self._firsts[host.name] + place

    def numbered(self, number: int) -> DiskPlace:
        """Return the disk with a number."""
        if not 0 <= number < len(self._all):
            raise OperationError(Code.UNKNOWN_DISK)
        return self._all[number]

    def disk(self, place: DiskPlace) -> Disk:
        """Return the present properties of a disk."""
        return self._disks.disk(place.host, place.number)

    def start(self, who: Participant, place: DiskPlace, direction: Direction, size_bytes: float, priority: float) -> Io:
        """Begin to read or write bytes."""
        condition = self._disks.condition(place.host, place.number)
        is_refused = condition is Condition.FAILING or (condition is Condition.READ_ONLY and direction is Direction.WRITE)
        if is_refused or self._room.places.is_off(place.host):
            raise OperationError(Code.STORAGE_FAILURE)
        io = Io(who, place, direction, size_bytes)
        io.state, io.start_s = STARTED, self._room.date_s
        who.activities[io] = None
        flow = self._engine.operate(place.host.name, self.disk(place), direction, size_bytes, self._room.date_s, priority)
        self._engine.count_whole(flow)
        self._room.started(io, flow)
        return io

    def set_priority(self, io: Io, priority: float) -> None:
        """Set the priority of a read or a write: from now on it has so many times the share of an ordinary operation."""
        if not io.is_over:
            self._engine.set_weight(io.flow, priority)
            self._room.moments.is_unsettled = True
