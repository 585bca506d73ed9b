"""Storages: operations of actors in virtual time, whole nanoseconds; and what a signal or a death does to them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from ipaddress import ip_address

import msgpack
import pytest

from rsg_server.clock.timeline import Timeline
from rsg_server.network.models import without_sharing
from rsg_server.network.network import Network
from rsg_server.network.sharing import Fairness
from rsg_server.platform.disk import Direction, Disk
from rsg_server.platform.host import Host
from rsg_server.platform.star import Access, star
from rsg_server.process.actor import Actor, State
from rsg_server.protocol import Op, Storage, Wait, Wake
from rsg_server.storage.storages import STORAGE_AS_SAID, Storages
from tests.unit.rsg_server.fakes import Fake, fake
from tests.unit.rsg_server.storage.test_disks import cases

NS = 10**9
READ, WRITE = Direction.READ, Direction.WRITE
NOBODY_BLOCKED, NEVER = 0, -1


class World:
    """Storages of one host, with a clock that jumps from event to event."""

    def __init__(self, *disks: Disk, fairness: Fairness = Fairness.CONNECTION) -> None:
        self.now_ns = 0
        self.timeline = Timeline()
        self.hosts = [Host(name, (ip_address(f"10.0.0.{last}"),), disks=disks) for last, name in enumerate("hg", 1)]
        self.network = Network(self, self.timeline, star(self.hosts, Access(1e6, 0)), without_sharing(), fairness)
        self.storages = Storages(self.network)
        self.done: dict[int, int] = {}

    def start(self, waiter: int, direction: Direction, size_bytes: int, disk: int = 0) -> None:
        self.storages.start(waiter, self.hosts[0], disk, direction, size_bytes, partial(self._finished, waiter))

    def _finished(self, waiter: int) -> None:
        self.done[waiter] = self.now_ns

    def run_until(self, moment_ns: int) -> None:
        while (due := self.timeline.next_ns) is not None and due <= moment_ns:
            self.now_ns = due
            self.timeline.run_due(due)
        self.now_ns = moment_ns


@pytest.mark.parametrize("fairness", Fairness)
def test_a_read_beside_a_write(fairness: Fairness) -> None:
    world = World(Disk("d", 1e8, 4e7), fairness=fairness)
    world.start(1, READ, 10**8)
    world.start(2, WRITE, 10**8)
    world.run_until(10 * NS)
    assert world.done == {1: 1_666_666_667, 2: 2_500_000_000}


@pytest.mark.parametrize("fairness", Fairness)
def test_readers_have_a_share_each(fairness: Fairness) -> None:
    """Also where two hosts' connections have one share together: operations are nobody's connections."""
    world = World(Disk("d", 1e8, 1e8), fairness=fairness)
    for waiter in range(3):
        world.start(waiter, READ, 10**8)
    world.start(3, WRITE, 10**8)
    world.run_until(10 * NS)
    assert world.done == dict.fromkeys(range(4), 4 * NS)


def test_the_times_are_simgrids() -> None:
    """Each end is rounded up by less than a nanosecond, and those after it move by no more."""
    for case in cases():
        if any(each["priority"] != 1 for each in case["operations"]):
            continue
        world = World(Disk("d", case["read"], case["write"], case["together"]))
        for index, each in sorted(enumerate(case["operations"]), key=lambda entry: entry[1]["start"]):
            world.run_until(round(each["start"] * NS))
            world.start(index, Direction[each["kind"].upper()], each["bytes"])
        world.run_until(10**15)
        for index, each in enumerate(case["operations"]):
            assert world.done[index] == pytest.approx(each["finish"] * NS, rel=1e-9, abs=len(case["operations"]))


def test_an_operation_waits_for_the_latency_then_for_its_bytes() -> None:
    world = World(Disk("d", 1e8, 4e7, latency_s=0.005))
    world.start(1, READ, 10**7)
    world.start(2, WRITE, 0)
    world.run_until(NS)
    assert world.done == {1: 105_000_000, 2: 5_000_000}


def test_without_latency_and_bytes_it_ends_at_the_same_moment_but_not_at_once() -> None:
    world = World(Disk("d", 1e8, 4e7))
    world.start(1, READ, 0)
    assert world.done == {}
    world.run_until(0)
    assert world.done == {1: 0}


def test_two_disks_of_a_host_share_nothing() -> None:
    world = World(Disk("a", 1e8, 4e7), Disk("b", 1e8, 4e7))
    world.start(1, READ, 10**8, disk=0)
    world.start(2, READ, 10**8, disk=1)
    world.run_until(10 * NS)
    assert world.done == {1: NS, 2: NS}


def test_ended_early_it_says_what_is_left_and_leaves_the_disk_to_others() -> None:
    world = World(Disk("d", 1e8, 4e7))
    world.start(1, READ, 10**8)
    world.start(2, READ, 10**8)
    world.run_until(NS)
    assert world.storages.end(1) == 5 * 10**7
    assert world.storages.end(1) == 0
    world.run_until(10 * NS)
    assert world.done == {2: 1_500_000_000}
    assert world.network.is_idle


def test_ended_during_its_latency_nothing_has_moved() -> None:
    world = World(Disk("d", 1e8, 4e7, latency_s=0.5))
    world.start(1, READ, 10**8)
    world.run_until(NS // 4)
    assert world.storages.end(1) == 10**8
    world.run_until(10 * NS)
    assert world.done == {}


def test_what_no_host_has_is_refused() -> None:
    world = World(Disk("d", 1e8, 4e7))
    with pytest.raises(ValueError, match="storage 1 of host h, which has 1"):
        world.start(1, READ, 1, disk=1)
    with pytest.raises(ValueError, match="operation of -1 bytes"):
        world.start(1, READ, -1)


HOST = Host("h0", (ip_address("10.0.0.1"),), disks=(Disk("scratch", 1e8, 4e7),))


def operate(world: Fake, size_bytes: int, direction: Direction = READ, blocked: int = NOBODY_BLOCKED) -> Actor:
    actor = world.born()
    message = msgpack.packb([int(Op.PARK), int(Wait.STORAGE), 0, NEVER, blocked, 0, size_bytes, int(direction)])
    assert world.send(actor, message) is None
    return actor


def test_who_waits_for_a_storage_is_woken_at_the_end() -> None:
    with fake(hosts=[HOST]) as world:
        actor = operate(world, 10**8, WRITE)
        assert actor.parked is not None
        assert actor.parked.describe(actor, world.describer()) == "storage scratch to write 100000000 bytes"
        world.pass_time(2_499_999_999)
        assert actor.state is State.PARKED
        world.pass_time(2_500_000_000)
        assert (actor.state, actor.reply) == (State.READY, (int(Wake.READY), 0))


def test_no_signal_ends_the_wait_for_a_storage() -> None:
    with fake(hosts=[HOST]) as world:
        actor = operate(world, 10**8)
        world.kernel.signals.notice(actor.process, 15)
        assert actor.state is State.PARKED


def test_woken_by_something_else_it_learns_what_is_left() -> None:
    with fake(hosts=[HOST]) as world:
        actor = operate(world, 10**8)
        world.pass_time(0)
        world.kernel.clock.advance_to(NS // 4)
        world.kernel.parking.wake(actor, Wake.READY)
        assert actor.reply == (int(Wake.READY), 75_000_000)


def test_who_dies_leaves_the_storage_to_others() -> None:
    with fake(hosts=[HOST]) as world:
        first, second = operate(world, 10**8), operate(world, 10**8)
        world.kernel.threads.end(first)
        world.pass_time(NS)
        assert second.state is State.READY
        assert world.kernel.timeline.next_ns is None


def ask(world: Fake, actor: Actor, what: Storage, file: int, offset: int, size: int) -> int:
    reply = world.send(actor, msgpack.packb([int(Op.STORAGE), int(what), 0, file, offset, size, 0]))
    assert reply is not None and reply[0] == 0
    found = reply[1]
    assert isinstance(found, int)
    return found


def wait_as_said(world: Fake, actor: Actor) -> None:
    message = msgpack.packb([int(Op.PARK), int(Wait.STORAGE), 0, NEVER, NOBODY_BLOCKED, 0, 0, STORAGE_AS_SAID])
    assert world.send(actor, message) is None
    assert actor.state is State.PARKED


MIB = 1 << 20
CACHED = replace(HOST, disks=(Disk("d", 100 * MIB, 40 * MIB),), memory_bytes=100 * MIB)


def test_what_goes_through_the_cache_waits_only_if_it_must() -> None:
    with fake(hosts=[CACHED]) as world:
        actor = world.born()
        assert ask(world, actor, Storage.READ, 7, 0, MIB) == 1
        wait_as_said(world, actor)
        world.pass_time(NS // 100)
        assert (actor.state, actor.reply) == (State.READY, (int(Wake.READY), 0))
        assert ask(world, actor, Storage.READ, 7, 0, MIB) == 0
        assert ask(world, actor, Storage.SYNC, 7, 0, 0) == 0
        assert ask(world, actor, Storage.WRITE, 7, 0, 4 * MIB) == 0
        assert ask(world, actor, Storage.ALL, 0, 0, 0) == 1
        wait_as_said(world, actor)
        world.pass_time(NS // 100 + NS // 10)
        assert actor.state is State.READY
        assert ask(world, actor, Storage.THROUGH, 7, MIB, MIB) == 1


def test_who_dies_in_fsync_has_written_all_the_same() -> None:
    with fake(hosts=[CACHED]) as world:
        first, second = world.born(), world.born()
        assert ask(world, first, Storage.WRITE, 7, 0, 4 * MIB) == 0
        assert ask(world, first, Storage.SYNC, 7, 0, 0) == 1
        wait_as_said(world, first)
        world.kernel.threads.end(first)
        assert ask(world, second, Storage.SYNC, 7, 0, 0) == 1, "it is being written"
        wait_as_said(world, second)
        world.pass_time(NS // 10)
        assert second.state is State.READY
        assert ask(world, second, Storage.SYNC, 7, 0, 0) == 0
        assert world.kernel.network.is_idle


def test_a_range_is_flushed_while_its_writer_goes_on() -> None:
    """4 MiB of 8 at 40 MiB/s, as sync_file_range(2) has it; an fsync later waits for what is left of that, and the rest."""
    with fake(hosts=[CACHED]) as world:
        actor = world.born()
        ask(world, actor, Storage.WRITE, 7, 0, 8 * MIB)
        assert ask(world, actor, Storage.FLUSH, 7, 0, 4 * MIB) == 0
        world.pass_time(NS // 10)
        assert ask(world, actor, Storage.SYNC, 7, 0, 4 * MIB) == 0, "it has been written"
        assert ask(world, actor, Storage.SYNC, 7, 0, 0) == 1
        wait_as_said(world, actor)
        world.pass_time(2 * NS // 10)
        assert actor.state is State.READY


def test_a_host_without_power_has_nothing_in_memory() -> None:
    with fake(hosts=[CACHED]) as world:
        actor = world.born()
        ask(world, actor, Storage.WRITE, 7, 0, 8 * MIB)
        world.kernel.storages.lose_host("h0")
        world.kernel.storages.lose_host("h0")
        assert ask(world, actor, Storage.SYNC, 7, 0, 0) == 0
        assert ask(world, actor, Storage.READ, 7, 0, MIB) == 1
        world.pass_time(100 * NS)
        assert world.kernel.timeline.next_ns is None


def test_what_cannot_be_asked_is_refused() -> None:
    storages = World(Disk("d", 1e8, 4e7)).storages
    with pytest.raises(ValueError, match="no 99 can be done to a file"):
        storages.ask(1, HOST, 99, 0, 7, 0, 1)
    with pytest.raises(ValueError, match="a wait for a storage that has nothing to do"):
        storages.wait(1, lambda: None)


def test_what_a_message_says_of_a_disk_that_is_not_there_is_refused_at_once() -> None:
    world = World(Disk("d", 1e8, 4e7))
    for disk in (-1, 1):
        with pytest.raises(ValueError, match=f"storage {disk} of host h, which has 1"):
            world.storages.ask(1, world.hosts[0], Storage.WRITE, disk, 7, 0, 4096)
    with pytest.raises(ValueError, match="-1 bytes from byte 0 on"):
        world.storages.ask(1, world.hosts[0], Storage.WRITE, 0, 7, 0, -1)
    world.run_until(60 * NS)
