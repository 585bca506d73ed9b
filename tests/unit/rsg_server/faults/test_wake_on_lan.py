"""Magic packets boot hosts that are off, if they get there."""

from __future__ import annotations

import pytest

from rsg_server.faults.changes import LinkChange, Partition
from tests.unit.rsg_server.fakes import Fake

NS = 10**9


def magic(world: Fake, host: str) -> bytes:
    interface = world.kernel.interfaces.of(world.kernel.hosts[host].host)[-1]
    return b"\xff" * 6 + interface.hardware * 16


def hear(world: Fake, payload: bytes) -> str:
    """What becomes of h1, which is off, when h0 sends something to it."""
    power, hosts = world.kernel.faults.power, world.kernel.hosts
    power.cut("h1")
    world.kernel.datagrams.on_to_off.tell(hosts["h0"], hosts["h1"], payload)
    assert power.what("h1") == "off", "it is still on its way"
    world.pass_time(NS)
    return power.what("h1")


def test_a_packet_for_the_host_boots_it_anywhere_in_the_datagram(world: Fake) -> None:
    assert hear(world, b"xx" + magic(world, "h1") + b"password") == "on"
    assert world.kernel.log.counts["wake_on_lan"] == 1


def test_one_of_two_packets_boots(world: Fake) -> None:
    hear(world, magic(world, "h1"))
    hosts = world.kernel.hosts
    world.kernel.datagrams.on_to_off.tell(hosts["h0"], hosts["h1"], magic(world, "h1"))
    world.pass_time(2 * NS)
    assert world.kernel.log.counts["wake_on_lan"] == world.kernel.log.counts["host_on"] == 1


@pytest.mark.parametrize("cut", [1, 7])
def test_other_datagrams_do_not(world: Fake, cut: int) -> None:
    assert hear(world, magic(world, "h1")[:-cut]) == "off"
    assert hear(world, magic(world, "h0")) == "off"
    assert hear(world, b"\xff" * 6 + bytes(6) * 16) == "off", "the address of the loopback interface"


@pytest.mark.parametrize("change", [Partition(("h0",)), LinkChange("h1", is_up=False)])
def test_a_network_that_is_cut_carries_none(world: Fake, change: Partition | LinkChange) -> None:
    world.kernel.faults.apply(change)
    assert hear(world, magic(world, "h1")) == "off"
