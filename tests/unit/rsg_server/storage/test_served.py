"""Storages of file servers: stripes, round trips, consistency between hosts, and servers that cannot be reached."""

from __future__ import annotations

import errno
from functools import partial
from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.clock.timeline import Timeline
from rsg_server.network.models import Model, lv08, raw
from rsg_server.network.network import Network
from rsg_server.platform.disk import Direction, Disk
from rsg_server.platform.host import Host
from rsg_server.platform.star import Access, star
from rsg_server.protocol import Storage, StorageFlag
from rsg_server.storage.counts import IoCounts
from rsg_server.storage.disks import Condition
from rsg_server.storage.known import FILES_MAX, GOOD_NS, Known
from rsg_server.storage.storages import Storages
from rsg_server.storage.volume import Layout, Remote, Volume

NS, MS, MB = 10**9, 10**6, 10**6
READ, WRITE = Direction.READ, Direction.WRITE
FILE = 7
SERVED = 0
"""The number of what a client mounts; it has no disk of its own."""


class World:
    """Clients c0, c1 … and servers s0, s1 …, each behind a link of a megabyte in a second and half a millisecond."""

    def __init__(
        self,
        disk: Disk,
        clients: int = 2,
        servers: int = 1,
        stripe_bytes: int = 0,
        soft_ns: int | None = None,
        model: Model | None = None,
    ) -> None:
        self.now_ns = 0
        self.timeline = Timeline()
        names = [*(f"c{number}" for number in range(clients)), *(f"s{number}" for number in range(servers))]
        self.hosts = {
            name: Host(name, (ip_address(f"10.0.0.{last}"),), disks=(disk,) if name[0] == "s" else (), memory_bytes=100 * MB)
            for last, name in enumerate(names, 1)
        }
        platform = star(list(self.hosts.values()), Access(1e6, 500_000))
        self.network = Network(self, self.timeline, platform, model or raw())
        self.off: set[str] = set()
        self.counts: list[int] = []  # how many disks were not as they should be, whenever that may have changed
        self.storages = Storages(
            self.network, lambda client, server: not self.off & {client.name, server.name}, self.counts.append
        )
        remote = Remote(tuple((f"s{number}", 0) for number in range(servers)), stripe_bytes, soft_ns)
        for number in range(clients):
            self.storages.mount(self.hosts[f"c{number}"], SERVED, remote, self.hosts.__getitem__)
        self.done: dict[str, tuple[int, int]] = {}

    def do(self, host: str, what: Storage, offset: int = 0, size: int = 0, file: int = FILE) -> int:
        """Do something; `done` gets the moment and the error at its end, by the name of the host."""
        waiter = list(self.hosts).index(host)
        said = self.storages.ask(waiter, self.hosts[host], what, SERVED, file, offset, size)
        if said > 0:
            self.storages.wait(waiter, partial(self._finished, host, waiter))
        return said

    def _finished(self, name: str, waiter: int) -> None:
        self.done[name] = (self.now_ns, self.storages.end(waiter))

    def run_until(self, moment_ns: int) -> None:
        while (due := self.timeline.next_ns) is not None and due <= moment_ns:
            self.now_ns = due
            self.timeline.run_due(due)
        self.now_ns = moment_ns


def test_reports_name_the_servers_of_a_storage_and_those_that_cannot_be_reached() -> None:
    world = World(Disk("d", 8e6, 5e5), servers=5, stripe_bytes=4096)
    client, disks = world.storages.volume(world.hosts["c0"], SERVED), world.storages.disks
    assert disks.words(client) == "storage d of s0, s1, s2 and 2 more"
    world.off = {"s3"}
    assert disks.words(client) == "storage d of s0, s1, s2 and 2 more (s3 cannot be reached)"
    assert disks.words(world.storages.volume(world.hosts["s3"], 0)) == "storage d"


