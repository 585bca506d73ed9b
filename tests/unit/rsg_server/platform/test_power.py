"""Watts of platform files: what they mean, and what is wrong with them, in one line with file, line and property."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.platform.power import HostPower, LinkPower, PowerRange, host_power, host_properties, link_power, link_properties
from rsg_server.platform.simgrid_xml import load_platform

HOST = '<host id="a" speed="2Gf,1Gf" core="4">{}</host>\n'
WIRE = '<link id="l" bandwidth="1GBps" sharing_policy="SPLITDUPLEX">{}</link>\n'
CLUSTER = '<cluster id="c" prefix="n" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us">{}</cluster>\n'


def prop(name: str, value: str) -> str:
    return f'<prop id="{name}" value="{value}"/>'


STATES = prop("wattage_per_state", "100:120:200, 93:110:170W")


def written(folder: Path, *inside: str) -> Path:
    file = folder / "p.xml"
    body = "\n".join(inside)
    file.write_text(
        f'<?xml version="1.0"?>\n<platform version="4.1">\n<zone id="z" routing="Full">\n{body}</zone></platform>\n'
    )
    return file


def test_watts_of_hosts_links_and_clusters(tmp_path: Path) -> None:
    wire = WIRE.format(prop("wattage_range", "10.3581:35.2161") + prop("wattage_off", "0.5"))
    cluster = CLUSTER.format(prop("watt_per_state", "0.1kW:0.2kW"))
    platform = load_platform(written(tmp_path, HOST.format(STATES + prop("wattage_off", "10")), wire, cluster))
    power = HostPower((PowerRange(100, 120, 200), PowerRange(93, 110, 170)), 10)
    assert platform.host_by_name("a").power == power
    assert platform.links["l_UP"].power == platform.links["l_DOWN"].power == LinkPower(10.3581, 35.2161, 0.5)
    assert platform.host_by_name("n1").power == HostPower((PowerRange(100, 100, 200),))
    assert platform.links["c_link_0_UP"].power is None


def test_power_by_load() -> None:
    power = PowerRange(100, 120, 200)
    assert [power.watts(load) for load in (0, 1e-9, 0.5, 1)] == [100, pytest.approx(120), 160, 200]


WRONG = {
    "a pstate without watts": (
        HOST.format(prop("wattage_per_state", "1:2:3")),
        "wattage_per_state: expected watts for each .* 1 for 2",
    ),
    "watts without a pstate": (HOST.format(STATES.replace("W", ",1:2")), "wattage_per_state: .* got 3 for 2 power states"),
    "off alone": (HOST.format(prop("wattage_off", "3")), "wattage_off: the host has no wattage_per_state; add wattage"),
    "idle above full": (
        HOST.format(prop("wattage_per_state", "9:9:8,1:2")),
        "'9:9:8': the idle watts are above the watts of full load",
    ),
    "epsilon above full": (HOST.format(prop("wattage_per_state", "1:9:8,1:2")), "'1:9:8': the idle watts are above"),
    "negative": (
        HOST.format(prop("wattage_per_state", "-1:2,1:2")),
        "wattage_per_state: expected watts not below 0 .*, got '-1'",
    ),
    "negative off": (HOST.format(STATES + prop("wattage_off", "-1")), "wattage_off: expected watts not below 0 .*, got '-1'"),
    "unknown unit": (HOST.format(prop("wattage_per_state", "1hp:2,1:2")), "wattage_per_state: expected watts .*, got '1hp'"),
    "one number": (
        HOST.format(prop("wattage_per_state", "100,90")),
        "expected 'idle:epsilon:full' or 'idle:full' .*, got '100'",
    ),
    "too large": (HOST.format(prop("wattage_per_state", "1:1e99,1:2")), "expected watts .*, got '1e99'"),
    "not a number": (HOST.format(prop("wattage_per_state", "1:nan,1:2")), "expected watts .*, got 'nan'"),
    "link": (WIRE.format(prop("wattage_range", "5")), "wattage_range: expected 'idle:busy', got '5'"),
    "link, falling": (WIRE.format(prop("wattage_range", "5:4")), "wattage_range: '5:4': the idle watts are above"),
    "link, off alone": (WIRE.format(prop("wattage_off", "5")), "wattage_off: the link has no wattage_range; add wattage_range"),
    "cluster": (CLUSTER.format(prop("wattage_per_state", "1:2,1:2")), "wattage_per_state: .* got 2 for 1 power state"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_a_warning_and_leaves_the_watts_out(name: str, tmp_path: Path) -> None:
    body, expected = WRONG[name]
    file = written(tmp_path, body, '<host id="other" speed="1Gf"/>')
    platform = load_platform(file)
    assert not any(each.power for each in (*platform.hosts, *platform.links.values()))
    (text,) = (text for text in platform.description.warnings if "read without watts" in text)
    assert text.startswith(f"{file}:4: <") and re.search(expected, text) and "\n" not in text, text


WATTS = st.floats(0, 1e6)
RANGES = st.lists(st.tuples(WATTS, WATTS, WATTS).map(sorted).map(lambda found: PowerRange(*found)), min_size=1, max_size=5)


@given(RANGES, WATTS)
def test_properties_are_read_as_they_were_written(ranges: list[PowerRange], off: float) -> None:
    power = HostPower(tuple(ranges), off)
    assert host_power(host_properties(power), len(ranges)) == power
    wire = LinkPower(ranges[0].idle_w, ranges[0].full_w, off)
    assert link_power(link_properties(wire)) == wire


@given(st.text(max_size=30), st.integers(1, 3))
def test_any_text_is_watts_or_a_value_error_of_one_line(text: str, states: int) -> None:
    for parse in (lambda: host_power({"wattage_per_state": text}, states), lambda: link_power({"wattage_range": text})):
        said = ""
        try:
            parse()
        except ValueError as error:
            said = str(error)
        assert not said or (len(said.splitlines()) == 1 and said.startswith("wattage_"))
