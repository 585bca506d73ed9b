"""Changes of one thing that overlap, or meet at a moment: the latest holds, and what ends takes back its own only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from rsg_server.faults.changes import Change, Fault, Heal, LinkChange, Loss, Partition, PowerStateChange, StorageChange
from rsg_server.faults.held import Held, changes_of, values_of
from rsg_server.platform.disk import Disk
from tests.unit.rsg_server.fakes import HOSTS, Fake, fake

H0, H1 = HOSTS


@pytest.fixture
def stored() -> Iterator[Fake]:
    with fake(hosts=(replace(H0, disks=(Disk("d", 100e6, 100e6),)), H1)) as made:
        yield made


def write_rate(world: Fake) -> float:
    return world.kernel.storages.disks.disk(world.kernel.platform.hosts[0], 0).write_bytes_per_s


def slow(rate: float) -> StorageChange:
    return StorageChange("h0", "d", write_bytes_per_s=rate)


def seen(world: Fake, *moments_ns: int) -> list[float]:
    found = []
    for moment_ns in moments_ns:
        world.pass_time(moment_ns)
        found.append(write_rate(world))
    return found


def test_a_change_at_the_moment_at_which_another_ends_holds(stored: Fake) -> None:
    stored.kernel.faults.schedule([Fault(1000, slow(1e6), for_ns=1000), Fault(2000, slow(2e6), for_ns=1000)])
    assert seen(stored, 1000, 2000, 3000) == [1e6, 2e6, 100e6]
    stored.kernel.faults.schedule([Fault(4000, slow(1e6), for_ns=1000), Fault(5000, slow(3e6))])
    assert seen(stored, 4000, 5000, 9000) == [1e6, 3e6, 3e6]


def test_changes_that_overlap(stored: Fake) -> None:
    stored.kernel.faults.schedule([Fault(1000, slow(1e6), for_ns=1000), Fault(1500, slow(2e6), for_ns=1000)])
    assert seen(stored, 1000, 1500, 2000, 2500) == [1e6, 2e6, 2e6, 100e6]
    stored.kernel.faults.schedule([Fault(3000, slow(1e6), for_ns=3000), Fault(4000, slow(2e6), for_ns=1000)])
    assert seen(stored, 3000, 4000, 5000, 6000) == [1e6, 2e6, 1e6, 100e6]


def test_a_change_for_good_within_another_stays(stored: Fake) -> None:
    stored.kernel.faults.schedule([Fault(1000, slow(1e6), for_ns=1000), Fault(1500, slow(2e6))])
    assert seen(stored, 1000, 1500, 2000) == [1e6, 2e6, 2e6]
    assert stored.kernel.log.counts == {"storage": 2}


def test_other_values_of_the_storage_are_taken_back_by_themselves(stored: Fake) -> None:
    both = StorageChange("h0", "d", condition="full", write_bytes_per_s=1e6)
    stored.kernel.faults.schedule([Fault(1000, both, for_ns=1000), Fault(2000, StorageChange("h0", "d", condition="failing"))])
    assert seen(stored, 1000, 2000) == [1e6, 100e6]
    assert stored.kernel.storages.disks.condition(stored.kernel.platform.hosts[0], 0).value == "failing"


def test_a_partition_at_the_moment_at_which_another_ends_holds(world: Fake) -> None:
    reach, cut = world.kernel.wire.reach, Partition(("h0",), ("h1",))
    world.kernel.faults.schedule([Fault(1000, cut, for_ns=1000), Fault(2000, cut, for_ns=1000)])
    found = []
    for moment_ns in (1000, 2000, 3000):
        world.pass_time(moment_ns)
        found.append(reach.reaches(H0, H1))
    assert found == [False, False, True]


@pytest.mark.parametrize("heal", [Heal(), Heal(("h0",), ("h1",))])
def test_a_partition_that_was_healed_is_not_healed_again(world: Fake, heal: Heal) -> None:
    cut = Partition(("h0",), ("h1",))
    world.kernel.faults.schedule([Fault(1000, cut, for_ns=1000), Fault(1200, heal), Fault(1400, cut)])
    world.pass_time(3000)
    assert not world.kernel.wire.reach.reaches(H0, H1)


def test_one_direction_of_a_link_keeps_a_later_value(world: Fake) -> None:
    network = world.kernel.network
    world.kernel.faults.schedule(
        [
            Fault(1000, LinkChange("h0", bandwidth_bytes_per_s=1e6), for_ns=1000),
            Fault(2000, LinkChange("h0_UP", bandwidth_bytes_per_s=2e6)),
        ]
    )
    world.pass_time(2000)
    assert [network.link(name).bandwidth_bytes_per_s for name in ("h0_UP", "h0_DOWN")] == [2e6, 1.25e9]


def test_loss_at_the_moment_at_which_another_ends_holds(world: Fake) -> None:
    sides = (("h0",), ("h1",))
    world.kernel.faults.schedule(
        [Fault(1000, Loss(sides[0], 0.5, sides[1]), for_ns=1000), Fault(2000, Loss(sides[0], 0.25, sides[1]))]
    )
    world.pass_time(5000)
    assert [*world.kernel.wire.reach.pair_loss.values()] == [0.25]


@pytest.mark.parametrize(
    "change",
    [
        LinkChange("a", bandwidth_bytes_per_s=1.0, is_up=False, loss=0.0),
        StorageChange("a", "b", condition="ok", latency_s=0.0),
        PowerStateChange("a", 0),
        Loss(("a",), 0.0, ("b",)),
        Heal(("a",), ("b",)),
    ],
)
def test_values_make_the_change_again(change: Change) -> None:
    assert changes_of(values_of(change)) == [change]


def test_what_was_never_begun_gives_nothing_back() -> None:
    held = Held()
    key = (LinkChange, ("a",), "loss")
    number = held.begin({key: 1.0})
    held.replace([key])
    assert held.end(number) == {} == held.end(number + 1)