def test_an_operation_waits_for_round_trip_and_disk_then_for_the_narrowest_of_links_and_disk() -> None:
    world = World(Disk("d", 8e6, 5e5, latency_s=0.005))
    world.do("c0", Storage.DIRECT_READ, 0, MB)
    world.run_until(2 * NS)
    assert world.done == {"c0": (1007 * MS, 0)}
    world.do("c0", Storage.DIRECT_WRITE, 0, MB)
    world.run_until(5 * NS)
    assert world.done == {"c0": (2 * NS + 2007 * MS, 0)}


@pytest.mark.parametrize("model", [raw(), lv08()], ids=lambda model: model.name)
def test_writers_have_an_equal_share_of_the_server(model: Model) -> None:
    """Four hosts at 1 MB/s, a disk of 400 kB/s: 100 kB/s each."""
    world = World(Disk("d", 1e6, 4e5), clients=4, model=model)
    for number in range(4):
        world.do(f"c{number}", Storage.DIRECT_WRITE, 0, MB)
    world.run_until(60 * NS)
    assert [moment for moment, _ in world.done.values()] == pytest.approx([10 * NS] * 4, abs=3 * MS)


@pytest.mark.parametrize("model", [raw(), lv08()], ids=lambda model: model.name)
def test_the_servers_own_programs_have_a_share_as_well(model: Model) -> None:
    world = World(Disk("d", 1e6, 4e5), clients=1, model=model)
    world.do("c0", Storage.DIRECT_WRITE, 0, MB)
    world.do("s0", Storage.DIRECT_WRITE, 0, MB)
    world.run_until(60 * NS)
    assert [moment for moment, _ in world.done.values()] == pytest.approx([5 * NS] * 2, rel=0.01)


def test_a_flow_to_a_client_takes_its_share_of_the_link() -> None:
    world = World(Disk("d", 1e9, 1e9))
    flow = world.network.open_flow(world.hosts["c1"], world.hosts["c0"], lambda data: None)
    flow.send(bytes(10 * MB))
    world.do("c0", Storage.DIRECT_READ, 0, MB)
    world.run_until(60 * NS)
    assert world.done["c0"][0] == 2002 * MS


