"""The disks of all hosts: the bandwidth that operations share, faults, and statistics."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from rsg_server.network.sharing import DiskPath, Group, Path, ServedDiskPath
from rsg_server.platform.disk import Direction, Disk
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, Route
from rsg_server.storage.accounts import Account, Way
from rsg_server.storage.transfer import Application, Leg, Network, Reaches
from rsg_server.storage.volume import Volume

Place = tuple[str, int]
"""A disk: the name of its host, and its number on that host."""
PathKey = tuple[str, str, int, int, tuple[str, ...]]
"""The key of a path: names of client and server, disk, direction, and names of the limits on the way."""
SECTOR_BYTES = 512
MAJOR = 8
MINORS = 16
"""The major number of devices such as sda (sd(4)), and how many minor numbers each of them has."""


def device_name(number: int) -> str:
    """Return Linux's name for a storage of a host: sdb for number 0, sdc for 1, sdaa for 25; -1 is the host's own disk, sda."""
    letters, left = "", number + 2
    while left > 0:
        left, letter = divmod(left - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return f"sd{letters}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


class Condition(Enum):
    """What is wrong with a disk: it is read-only, or has no room for further bytes, or fails all operations."""

    OK = "ok"
    READ_ONLY = "read-only"
    FULL = "full"
    FAILING = "failing"


@dataclass(slots=True)
class Counters:
    """The statistics of a disk in one direction: operations, bytes, and the sum of the operations' durations."""

    operations: int = 0
    size_bytes: int = 0
    spent_ns: int = 0


