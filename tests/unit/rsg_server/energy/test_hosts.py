"""Hosts in their enclosures: figures of Table 4.1 of Glesser's thesis, and what switches do."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.energy.hosts import BOOTING, OFF, ON, STOPPING, HostMeters
from rsg_server.platform.host import Host
from rsg_server.platform.power import Boot, Enclosure, HostPower, PowerRange

NS = 10**9
CURIE = HostPower((PowerRange(117.0, 117.0, 358.0), PowerRange(117.0, 117.0, 193.0)), 14.0)


class Room:
    """One rack of Curie: five chassis of 18 nodes, all loaded."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.names = [f"n{number}" for number in range(90)]
        hosts = [Host(name, (ip_address("10.0.0.1"),), 16, power=CURIE) for name in self.names]
        chassis = [Enclosure(f"c{number}", tuple(self.names[18 * number :][:18]), 248.0) for number in range(5)]
        self.meters = HostMeters(lambda: self.now_ns, hosts, [*chassis, Enclosure("rack", tuple(self.names), 900.0)])
        for name in self.names:
            self.meters.loaded(name, 16)

    def switch(self, names: list[str], what: str) -> None:
        for name in names:
            self.meters.switched(name, what)

    @property
    def watts(self) -> float:
        meters = [host.meter for host in self.meters.hosts.values()] + [each.meter for each in self.meters.enclosures]
        return sum(meter.watts for meter in meters)


def test_the_bonus_of_a_chassis_and_of_a_rack() -> None:
    room = Room()
    full = room.watts
    assert full == 90 * 358 + 5 * 248 + 900 == 34360
    room.switch(room.names[:17], OFF)
    assert full - room.watts == 17 * 344
    room.switch(room.names[17:18], OFF)
    assert full - room.watts == 6692  # accumulated: 18 times 344 and the bonus of 500
    room.switch(room.names[18:], OFF)
    assert room.watts == 0 and full == 34360
    room.switch(room.names[:1], ON)  # without load again, in the others' chassis that have power, and in four without
    room.meters.loaded("n0", 0)
    assert room.watts == 117 + 17 * 14 + 248 + 900


def test_twenty_scattered_nodes_are_needed_for_what_one_chassis_saves() -> None:
    room = Room()
    room.switch(room.names[::5][:18] + room.names[1::5][:2], OFF)
    assert 34360 - room.watts == 6880


def test_a_shutdown_draws_as_before_until_the_host_is_off() -> None:
    room = Room()
    room.switch(["n0"], STOPPING)
    assert room.watts == 34360
    assert [(switch.host, switch.what) for switch in room.meters.switches] == [("n0", STOPPING)]


def test_a_power_state_given_to_a_host_that_is_off_is_that_of_its_boot() -> None:
    room = Room()
    room.switch(["n0"], OFF)
    room.meters.changed_state("n0", 1)
    assert room.watts == 34360 - 344
    room.switch(["n0"], ON)
    assert room.watts == 34360 - 358 + 193
    assert [(switch.state, switch.what) for switch in room.meters.switches] == [(0, OFF), (1, ON)]


@pytest.mark.parametrize(("boot", "watts"), [({}, 358), ({"n0": Boot(watts=150.0)}, 150)])
def test_a_boot_draws_its_watts_or_those_of_full_load(boot: dict[str, Boot], watts: float) -> None:
    meters = HostMeters(lambda: 0, [Host("n0", (ip_address("10.0.0.1"),), power=CURIE)], (), boot)
    for what, expected in ((OFF, 14), (BOOTING, watts), (ON, 117)):
        meters.switched("n0", what)
        assert meters.hosts["n0"].meter.watts == expected


def test_a_host_without_watts_is_not_metered() -> None:
    meters = HostMeters(lambda: 0, [Host("a", (ip_address("10.0.0.1"),))])
    meters.loaded("a", 1)
    meters.changed_state("a", 0)
    meters.switched("a", OFF)
    assert not meters.hosts and not meters.switches


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_the_energy_of_off_is_off_watts_times_time(before_ns: int, off_ns: int) -> None:
    now = [0]
    meters = HostMeters(lambda: now[0], [Host("a", (ip_address("10.0.0.1"),), 4, power=CURIE)])
    now[0] = before_ns
    meters.switched("a", OFF)
    meters.loaded("a", 3)  # whatever is said of its load
    meter = meters.hosts["a"].meter
    end_ns = before_ns + off_ns
    assert meter.joules(end_ns) - meter.joules(before_ns) == pytest.approx(14.0 * off_ns / NS, rel=1e-9, abs=1e-6)
