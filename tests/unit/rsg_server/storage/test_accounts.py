"""Limits of groups of processes on a storage: whose operations take how long, and what is counted for whom."""

from __future__ import annotations

import pytest

from rsg_server.platform.disk import Direction, Disk
from rsg_server.protocol import Storage
from rsg_server.storage.accounts import Account
from rsg_server.storage.pages import PAGE_BYTES
from tests.unit.rsg_server.storage.test_storages import NS, World

READ, WRITE = Direction.READ, Direction.WRITE
MB = 10**6
DISK = Disk("d", 100 * MB, 100 * MB, 200 * MB)


class Grouped(World):
    """Storages of one host; each waiter is of the group that `groups` has for it, or of none."""

    def __init__(self, **groups: Account) -> None:
        super().__init__(DISK)
        self.groups = groups
        self.storages.users.account_of = lambda waiter: self.groups.get(f"w{waiter}")

    def limit(self, account: Account, direction: Direction, rate: float | None, operations: int | None = None) -> None:
        account.limit((0, direction), rate, operations)
        self.storages.disks.limits_changed(self.hosts[0], (0, direction), account)

    def ends_s(self) -> dict[int, float]:
        self.run_until(1000 * NS)
        return {waiter: moment / NS for waiter, moment in self.done.items()}


def test_a_group_has_its_limit_and_others_have_what_is_left() -> None:
    slow = Account("slow")
    world = Grouped(w1=slow)
    world.limit(slow, READ, 20 * MB)
    world.start(1, READ, 100 * MB)
    world.start(2, READ, 160 * MB)
    assert world.ends_s() == {1: 5.0, 2: 2.0}


def test_operations_of_a_group_share_its_limit_alone_on_the_disk_or_not() -> None:
    group = Account("g")
    world = Grouped(w1=group, w2=group)
    world.limit(group, READ, 40 * MB)
    world.start(1, READ, 40 * MB)
    world.start(2, READ, 80 * MB)
    assert world.ends_s() == {1: 2.0, 2: 3.0}


def test_a_limit_holds_for_what_is_below_and_for_one_direction() -> None:
    above = Account("above")
    one, two = Account("one", above), Account("two", above)
    world = Grouped(w1=one, w2=two, w3=one)
    world.limit(above, READ, 40 * MB)
    world.limit(one, READ, 10 * MB)
    world.start(1, READ, 10 * MB)
    world.start(2, READ, 30 * MB)
    world.start(3, WRITE, 100 * MB)
    assert world.ends_s() == {1: 1.0, 2: 1.0, 3: 1.0}


@pytest.mark.parametrize("others", [0, 1])
def test_limits_act_at_once_on_what_is_under_way(others: int) -> None:
    """A second each without a limit, at 10 MB/s, at 20 MB/s, and without again; alone, and beside another on the disk."""
    group = Account("g")
    world = Grouped(w1=group)
    free = 50 * MB if others else 100 * MB
    world.start(1, READ, 2 * free + 30 * MB)
    if others:
        world.start(2, READ, 10**10)
    for at_s, limit in ((1, 10 * MB), (2, 20 * MB), (3, None)):
        world.run_until(at_s * NS)
        world.limit(group, READ, limit)
    world.run_until(5 * NS)
    assert world.done == {1: 4 * NS}


def sequence(world: Grouped, waiter: int, count: int, size_bytes: int = 0) -> list[float]:
    """When operations end of which each begins once the one before has ended."""
    ends: list[float] = []

    def ended() -> None:
        ends.append(world.now_ns / NS)
        if len(ends) < count:
            world.storages.start(waiter, world.hosts[0], 0, READ, size_bytes, ended)

    world.storages.start(waiter, world.hosts[0], 0, READ, size_bytes, ended)
    return ends


def test_operations_begin_as_far_apart_as_the_limit_says_or_further() -> None:
    group = Account("g")
    world = Grouped(w1=group)
    world.limit(group, READ, None, 4)
    quick = sequence(world, 1, 5)
    world.run_until(10 * NS)
    assert quick == [0.0, 0.25, 0.5, 0.75, 1.0]
    slow = sequence(world, 1, 3, 50 * MB)
    world.run_until(20 * NS)
    assert slow == [10.5, 11.0, 11.5]


