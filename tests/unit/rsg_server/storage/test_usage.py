"""The counts of disks' work, and of the processes that wait for disks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest

from rsg_server.errors import ServerError
from rsg_server.platform.disk import Direction, Disk
from rsg_server.platform.host import Host
from rsg_server.storage.usage import INTERVALS_MAX, DiskUsage
from rsg_server.storage.waits import StorageWaits
from tests.unit.rsg_server.storage.test_storages import World

NS = 10**9
DISK = Disk("d", 100.0, 40.0)
READS, WRITES = (
    tuple(link.name for link in DISK.route("h", direction).links) for direction in (Direction.READ, Direction.WRITE)
)


def usage() -> DiskUsage:
    return DiskUsage([Host("h", (ip_address("10.0.0.1"),), disks=(DISK,))])


def test_bytes_are_counted_where_they_moved() -> None:
    counted = usage()
    counted.began(READS, 0)
    counted.began(WRITES, NS // 2)
    counted.moved(READS, NS // 2, 5 * NS // 2, 200.0)
    counted.moved(WRITES, NS, 2 * NS, 20.0)
    counted.ended(READS, 5 * NS // 2)
    assert list(counted.rows(3 * NS)) == [
        ("0", "1", "h/d", 50, 0, 0, "1", "0.5"),
        ("1", "1", "h/d", 100, 20, 0, "1", "1.2"),
        ("2", "1", "h/d", 50, 0, 1, "1", "0.5"),
    ]


def test_intervals_grow_with_the_run(tmp_path: Path) -> None:
    counted = usage()
    counted.moved(READS, 0, NS, 10.0)
    counted.moved(READS, NS, 2 * NS, 30.0)
    counted.moved(WRITES, (INTERVALS_MAX - 1) * NS, (INTERVALS_MAX + 1) * NS, 8.0)
    assert counted.interval_ns == 2 * NS
    rows = list(counted.rows((INTERVALS_MAX + 1) * NS))
    assert [row[:5] for row in rows] == [
        ("0", "2", "h/d", 40, 0),
        (f"{INTERVALS_MAX - 2}", "2", "h/d", 0, 4),
        (f"{INTERVALS_MAX}", "1", "h/d", 0, 4),
    ]
    counted.write(tmp_path / "storages.csv", (INTERVALS_MAX + 1) * NS)
    assert (tmp_path / "storages.csv").read_text().startswith("time,interval,storage,read_bytes")
    with pytest.raises(ServerError, match="cannot be written"):
        counted.write(tmp_path / "none" / "storages.csv", 0)


def test_operations_of_storages_are_counted() -> None:
    world = World(Disk("d", 1e8, 4e7))
    counted = world.network.sharing.usage = DiskUsage(world.hosts)
    world.start(1, Direction.READ, 10**8)
    world.start(2, Direction.WRITE, 10**8)
    world.start(3, Direction.READ, 0)
    world.run_until(1 * NS)
    world.storages.end(2)
    world.run_until(3 * NS)
    (first, second) = counted.rows(3 * NS)
    assert first[3:6] == (60_000_000, 40_000_000, 1)  # without bytes
    assert second[3:] == (40_000_000, 0, 2, "0.4", "0.4")  # one was given up, at 1 s


@dataclass(frozen=True, slots=True)
class Process:
    """This process, as one of an emulation."""

    number: int = 1
    images: int = 1
    global_pid: int = os.getpid()
    host_name: str = "h"


def test_waits_are_counted_by_a_variable_of_the_environment() -> None:
    names = {name: value for name, value in os.environ.items() if name == "PATH"}
    waits = StorageWaits({"h": "one", "g": "two"}, {"one": "PATH", "two": ""})
    waits.begins(1, Process(), 0)
    waits.begins(2, Process(), 2 * NS)
    waits.ends(1, 3 * NS)
    waits.begins(3, Process(number=2, host_name="g"), 3 * NS)  # no variable
    waits.begins(4, Process(number=3, host_name="other"), 3 * NS)
    waits.begins(5, Process(number=4, global_pid=2**30), 3 * NS)  # has gone
    for waiter in (3, 4, 5, 6):
        waits.ends(waiter, 4 * NS)
    (label,) = waits.totals(0)
    assert label[0] == "one" and label[1].split(os.pathsep)[-1] == names["PATH"].split(os.pathsep)[-1]
    assert waits.totals(5 * NS) == {label: 5 * NS}  # one still waits
    waits.ends(2, 6 * NS)
    assert waits.totals(9 * NS) == {label: 6 * NS}
