"""Speeds, watts and enclosures of a scenario: what a run gets of them, and what is wrong with them, in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rsg_server.energy.energy import Energy
from rsg_server.errors import SimunixError
from rsg_server.faults.changes import PowerStateChange
from rsg_server.platform.platform import Platform
from rsg_server.platform.power import Boot, Enclosure, HostPower, LinkPower, PowerRange
from rsg_server.platform.torus import TorusZone
from simunix.planning.expand import Expansion, expand
from simunix.rjms.scenario import load
from tests.unit.rsg_server.fakes import Fake, fake

HOST = """
hosts:
  - name: n[0-3]
    cores: 4
    speed: {speed}
    wattage_per_state: {watts}
    wattage_off: {off}
"""
TWO = ('["2Gf", "1.5Gf"]', '["117:130:358", "110:193"]')
LINKS = """
network:
  switches: s
  links:
    - {{name: wire, bandwidth: 1Gbps, between: ["n[0-3]", s], policy: {policy}, {watts}}}
"""


def hosts(speed: str = TWO[0], watts: str = TWO[1], off: str = "14W") -> str:
    return HOST.format(speed=speed, watts=watts, off=off)


def planned(folder: Path, *parts: str) -> Expansion:
    file = folder / "s.yaml"
    file.write_text("name: power\n" + "\n".join(parts))
    return expand(load(file), folder)


def test_speeds_and_watts_of_a_host(tmp_path: Path) -> None:
    host = planned(tmp_path, hosts(), "    pstate: 1").plan.platform.hosts[3]
    assert (host.speeds_flops, host.speed_flops) == ((2e9, 1.5e9), 1.5e9)
    assert host.power == HostPower((PowerRange(117, 130, 358), PowerRange(110, 110, 193)), 14)


def test_simgrids_own_writing_is_read(tmp_path: Path) -> None:
    host = planned(tmp_path, hosts("2Gf,1.5Gf", '"117:130:358, 110:193"', "14")).plan.platform.hosts[0]
    assert host.speeds_flops == (2e9, 1.5e9) and host.power is not None and host.power.states[1].full_w == 193


def test_watts_of_links(tmp_path: Path) -> None:
    links = planned(tmp_path, hosts(), LINKS.format(policy="shared", watts='wattage_range: "1:2"')).plan.platform.links
    assert links["wire-n0"].power == LinkPower(1, 2)
    both = LINKS.format(policy="split-duplex", watts='wattage_range: "1:2.5", wattage_off: 0.5')
    links = planned(tmp_path, hosts(), both).plan.platform.links
    assert links["wire-n3_UP"].power == links["wire-n3_DOWN"].power == LinkPower(1, 2.5, 0.5)


def test_enclosures_are_numbered(tmp_path: Path) -> None:
    chassis, rack = '{name: chassis, hosts: "n[0-3]", size: 2, watts: 248}', '{name: rack, hosts: "n[0-3]", watts: 0.9kW}'
    sections = f"enclosures: [{chassis}, {rack}]"
    assert planned(tmp_path, hosts(), sections).plan.kernel.enclosures == (
        Enclosure("chassis0", ("n0", "n1"), 248),
        Enclosure("chassis1", ("n2", "n3"), 248),
        Enclosure("rack", ("n0", "n1", "n2", "n3"), 900),
    )


def test_an_event_of_a_power_state(tmp_path: Path) -> None:
    faults = planned(tmp_path, hosts(), 'events: [{at: 5, host: "n[0-1]", pstate: 1, duration: 2}]').plan.faults
    assert [(fault.change, fault.for_ns) for fault in faults] == [
        (PowerStateChange("n0", 1), 2 * 10**9),
        (PowerStateChange("n1", 1), 2 * 10**9),
    ]


def test_boots_that_take_time(tmp_path: Path) -> None:
    keys = "    boot_time: 90s\n    boot_wattage: 200\n    shutdown_time: 15s\n    boot_failure: 0.25\n  - name: other"
    assert planned(tmp_path, hosts() + keys).plan.kernel.boots == {
        f"n{number}": Boot(90 * 10**9, 15 * 10**9, 200, 0.25) for number in range(4)
    }


ONE = hosts("1Gf", '"1:2"')
WRONG = {
    "a pstate without watts": (hosts(watts='["117:358"]'), r"hosts\[0\]: wattage_per_state: .* got 1 for 2 power states"),
    "watts without a pstate": (hosts(speed="1Gf"), r"hosts\[0\]: wattage_per_state: .* got 2 for 1 power state"),
    "idle above full": (hosts(watts='["9:8", "1:2"]'), r"hosts\[0\]: wattage_per_state: '9:8': the idle watts are above"),
    "unknown unit": (hosts(watts='["9hp:8", "1:2"]'), r"wattage_per_state: expected watts .*, got '9hp'"),
    "negative": (hosts(off="-3"), r"hosts\[0\].wattage_off: expected watts not below 0 .*, got '-3'"),
    "off alone": ("hosts: [{name: a, wattage_off: 3}]", r"hosts\[0\]: wattage_off: the host has no wattage_per_state"),
    "a chance above 1": ("hosts: [{name: a, boot_failure: 1.5}]", r"hosts\[0\].boot_failure: .*less than or equal to 1"),
    "boot alone": ("hosts: [{name: a, boot_wattage: 3}]", r"hosts\[0\]: boot_wattage: the host has no wattage_per_state"),
    "without quotes": (hosts(watts="[95:40, 90:30]"), r"wattage_per_state: expected watts in quotes such as '117:130:358'"),
    "no speed": (hosts(speed="[]"), r"speed: expected a speed such as '2.5Gf', or one for each power state"),
    "bad speed": (hosts(speed="[1Gf, fast]"), r"speed: expected a speed such as '2.5Gf', got 'fast'"),
    "unknown first state": (hosts() + "    pstate: 2", r"hosts\[0\]: pstate: expected a number below 2"),
    "link": (ONE + LINKS.format(policy="shared", watts="wattage_off: 3"), r"network.links\[0\]: wattage_off: the link has no"),
    "unknown state": (
        hosts() + "events: [{at: 1, host: n0, pstate: 2}]",
        r"events\[0\]: power state 2: host n0 has power states",
    ),
    "only one state": (
        ONE + "events: [{at: 1, host: n0, pstate: 1}]",
        "host n0 has power state 0 only, since",
    ),
    "unknown host": (
        ONE + "enclosures: [{name: c, hosts: n9, watts: 1}]",
        r"enclosures\[0\].hosts: 'n9' is not among",
    ),
    "size": (ONE + 'enclosures: [{name: c, hosts: "n[0-2]", size: 2, watts: 1}]', r"size: 3 hosts do not fill enclosures of 2"),
    "no watts inside": ("hosts: [{name: a}]\nenclosures: [{name: c, hosts: a, watts: 1}]", "host a has no wattage_per_state"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_line(name: str, tmp_path: Path) -> None:
    text, expected = WRONG[name]
    with pytest.raises(SimunixError) as raised:
        planned(tmp_path, text)
    said = str(raised.value)
    assert re.search(expected, said) and "\n" not in said and "s.yaml" in said, said


def test_two_enclosures_of_one_name(tmp_path: Path) -> None:
    sections = "enclosures: [{name: c, hosts: n0, watts: 1}, {name: c, hosts: n1, watts: 1}]"
    with pytest.raises(SimunixError, match="enclosures: 'c' is the name of two; names must differ"):
        planned(tmp_path, ONE, sections)


def test_enclosures_that_overlap(tmp_path: Path) -> None:
    inside = "{name: c, hosts: 'n[0-2]', watts: 1}, {name: r, hosts: 'n[0-3]', watts: 1}"
    sections = f"enclosures: [{inside}, {{name: d, hosts: 'n[2-3]', watts: 1}}]"
    with pytest.raises(SimunixError, match="enclosures: 'c' and 'd' share n2, and neither is inside of the other"):
        planned(tmp_path, ONE, sections)


def test_watts_beside_a_platform_file(tmp_path: Path) -> None:
    (tmp_path / "p.xml").write_text(
        '<platform version="4.1"><zone id="z" routing="Full"><host id="n0" speed="1Gf"/></zone></platform>'
    )
    with pytest.raises(SimunixError, match=r"hosts\[0\].wattage_per_state: speeds and watts are those of the platform file"):
        planned(tmp_path, 'hosts: [{name: n0, wattage_per_state: "1:2"}]', "network: {platform: p.xml}")


SHAPES = {
    "star": ("", 4 * 2),
    "cluster": ("  cluster: {backbone: 1Gbps}\n", 4 * 2),
    "shared cluster": ("  cluster: {}\n  policy: shared\n", 4),
    "torus": ("  torus: {dimensions: [2, 2]}\n", 4 * 2 * 2),
    "fat tree with empty places": ("  fat-tree: {down: [4, 2], up: [1, 2], cables: [1, 3]}\n", (8 + 4 * 3) * 2),
}


def energy_of(world: Fake, platform: Platform) -> Energy:
    """The meters of a platform."""
    kernel = world.kernel
    return Energy(kernel.clock, platform, kernel.network, kernel.wire, kernel.cpu, kernel.faults, enclosures=(), boots={})


@pytest.mark.parametrize("shape", SHAPES)
def test_every_cable_of_a_shape_has_its_watts(tmp_path: Path, shape: str) -> None:
    keys, directions = SHAPES[shape]
    network = f'network:\n  wattage_range: "1:3"\n  wattage_off: 0.5\n  bandwidth: 8Gbps\n{keys}'
    platform = planned(tmp_path, "hosts: [{name: 'n[0-3]'}]", network).plan.platform
    with fake() as world:
        energy = energy_of(world, platform)
    meters = energy.links.links.values()
    assert sum(meter.power.idle_w for meter in meters) == directions
    assert sum(meter.power.busy_w for meter in meters) == 3 * directions
    assert sum(meter.power.off_w for meter in meters) == directions / 2


def test_shapes_without_watts_make_no_cable(tmp_path: Path) -> None:
    platform = planned(tmp_path, "hosts: [{name: 'n[0-3]'}]", "network: {torus: {dimensions: [2, 2]}}").plan.platform
    with fake() as world:
        assert not energy_of(world, platform).is_metered
    root = platform.description.root
    assert isinstance(root, TorusZone) and not root._made


def test_watts_of_links_stand_where_the_links_do(tmp_path: Path) -> None:
    with pytest.raises(SimunixError, match=r"network: wattage_range: is for the cables of the other shapes; write it to each"):
        planned(tmp_path, "hosts: [{name: a}]", 'network: {wattage_range: "1:2", links: [{name: w, bandwidth: 1Gbps}]}')
