"""Storages that are fair per application: all operations of an application have one share, whoever makes them, and where."""

from __future__ import annotations

from functools import partial

import pytest

from rsg_server.network.models import Model, lv08, raw
from rsg_server.platform.disk import Disk
from rsg_server.protocol import Storage
from tests.unit.rsg_server.storage.test_served import MB, NS, World

SLOW = 4e5
"""Bytes per second of the disk: less than any link has."""
PAGE = 4096
models = pytest.mark.parametrize("model", [raw(), lv08()], ids=lambda model: model.name)


def shared_world(fair_per_application: bool, model: Model | None = None) -> World:
    """Hosts c0 to c2 belong to the application A, c3 to B; the server's own programs to S."""
    world = World(Disk("d", 1e6, SLOW, SLOW, fair_per_application=fair_per_application), clients=4, model=model)
    world.storages.users.application_of = lambda waiter: "AAABS"[min(waiter, 4)]
    return world


def ends(world: World, *hosts: str) -> list[float]:
    """Seconds after which operations of a megabyte have ended that begin now."""
    for host in hosts:
        world.do(host, Storage.DIRECT_WRITE, 0, MB)
    world.run_until(60 * NS)
    return [world.done[host][0] / NS for host in hosts]


@models
def test_three_writers_of_an_application_have_as_much_as_one_of_another(model: Model) -> None:
    """200 kB/s for each application: B has its megabyte after 5 s, A one of three then, and the others at 400 kB/s."""
    assert ends(shared_world(True, model), "c0", "c1", "c2", "c3") == pytest.approx([10, 10, 10, 5], rel=0.005)


@models
def test_else_each_writer_has_as_much_as_any_other(model: Model) -> None:
    assert ends(shared_world(False, model), "c0", "c1", "c2", "c3") == pytest.approx([10, 10, 10, 10], rel=0.005)


@models
def test_the_servers_own_programs_are_applications_too(model: Model) -> None:
    """A third of 400 kB/s each: B and S end after 7.5 s, A has 2 of its 3 MB left then."""
    found = ends(shared_world(True, model), "c0", "c1", "c2", "c3", "s0")
    assert found == pytest.approx([12.5, 12.5, 12.5, 7.5, 7.5], rel=0.01)


def test_what_remains_of_an_application_has_all_of_its_share() -> None:
    """A's second writer begins when the first has moved 200 kB of its megabyte, and B is always there."""
    world = shared_world(True)
    world.do("c3", Storage.DIRECT_WRITE, 0, 4 * MB)
    world.do("c0", Storage.DIRECT_WRITE, 0, MB)
    world.run_until(NS + 2 * 10**6)
    world.do("c1", Storage.DIRECT_WRITE, 0, MB // 5)
    world.run_until(60 * NS)
    seconds = {host: moment / NS for host, (moment, _) in world.done.items()}
    assert seconds["c1"] == pytest.approx(1.002 + 2.0, abs=0.01)  # 200 kB at 100 kB/s
    assert seconds["c0"] == pytest.approx(3.0 + 3.0, abs=0.01)  # 200 kB left at 100 kB/s, then 600 kB at 200 kB/s
    assert seconds["c3"] == pytest.approx(6.0 + 2.8 / 0.4, abs=0.01)  # 1.2 MB until A has ended, the rest at 400 kB/s


def test_reads_and_writes_of_an_application_have_one_share_of_what_both_have_together() -> None:
    world = shared_world(True)
    world.do("c0", Storage.DIRECT_READ, 0, MB)
    world.do("c1", Storage.DIRECT_WRITE, 0, MB)
    world.do("c3", Storage.DIRECT_WRITE, 0, MB)
    world.run_until(60 * NS)
    assert [world.done[host][0] / NS for host in ("c3", "c0", "c1")] == pytest.approx([5, 7.5, 7.5], abs=0.01)


def test_what_is_written_back_is_of_the_application_that_has_written_it_last() -> None:
    """On the disk of a host itself: two files of A and one of B, 1,024,000 bytes each, are brought to the disk at one time."""
    world = shared_world(True)
    storages, host, done = world.storages, world.hosts["s0"], dict[int, float]()
    storages.users.application_of = lambda waiter: "A" if waiter < 2 else "B"

    def finished(waiter: int) -> None:
        done[waiter] = world.now_ns / NS
        storages.end(waiter)

    for waiter in range(3):
        assert storages.ask(waiter, host, Storage.WRITE, 0, 10 + waiter, 0, 250 * PAGE) == 0
    for waiter in range(3):
        assert storages.ask(waiter, host, Storage.SYNC, 0, 10 + waiter, 0, 0) == 1
        storages.wait(waiter, partial(finished, waiter))
    world.run_until(60 * NS)
    assert [done[waiter] for waiter in range(3)] == pytest.approx([7.68, 7.68, 5.12], abs=0.001)


def test_nothing_is_left_of_applications_that_have_ended() -> None:
    world = shared_world(True)
    ends(world, "c0", "c3", "s0")
    assert world.network.sharing._groups == {}
