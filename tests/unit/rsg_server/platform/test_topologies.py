"""Units, and generated topologies: every pair is connected, and what should be symmetric is."""

from __future__ import annotations

import math
from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rsg_server.platform import units
from rsg_server.platform.dragonfly import DragonflyShape, DragonflyZone
from rsg_server.platform.fat_tree import FatTreeShape, FatTreeZone
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link
from rsg_server.platform.platform import Platform, zoned_platform
from rsg_server.platform.profile import Profile, parse_profile
from rsg_server.platform.topology import ClusterLinks, LinkKind
from rsg_server.platform.torus import TorusZone

LINKS = ClusterLinks(LinkKind(1e9, 1e-6), limiter_bytes_per_s=5e8)
small = st.integers(1, 3)


def hosts(count: int) -> list[Host]:
    return [Host(f"h{index}", (IPv4Address("10.0.0.1") + index,)) for index in range(count)]


@st.composite
def fat_trees(draw: st.DrawFn) -> Platform:
    levels = draw(st.integers(1, 3))
    parts = [tuple(draw(small) for _ in range(levels)) for _ in range(3)]
    shape = FatTreeShape(*parts)
    return zoned_platform(FatTreeZone("f", None, hosts(shape.hosts), shape, LINKS))


@st.composite
def tori(draw: st.DrawFn) -> Platform:
    dimensions = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    return zoned_platform(TorusZone("t", None, hosts(math.prod(dimensions)), dimensions, LINKS))


@st.composite
def dragonflies(draw: st.DrawFn) -> Platform:
    chassis, routers = draw(small), draw(small)
    groups = draw(st.integers(1, min(4, chassis * routers)))
    shape = DragonflyShape(groups, chassis, routers, draw(small), draw(small), draw(small), draw(small))
    return zoned_platform(DragonflyZone("d", None, hosts(shape.hosts), shape, LINKS))


def ends(platform: Platform, link: Link) -> set[str]:
    """What a link joins; empty for a limiter."""
    root = platform.description.root
    assert root is not None
    return {end for edge in root.edges() if link in edge.links for end in (edge.one, edge.other)}


@pytest.mark.parametrize("kind", [fat_trees, tori, dragonflies])
def test_a_route_is_a_chain_from_one_host_to_the_other(kind: object) -> None:
    @given(kind(), st.data())  # type: ignore[operator]
    def check(platform: Platform, data: st.DataObject) -> None:
        source, destination = (data.draw(st.sampled_from(platform.hosts)) for _ in range(2))
        route = platform.route(source, destination)
        if source is destination:
            assert [link.name for link in route.links] == ["__loopback__"]
            return
        here = source.name
        for link in route.links:
            assert platform.links[link.name] is link
            joined = ends(platform, link)
            assert here in joined or not joined
            here = next(iter(joined - {here}), here)
        assert here == destination.name
        back = platform.route(destination, source)
        assert back.latency_s == route.latency_s
        assert len(back.links) == len(route.links)

    check()


@given(dragonflies(), st.data())
def test_a_dragonfly_needs_five_cables_between_routers_at_most(platform: Platform, data: st.DataObject) -> None:
    source, destination = (data.draw(st.sampled_from(platform.hosts)) for _ in range(2))
    cables = [link for link in platform.route(source, destination).links if "limiter" not in link.name]
    assert len(cables) <= 7


@given(st.tuples(st.integers(1, 6), st.integers(1, 6)), st.data())
def test_a_torus_takes_a_shortest_way(dimensions: tuple[int, int], data: st.DataObject) -> None:
    zone = TorusZone("t", None, hosts(math.prod(dimensions)), dimensions, ClusterLinks(LinkKind(1.0, 0.0)))
    a, b = (data.draw(st.integers(0, math.prod(dimensions) - 1)) for _ in range(2))
    x, y = abs(a % dimensions[0] - b % dimensions[0]), abs(a // dimensions[0] - b // dimensions[0])
    assert len(zone.path(a, b)) == min(x, dimensions[0] - x) + min(y, dimensions[1] - y)


def test_a_dragonfly_may_have_more_groups_than_a_chassis_has_routers() -> None:
    shape = DragonflyShape(4, 2, 2, 1)
    platform = zoned_platform(DragonflyZone("d", None, hosts(shape.hosts), shape, ClusterLinks(LinkKind(1.0, 0.0))))
    names = [link.name for link in platform.route(platform.hosts[0], platform.hosts[15]).links]
    assert [name.split("_")[0] for name in names] == ["local", "green", "black", "blue", "green", "black", "local"]


# Units


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("125MBps", 125e6),
        ("10Gbps", 1.25e9),
        ("1Bps", 1),
        ("1KiBps", 1024),
        ("1kiBps", 1024),
        ("8Kibps", 1024),
        ("1.25E9Bps", 1.25e9),
    ],
)
def test_bandwidths(text: str, value: float) -> None:
    assert units.bandwidth_bytes_per_s(text) == value


@pytest.mark.parametrize(("text", "value"), [("50us", 50 * 1e-6), ("1.0E-4s", 1e-4), ("0", 0), ("2ps", 2e-12), ("1w", 604800)])
def test_times(text: str, value: float) -> None:
    assert units.time_s(text) == value


@pytest.mark.parametrize(("text", "value"), [("2.5Gf", 2.5e9), ("100megaflops", 1e8), ("21.496E9f", 21.496e9), ("1kf", 1e3)])
def test_speeds(text: str, value: float) -> None:
    assert units.speed_flops(text) == value


@given(st.floats(0, 1e15, allow_subnormal=False), st.sampled_from(sorted(units.BANDWIDTHS)))
def test_a_bandwidth_is_number_times_unit(number: float, unit: str) -> None:
    text = f"{number!r}{unit}"
    if number * units.BANDWIDTHS[unit] > 0:
        assert units.bandwidth_bytes_per_s(text) == number * units.BANDWIDTHS[unit]


@given(st.text(max_size=12))
def test_units_fail_in_no_other_way(text: str) -> None:
    for parse in (units.bandwidth_bytes_per_s, units.time_s, units.speed_flops):
        try:
            assert 0 <= parse(text) < math.inf
        except ValueError as error:
            assert "expected" in str(error)  # noqa: PT017


# Profiles


def test_a_profile() -> None:
    text = "# a comment\n0.5 25000000\n1.5 125000000\nLOOPAFTER 2\n"
    assert parse_profile("p", text) == Profile("p", ((0.5, 25e6), (1.5, 125e6)), 2.0)
    assert parse_profile("p", "PERIODICITY 12\n11 1\n").repeat_after_s == 1.0
    assert parse_profile("p", "0 1").repeat_after_s is None


@pytest.mark.parametrize("text", ["1 1\n0 1", "-1 1", "0 -1", "0", "0 1 2", "0 nan", "PERIODICITY 1\n2 1", "LOOPAFTER 0\n0 1"])
def test_a_wrong_profile(text: str) -> None:
    with pytest.raises(ValueError, match=r"line|period"):
        parse_profile("p", text)