class Activity:
    """The statistics of a disk, as /proc/diskstats shows them."""

    __slots__ = ("_since_ns", "busy_ns", "by_direction", "in_flight", "weighted_ns")

    def __init__(self) -> None:
        self.by_direction = (Counters(), Counters())
        self.in_flight = 0
        self.busy_ns = 0
        self.weighted_ns = 0
        self._since_ns = 0

    def pass_time(self, now_ns: int) -> None:
        """Count the time since the last change for the busy times."""
        spent_ns = now_ns - self._since_ns
        self._since_ns = now_ns
        self.busy_ns += spent_ns if self.in_flight else 0
        self.weighted_ns += spent_ns * self.in_flight

    def figures(self) -> list[int]:
        """Return the figures of /sys/block/NAME/stat; see Documentation/block/stat.rst of Linux."""
        fields = []
        for each in self.by_direction:
            fields += [each.operations, 0, each.size_bytes // SECTOR_BYTES, each.spent_ns // 10**6]
        return [*fields, self.in_flight, self.busy_ns // 10**6, self.weighted_ns // 10**6, *[0] * 6]

    def line(self, number: int) -> str:
        """Return the disk's line in /proc/diskstats."""
        return f"{MAJOR:4} {MINORS * (number + 1):7} {device_name(number)} {' '.join(map(str, self.figures()))}\n"


class Disks:
    """Finds the path of each operation, and contains all legs of transfers (rsg_server/storage/transfer.py: Ways)."""

    def __init__(self, network: Network, reaches: Reaches, tell_conditions: Callable[[int], object]) -> None:
        self.network = network
        self.reaches = reaches
        self.legs: dict[int, Leg] = {}
        self._tell_conditions = tell_conditions  # observers get the number of disks that are read-only, full or failing
        self._paths: dict[PathKey, Path] = {}
        self._hosts: dict[str, Host] = {}
        self._disks: dict[Place, Disk] = {}  # the disks that have changed since the platform was read
        self._conditions: dict[Place, Condition] = {}
        # the weights of operations of a file server's own programs, beside those of other hosts' programs
        self._weights: dict[Place, float] = {}
        self._activities: dict[Place, Activity] = {}

    def disk(self, host: Host, number: int) -> Disk:
        """Return the present properties of a disk."""
        return self._disks.get((host.name, number)) or host.disks[number]

    # Paths

    def round_trip_s(self, client: Host, server: Host) -> float:
        """Return how long a question to a server and its answer take."""
        if client is server:
            return 0.0
        return self.network.route(client, server).latency_s + self.network.route(server, client).latency_s

    def _latency_s(self, client: Host, server: Host, number: int) -> float:
        return self.disk(server, number).latency_s + self.round_trip_s(client, server)

    def path(self, client: Host, server: Host, number: int, direction: int, account: Account | None = None) -> Path:
        """Return the disk and the links that an operation shares with others; the limits of the operation's group are
        additional constraints.
        """
        limits = account.links((number, direction)) if account is not None else ()
        key = (client.name, server.name, number, direction, tuple(link.name for link in limits))
        path = self._paths.get(key)
        if path is None:
            self._hosts.update({client.name: client, server.name: server})
            path = self._paths[key] = self._new_path(client, server, number, Direction(direction), limits)
        return path

    def _new_path(self, client: Host, server: Host, number: int, direction: Direction, limits: tuple[Link, ...]) -> Path:
        sharing, route = self.network.sharing, self.disk(server, number).route(server.name, direction)
        place = (server.name, number)
        if client is server:
            own = DiskPath(sharing, Route((*route.links, *limits), route.distance_s))
            own.weight = self._weights.get(place, 1.0)
            return own
        ends = (server, client) if direction is Direction.READ else (client, server)
        there, back = self.network.route(*ends), self.network.route(*ends[::-1])
        path = ServedDiskPath(sharing, there, back, route, self._latency_s(client, server, number))
        if place not in self._weights:
            self._weights[place] = path.factor / path.penalty
            for key, other in self._paths.items():
                if key[1:3] == place and key[0] == server.name:
                    other.weight = self._weights[place]
        return path

    def limits_changed(self, host: Host, way: Way, account: Account) -> None:
        """Apply new limits of a group on a disk, also to operations that have begun."""
        link = account.own_link(way)
        if link is not None:
            self.network.sharing.change_link(link)
            for key, path in self._paths.items():
                if link.name in key[4]:
                    path.forget(path.latency_s)
        for number in sorted(self.legs):
            leg = self.legs.get(number)
            if leg is not None and leg.volume.client is host and leg.way == way and leg.is_of(account):
                leg.limits_changed(account)

    def group(self, server: Host, number: int, application: Application) -> Group:
        """Return the key of the operations that have one share of a disk together; None if each operation has its own share."""
        if application is None or not server.disks[number].fair_per_application:
            return None
        return server.name, number, application

    def link_changed(self) -> None:
        """Adapt operations to a link that has changed."""
        self._refresh([key for key in self._paths if key[0] != key[1]])

    def _refresh(self, keys: list[PathKey]) -> None:
        """Compute paths anew, and give new rates to operations that share no disk or link with another one."""
        for key in keys:
            client, server, number = key[:3]
            self._paths[key].forget(self._latency_s(self._hosts[client], self._hosts[server], number))
        changed = {id(self._paths[key]) for key in keys}
        for number in sorted(self.legs):
            operation = self.legs[number].operation
            if operation is not None and id(operation.path) in changed:
                operation.refresh()

    # Faults of disks

    def look(self) -> None:
        """Let transfers go on or wait, since another set of hosts can reach each other."""
        for number in sorted(self.legs):
            leg = self.legs.get(number)
            if leg is not None:
                leg.look()

    def lose_client(self, name: str) -> None:
        """Cancel the transfers to file servers of a host that has lost its power.

        The disks of the host itself finish their operations.
        """
        for number in sorted(self.legs):
            leg = self.legs[number]
            if leg.volume.client.name == name and leg.volume.is_remote:
                leg.cancel()

    def change(self, host: Host, number: int, disk: Disk) -> None:
        """Change the properties of a disk from now on: bandwidths and latency; the name stays."""
        self._disks[host.name, number] = disk
        for direction in Direction:
            for link in disk.route(host.name, direction).links:
                self.network.sharing.change_link(link)
        self._refresh([key for key in self._paths if key[1:3] == (host.name, number)])

    def condition(self, host: Host, number: int) -> Condition:
        """Return what is wrong with a disk."""
        return self._conditions.get((host.name, number), Condition.OK)

    def set_condition(self, host: Host, number: int, condition: Condition) -> None:
        """Set what is wrong with a disk from now on."""
        self._conditions.pop((host.name, number), None)
        if condition is not Condition.OK:
            self._conditions[host.name, number] = condition
        self._tell_conditions(len(self._conditions))

    def is_failing(self, server: Host, number: int) -> bool:
        """Whether operations on a disk fail."""
        return self.condition(server, number) is Condition.FAILING

    def is_full(self, volume: Volume) -> bool:
        """Whether a volume counts as full, whatever its capacity."""
        return any(self.condition(*target) is Condition.FULL for target in volume.targets)

    def words(self, volume: Volume) -> str:
        """Describe a volume for a report, and name those of its file servers that cannot be reached."""
        if not volume.is_remote:
            return f"storage {volume.name}"
        servers = [host.name for host, _ in volume.targets]
        gone = [host.name for host, _ in volume.targets if not self.reaches(volume.client, host)]
        return f"storage {volume.name} of {_listed(servers)}" + (f" ({_listed(gone)} cannot be reached)" if gone else "")

    def refusal(self, volume: Volume) -> int:
        """Return the errno with which a write is refused before it begins; 0 if it is allowed."""
        return errno.EROFS if any(self.condition(*target) is Condition.READ_ONLY for target in volume.targets) else 0

    # Statistics of disks

    def _activity(self, server: Host, number: int) -> Activity:
        activity = self._activities.setdefault((server.name, number), Activity())
        activity.pass_time(self.network.now_ns)
        return activity

    def begins(self, server: Host, number: int) -> None:
        """Count an operation that begins."""
        self._activity(server, number).in_flight += 1

    def ends(self, server: Host, number: int, direction: int, size_bytes: int, begun_ns: int) -> None:
        """Count an operation that has ended, and the bytes that it has moved."""
        activity = self._activity(server, number)
        activity.in_flight -= 1
        counters = activity.by_direction[direction]
        counters.operations += 1
        counters.size_bytes += size_bytes
        counters.spent_ns += self.network.now_ns - begun_ns

    def done(self, host: Host, way: Way) -> tuple[int, int]:
        """Return the bytes and operations of a disk in one direction so far."""
        counters = self._activity(host, way[0]).by_direction[way[1]]
        return counters.size_bytes, counters.operations

    def activities(self) -> Iterator[tuple[str, Activity]]:
        """Yield the activities of all disks that were used, by HOST DEVICE."""
        for (host, number), activity in self._activities.items():
            yield f"{host} {device_name(number)}", activity

    def stat(self, host: Host, name: str) -> str:
        """Return the line of /sys/block/NAME/stat, with figures of fixed width; "" if the host has no such disk."""
        numbers = {device_name(number): number for number in range(-1, len(host.disks))}
        if name not in numbers:
            return ""
        activity = Activity() if numbers[name] < 0 else self._activity(host, numbers[name])
        return " ".join(f"{figure:8}" for figure in activity.figures()) + "\n"

    def diskstats(self, host: Host) -> str:
        """Return the lines of /proc/diskstats: the disk of the host itself, which takes no time, and its storages."""
        lines = [self._activity(host, number).line(number) for number in range(len(host.disks))]
        return "".join((Activity().line(-1), *lines))
