"""A transfer: the bytes of one call, or of a flusher, on their way between a host and the disks of a volume.

There is a leg to each disk concerned, and the transfer ends with the last leg. A leg is an operation on a disk. If the
file server of the disk cannot be reached, the leg waits until the server can be reached, and then begins anew.
Invariant: a leg that has not ended is in `Ways.legs`.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Hashable
from functools import partial
from typing import Protocol

from rsg_server.clock.timeline import Event
from rsg_server.network.sharing import Group, Path
from rsg_server.platform.host import Host
from rsg_server.platform.link import Route
from rsg_server.storage.accounts import Account, Way
from rsg_server.storage.operation import NS, Carrier, Operation
from rsg_server.storage.volume import Part, Volume

ASKS = -1
"""Stands for a direction if only the server is asked, and its disk does nothing."""
Ended = Callable[[int], object]
"""A function that gets 0, or the errno of the failure."""


Application = Hashable
"""A key for the operations that have one share of a disk together, if the disk shares by application; None: no application."""
Reaches = Callable[[Host, Host], bool]
"""A function that returns whether a host can reach a server now."""


class Network(Carrier, Protocol):
    """The part of the network that transfers use: numbers for flows and operations, and routes between hosts."""

    def new_number(self) -> int: ...
    def route(self, source: Host, destination: Host, /) -> Route: ...


class Ways(Protocol):
    """The part of the disks of all hosts that a leg uses."""

    legs: dict[int, Leg]

    @property
    def network(self) -> Network: ...
    @property
    def reaches(self) -> Reaches: ...
    def path(self, client: Host, server: Host, disk: int, direction: int, account: Account | None = None, /) -> Path: ...
    def group(self, server: Host, disk: int, application: Application, /) -> Group: ...
    def round_trip_s(self, client: Host, server: Host, /) -> float: ...
    def is_failing(self, server: Host, disk: int, /) -> bool: ...
    def begins(self, server: Host, disk: int, /) -> None: ...
    def ends(self, server: Host, disk: int, direction: int, size_bytes: int, begun_ns: int, /) -> None: ...


class Leg:
    """The work of one disk for a transfer; `account` is the account of the processes that caused the transfer."""

    __slots__ = (
        "_application",
        "_begun_ns",
        "_direction",
        "_ended",
        "_event",
        "_gate",
        "_is_waiting",
        "_ways",
        "account",
        "number",
        "operation",
        "place",
        "size_bytes",
        "volume",
    )

    def __init__(
        self,
        ways: Ways,
        volume: Volume,
        place: int,
        direction: int,
        size_bytes: int,
        ended: Ended,
        application: Application = None,
        account: Account | None = None,
    ) -> None:
        self.number = ways.network.new_number()
        self.volume = volume
        self.place = place
        self.size_bytes = size_bytes
        self._ways = ways
        self._direction = direction
        self._ended = ended
        self._application = application
        # limits of groups apply only to disks of the group's own host
        self.account = account if volume.targets[place][0] is volume.client else None
        self._gate: Account | None = None  # the group for whose pace the leg waits
        self._event: Event | None = None
        self._is_waiting = False  # whether the leg waits for a file server that cannot be reached
        self._begun_ns = 0
        self.operation: Operation | None = None
        ways.legs[self.number] = self
        if self._is_reached():
            self._begin()
        else:
            self._wait()

    @property
    def left_bytes(self) -> float:
        """The bytes that have not moved."""
        return float(self.size_bytes) if self.operation is None else self.operation.left_bytes

    @property
    def _target(self) -> tuple[Host, int]:
        return self.volume.targets[self.place]

    def _is_reached(self) -> bool:
        return self._ways.reaches(self.volume.client, self._target[0])

    def _begin(self) -> None:
        network = self._ways.network
        if self._direction == ASKS:
            answered_ns = network.now_ns + round(self._ways.round_trip_s(self.volume.client, self._target[0]) * NS)
            self._event = network.at(answered_ns, partial(self._end, 0))
        else:
            self._wait_for_pace(self.account)

    @property
    def way(self) -> Way:
        """The number that the disk has on its host, and the direction (read or write)."""
        return self._target[1], self._direction

    def _wait_for_pace(self, account: Account | None) -> None:
        """Wait for the moment at which a group may begin one more operation, then for the moment of the group above."""
        now_ns = self._ways.network.now_ns
        while account is not None:
            moment_ns = account.take_moment(self.way, now_ns)
            if moment_ns > now_ns:
                self._gate = account
                self._event = self._ways.network.at(moment_ns, self._moment_has_come)
                return
            account = account.parent
        self._gate = None
        self._operate()

    def _moment_has_come(self) -> None:
        gate, self._event = self._gate, None
        if gate is not None:
            gate.moment_has_come(self.way, self._ways.network.now_ns)
            self._wait_for_pace(gate.parent)

    def is_of(self, account: Account) -> bool:
        """Return whether the leg belongs to a group, or to a group below it."""
        return self.account is not None and account in self.account.up()

    def limits_changed(self, account: Account) -> None:
        """Apply changed limits of the leg's group, or of one above it."""
        server, disk = self._target
        if self._gate is account and self._event is not None:
            self._event.cancel()
            self._wait_for_pace(account)
        elif self.operation is not None:
            self.operation.go_on(self._ways.path(self.volume.client, server, disk, self._direction, self.account))

    def _operate(self) -> None:
        server, disk = self._target
        network, client = self._ways.network, self.volume.client
        path = self._ways.path(client, server, disk, self._direction, self.account)
        if self._ways.is_failing(server, disk):
            self._event = network.at(network.now_ns + round(path.latency_s * NS), partial(self._end, errno.EIO))
            return
        self._begun_ns = network.now_ns
        self._ways.begins(server, disk)
        if self.account is not None:
            self.account.count(self.way, self.size_bytes)
        group = self._ways.group(server, disk, self._application)
        self.operation = Operation(self.number, path, self.size_bytes, network, self._moved, group)

    def _moved(self) -> None:
        self._stop_counting(self.size_bytes)
        self.operation = None
        self._end(0)

    def _stop_counting(self, moved_bytes: int) -> None:
        server, disk = self._target
        self._ways.ends(server, disk, self._direction, moved_bytes, self._begun_ns)

    def _wait(self) -> None:
        """Wait for the file server: for ever, or (for a soft mount) until the mount's time-out."""
        self._is_waiting = True
        network, soft_ns = self._ways.network, self.volume.soft_ns
        if soft_ns is not None:
            self._event = network.at(network.now_ns + soft_ns, partial(self._end, errno.EIO))

    def look(self) -> None:
        """Begin to move bytes, or begin to wait for the file server, because hosts can now reach, or cannot reach any
        more, each other.
        """
        is_reached = self._is_reached()
        if is_reached == self._is_waiting:
            self._stop()
            if is_reached:
                self._is_waiting = False
                self._begin()
            else:
                self._wait()

    def _stop(self) -> None:
        if self._event is not None:
            self._event.cancel()
            self._event = None
        if self.operation is not None:
            operation, self.operation = self.operation, None
            operation.cancel()
            self._stop_counting(0)

    def _end(self, error: int) -> None:
        self._event = None
        del self._ways.legs[self.number]
        self._ended(error)

    def cancel(self) -> None:
        """End the operation on the disk; `left_bytes` stays known."""
        operation = self.operation
        self._stop()
        self.operation = operation
        self._ways.legs.pop(self.number, None)


class Transfer:
    """The legs to all disks that have something to do. At the end of the last leg, `ended` gets the first error, or 0."""

    def __init__(
        self,
        ways: Ways,
        volume: Volume,
        parts: list[Part],
        direction: int,
        ended: Ended,
        application: Application = None,
        account: Account | None = None,
    ) -> None:
        self._left = len(parts)
        self._error = 0
        self._ended = ended
        self.legs = [
            Leg(ways, volume, place, direction, size_bytes, self._leg_ended, application, account)
            for place, size_bytes in parts
        ]

    def _leg_ended(self, error: int) -> None:
        self._error = self._error or error
        self._left -= 1
        if not self._left:
            self._ended(self._error)

    @property
    def left_bytes(self) -> float:
        """The bytes that have not moved."""
        return sum(leg.left_bytes for leg in self.legs)

    def cancel(self) -> None:
        """End the transfer early, without calling `ended`."""
        for leg in self.legs:
            leg.cancel()