def test_groups_below_wait_for_their_own_pace_then_for_that_of_the_group_above() -> None:
    above = Account("above")
    one, two = Account("one", above), Account("two", above)
    world = Grouped(w1=one, w2=two)
    world.limit(above, READ, None, 2)
    world.limit(one, READ, None, 1)
    first, second = sequence(world, 1, 3), sequence(world, 2, 3)
    world.run_until(10 * NS)
    assert first == [0.0, 1.5, 2.5] and second == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(("limit", "begins"), [(None, [3.0, 3.0, 3.0]), (1, [3.0, 4.0, 5.0]), (100, [3.0, 3.01, 3.02])])
def test_who_waits_for_a_pace_goes_on_at_the_new_one(limit: int | None, begins: list[float]) -> None:
    """Three wait for longer than 3 s, when their limit becomes another: the first of them begins then, as none has for long."""
    group = Account("g")
    world = Grouped(w1=group, w2=group, w3=group)
    world.limit(group, READ, None, 1)
    for _ in range(4):
        group.take_moment((0, READ), 0)  # as operations that others have waited for, and given up
    for waiter in (1, 2, 3):
        world.start(waiter, READ, 0)
    world.run_until(3 * NS)
    assert not world.done
    world.limit(group, READ, None, limit)
    assert [*world.ends_s().values()] == pytest.approx(begins)


def test_whoever_dies_while_waiting_for_a_pace_has_moved_nothing() -> None:
    group = Account("g")
    world = Grouped(w1=group, w2=group)
    world.limit(group, READ, None, 1)
    world.start(1, READ, 0)
    world.start(2, READ, MB)
    world.run_until(NS // 2)
    assert world.storages.end(2) == MB
    assert world.ends_s() == {1: 0.0} and group.counted((0, READ)) == (0, 1)


def test_operations_are_counted_in_the_group_and_above_when_they_begin() -> None:
    above = Account("above")
    below = Account("below", above)
    world = Grouped(w1=below, w2=above)
    world.start(1, READ, 3 * MB)
    world.start(2, READ, MB)
    world.start(3, READ, MB)
    assert below.counted((0, READ)) == (3 * MB, 1) and above.counted((0, READ)) == (4 * MB, 2)
    assert above.counted((0, WRITE)) == (0, 0)


def test_writing_back_counts_for_the_last_writer_and_is_bounded() -> None:
    writer, reader = Account("writer"), Account("reader")
    world = Grouped(w1=writer, w2=reader)
    world.limit(writer, WRITE, MB)
    host, size = world.hosts[0], 256 * PAGE_BYTES
    for file in (7, 8):
        world.storages.ask(1, host, Storage.WRITE, 0, file, 0, size)
    world.storages.ask(2, host, Storage.READ, 0, 7, 0, size, size)  # of the page cache
    world.storages.ask(2, host, Storage.WRITE, 0, 8, 0, PAGE_BYTES)
    for waiter, file in ((3, 7), (4, 8)):
        assert world.storages.ask(waiter, host, Storage.SYNC, 0, file, 0, 0)
        world.storages.wait(waiter, lambda waiter=waiter: world.done.update({waiter: world.now_ns}))  # type: ignore[misc]
    assert world.ends_s() == pytest.approx({3: 1.048576, 4: 1.048576 / 99}, rel=1e-6)
    assert writer.counted((0, WRITE)) == (size, 1) and reader.counted((0, WRITE)) == (size, 1)
    world.storages.ask(1, host, Storage.CUT, 0, 7, 0, 0)
    assert world.storages.users.account("h", 7, WRITE) is None


def test_groups_go_with_the_power_of_their_host() -> None:
    group = Account("g")
    world = Grouped(w1=group)
    world.start(1, READ, MB)
    assert world.storages.users.account("h", 0, READ) is group
    world.storages.lose_host("h")
    assert world.storages.users.account("h", 0, READ) is None