@given(
    st.integers(1, 5),
    st.integers(1, 9),
    st.lists(st.tuples(st.integers(0, 90), st.integers(0, 40)).map(lambda pair: (pair[0], sum(pair))), max_size=4),
)
def test_stripes_go_round(servers: int, stripe: int, ranges: list[tuple[int, int]]) -> None:
    host = Host("h", (ip_address("10.0.0.1"),), disks=(Disk("d", 1, 1),))
    volume = Volume(host, tuple((host, 0) for _ in range(servers)), stripe, layout=Layout())
    for begin, file in enumerate((5, 6, 7)):
        counted = [0] * servers
        for first, end in ranges:
            for byte in range(first, end):
                counted[(begin + byte // stripe) % servers] += 1
        found = dict(volume.parts(file, ranges))
        assert [found.get(place, 0) for place in range(servers)] == counted
        assert found, "also nothing is somewhere"


def test_an_operation_on_several_servers_ends_with_the_last() -> None:
    """Of 3 MB in stripes of 1 MB on two servers, 2 MB are on the first: the link of the client carries 1 MB/s."""
    world = World(Disk("d", 4e5, 4e5), servers=2, stripe_bytes=MB)
    world.do("c0", Storage.DIRECT_READ, 0, 3 * MB)
    world.run_until(60 * NS)
    assert world.done["c0"][0] == 5002 * MS
    assert world.storages.volume(world.hosts["c0"], SERVED).capacity_bytes is None


def test_close_to_open() -> None:
    """What one host has written and closed, another reads anew once it opens the file."""
    world = World(Disk("d", 1e6, 1e6))
    assert world.do("c0", Storage.READ, 0, 4096) == world.do("c1", Storage.READ, 0, 4096) == 1
    world.run_until(NS)
    assert world.do("c0", Storage.READ, 0, 4096) == world.do("c1", Storage.READ, 0, 4096) == 0
    assert world.do("c0", Storage.WRITE, 0, 4096) == 0
    assert world.do("c0", Storage.SYNC) == 1
    world.run_until(2 * NS)
    assert world.do("c1", Storage.READ, 0, 4096) == 0
    assert world.do("c1", Storage.LOOK, StorageFlag.OPENED) == 1
    world.run_until(3 * NS)
    assert world.do("c1", Storage.READ, 0, 4096) == 1
    assert world.do("c0", Storage.LOOK, StorageFlag.OPENED) == 1
    world.run_until(4 * NS)
    assert world.do("c0", Storage.READ, 0, 4096) == 0


def test_a_removed_file_is_nowhere_in_memory() -> None:
    world = World(Disk("d", 1e6, 1e6))
    world.do("c1", Storage.READ, 0, 4096)
    world.run_until(NS)
    world.do("c0", Storage.CUT)
    assert world.do("c1", Storage.READ, 0, 4096) == 1


def test_names_cost_a_round_trip_and_what_changes_them_the_disk_as_well() -> None:
    world = World(Disk("d", 1e6, 1e6, latency_s=0.005))

    def took(what: Storage, flags: int = 0) -> int:
        begin_ns = world.now_ns
        said = world.do("c0", what, flags)
        world.run_until(begin_ns + NS)
        return (world.done["c0"][0] - begin_ns) // MS if said else 0

    assert [took(Storage.LOOK), took(Storage.LOOK), took(Storage.LOOK, StorageFlag.OPENED)] == [7, 0, 2]
    world.run_until(world.now_ns + GOOD_NS)
    assert [took(Storage.LOOK), took(Storage.LOOK)] == [2, 0]
    assert took(Storage.CHANGE) == 7
    assert [took(Storage.LOOK, StorageFlag.UNCACHED)] * 2 == [7, 7]


def test_names_on_a_disk_of_the_host_are_looked_up_once() -> None:
    known = Known()
    assert [known.look(1, 0, False, True), known.look(1, 0, False, True)] == [True, None]
    known.made(2)
    assert known.look(2, 0, False, True) is None
    known.made(3)
    assert [known.look(3, 0, True, True), known.look(3, 0, True, True)] == [True, False], "a server learns of a new file"
    for file in range(4, FILES_MAX + 10):
        known.look(file, 0, False, False)
    assert known.look(1, 0, False, False) is True


def test_a_hard_mount_waits_for_its_server_and_begins_anew() -> None:
    world = World(Disk("d", 1e6, 1e6))
    world.do("c0", Storage.DIRECT_READ, 0, MB)
    world.run_until(NS // 2)
    world.off = {"s0"}
    world.storages.disks.look()
    world.do("c1", Storage.LOOK)
    world.run_until(100 * NS)
    assert world.done == {} and world.network.is_idle
    world.off = set()
    world.storages.disks.look()
    world.storages.disks.look()
    world.run_until(200 * NS)
    assert world.done == {"c1": (100_002 * MS, 0), "c0": (101_002 * MS, 0)}


def test_a_soft_mount_fails() -> None:
    world = World(Disk("d", 1e6, 1e6), soft_ns=3 * NS)
    world.off = {"s0"}
    assert world.do("c0", Storage.READ, 0, 4096) == 1
    assert world.do("c1", Storage.WRITE, 0, 4096) == 0
    assert world.do("c1", Storage.SYNC) == 1
    world.run_until(10 * NS)
    assert world.done == {"c0": (3 * NS, -errno.EIO), "c1": (3 * NS, -errno.EIO)}
    assert world.do("c1", Storage.SYNC) == 0, "an error is told once"
    world.off = set()
    assert world.do("c0", Storage.READ, 0, 4096) == 1, "nothing has been read"


def test_a_client_without_power_leaves_the_server_to_others() -> None:
    world = World(Disk("d", 4e5, 4e5))
    world.do("c0", Storage.WRITE, 0, 4 * MB)
    world.do("c0", Storage.SYNC)
    world.do("c1", Storage.DIRECT_WRITE, 0, MB)
    world.run_until(NS)
    world.storages.lose_host("c0")
    world.run_until(60 * NS)
    assert world.done["c1"][0] == pytest.approx(3 * NS, rel=0.01)


def test_what_is_wrong_with_a_disk() -> None:
    world = World(Disk("d", 1e6, 1e6, capacity_bytes=MB))
    disks, server, client = world.storages.disks, world.hosts["s0"], world.hosts["c0"]
    assert world.storages.admit(client, SERVED, 4096) == 4096
    disks.set_condition(server, 0, Condition.READ_ONLY)
    assert world.storages.admit(client, SERVED, 4096) == -errno.EROFS
    disks.set_condition(server, 0, Condition.FULL)
    assert world.storages.admit(client, SERVED, 4096) == 0
    disks.set_condition(server, 0, Condition.FAILING)
    world.do("c0", Storage.READ, 0, 4096)
    world.run_until(NS)
    assert world.done["c0"] == (2 * MS, -errno.EIO)
    disks.set_condition(server, 0, Condition.OK)
    world.do("c0", Storage.READ, 0, 4096)
    world.run_until(2 * NS)
    assert world.done["c0"][1] == 0
    assert world.counts == [1, 1, 1, 0]


def test_a_disk_becomes_slower_while_it_is_read() -> None:
    world = World(Disk("d", 5e5, 5e5))
    world.do("c0", Storage.DIRECT_READ, 0, MB)
    world.run_until(NS + 2 * MS)
    world.storages.disks.change(world.hosts["s0"], 0, Disk("d", 1e5, 1e5))
    world.run_until(60 * NS)
    assert world.done["c0"][0] == 6002 * MS


def test_a_link_becomes_slower_on_the_way_to_the_disk() -> None:
    world = World(Disk("d", 1e9, 1e9))
    world.do("c0", Storage.DIRECT_READ, 0, MB)
    world.run_until(NS // 2 + 2 * MS)
    for name in ("c0_DOWN", "c0_UP"):
        world.network.set_link(name, bandwidth_bytes_per_s=1e5)
    world.storages.disks.link_changed()
    world.run_until(60 * NS)
    assert world.done["c0"][0] == 5502 * MS


def test_what_a_process_has_had_storages_do() -> None:
    """As Linux counts: reads with what is read ahead, writes where pages become dirty, and what was dirty and is cut off."""
    world, counts = World(Disk("d", 1e6, 1e6)), IoCounts()

    def do(what: Storage, offset: int, size: int, file_bytes: int = 0) -> None:
        if world.storages.ask(0, world.hosts["c0"], what, SERVED, FILE, offset, size, file_bytes, counts):
            world.storages.wait(0, lambda: world.storages.end(0))
        world.run_until(world.now_ns + NS)

    do(Storage.READ, 0, 4096, 8192)
    do(Storage.WRITE, 0, 5000)
    do(Storage.WRITE, 4096, 5000)
    do(Storage.DIRECT_WRITE, 0, 1000)
    do(Storage.DIRECT_READ, 0, 500)
    do(Storage.CUT, 4096, 0)
    assert counts == IoCounts(4096 + 4096 + 500, 3 * 4096 + 1000, 2 * 4096)


def test_what_a_disk_has_done() -> None:
    world = World(Disk("d", 1e6, 1e6))
    world.do("c0", Storage.DIRECT_READ, 0, MB)
    world.do("s0", Storage.DIRECT_WRITE, 0, MB // 2)
    world.run_until(10 * NS)
    assert world.storages.disks.diskstats(world.hosts["s0"]).splitlines()[1].split() == [
        *["8", "16", "sdb"],
        *["1", "0", "1953", "1500"],
        *["1", "0", "976", "998"],
        *["0", "1500", "2498"],
        *["0"] * 6,
    ]
    figures = world.storages.disks.stat(world.hosts["s0"], "sdb")
    assert figures.split() == world.storages.disks.diskstats(world.hosts["s0"]).splitlines()[1].split()[3:]
    assert world.storages.disks.stat(world.hosts["s0"], "sda").split() == ["0"] * 17
    assert world.storages.disks.stat(world.hosts["s0"], "sdc") == ""
