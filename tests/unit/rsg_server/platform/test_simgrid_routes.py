"""Routes are SimGrid's: recorded from SimGrid 3.32 for its own example platforms and for generated ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from rsg_server.platform.errors import NoRouteError, PlatformError
from rsg_server.platform.host import Host
from rsg_server.platform.platform import Platform
from rsg_server.platform.simgrid_xml import load_platform

FOLDER = Path(__file__).parent / "simgrid_platforms"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
LIMIT = 3000
REFUSED = {
    "wifi.xml": "Wifi is not modelled",
    "wifi_energy.xml": "Wifi is not modelled",
    "wifi_ns3.xml": "Wifi is not modelled",
}
EVERY = sorted(path.name for path in FOLDER.glob("*.xml"))


def pairs(platform: Platform) -> Iterator[tuple[Host, Host]]:
    """As record.cpp chooses them."""
    hosts = sorted(platform.hosts, key=lambda host: host.name.encode())
    count = len(hosts)
    if count * count <= LIMIT:
        yield from ((a, b) for a in hosts for b in hosts)
    else:
        for k in range(LIMIT):
            yield hosts[k * 7919 % count], hosts[k * 104729 % (count * count) // count]


def answer(platform: Platform, source: Host, destination: Host, ordered: bool) -> str:
    try:
        route = platform.route(source, destination)
    except NoRouteError:
        return "\t".join((source.name, destination.name, "no route", ""))
    names = [link.name for link in route.links]
    return "\t".join((source.name, destination.name, f"{route.latency_s:.9e}", " ".join(names if ordered else sorted(names))))


@pytest.mark.parametrize("file", [name for name in EXPECTED if name not in REFUSED])
def test_every_route_is_simgrids(file: str) -> None:
    path = FOLDER / file
    platform = load_platform(path, simgrid_compat=True)
    answers = [answer(platform, *pair, ordered="Dijkstra" not in path.read_text()) for pair in pairs(platform)]
    wanted = EXPECTED[file]
    assert len(answers) == wanted["pairs"]
    assert [line for line in wanted["samples"] if line not in answers] == []
    assert hashlib.sha256("\n".join(answers).encode()).hexdigest() == wanted["sha256"]


@pytest.mark.parametrize("file", EVERY)
def test_every_example_loads_or_says_why_not(file: str) -> None:
    if file in REFUSED:
        with pytest.raises(PlatformError, match=REFUSED[file]):
            load_platform(FOLDER / file)
        return
    platform = load_platform(FOLDER / file)
    assert platform.hosts
    assert len(platform.links) == len(set(platform.links.values()))


def route_names(file: str, source: str, destination: str, compat: bool) -> list[str]:
    platform = load_platform(FOLDER / file, simgrid_compat=compat)
    route = platform.route(platform.host_by_name(source), platform.host_by_name(destination))
    return [link.name for link in route.links]


def test_a_dragonfly_keeps_to_its_chassis_unless_it_is_to_be_simgrids() -> None:
    """Nodes 20 and 22 are in chassis 2 of group 0, on neighbouring routers: one green cable joins them."""
    ends = ("node-20.simgrid.org", "node-22.simgrid.org")
    right = [name for name in route_names("cluster_dragonfly.xml", *ends, compat=False) if "limiter" not in name]
    simgrid = [name for name in route_names("cluster_dragonfly.xml", *ends, compat=True) if "limiter" not in name]
    assert [name.split("_")[0] for name in right] == ["local", "green", "local"]
    assert [name.split("_")[0] for name in simgrid] == ["local", "green", "black", "local"]


def test_dijkstra_takes_the_least_latency_unless_it_is_to_be_simgrids() -> None:
    content = """<platform version="4.1"><zone id="z" routing="Dijkstra"><host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
    <router id="r"/><link id="slow" bandwidth="1GBps" latency="1s"/><link id="l1" bandwidth="1GBps" latency="1ms"/>
    <link id="l2" bandwidth="1GBps" latency="1ms"/><route src="a" dst="b"><link_ctn id="slow"/></route>
    <route src="a" dst="r"><link_ctn id="l1"/></route><route src="r" dst="b"><link_ctn id="l2"/></route></zone></platform>"""
    platforms = [load(content, compat) for compat in (False, True)]
    routes = [p.route(p.host_by_name("a"), p.host_by_name("b")) for p in platforms]
    assert [[link.name for link in route.links] for route in routes] == [["l1", "l2"], ["slow"]]


def load(content: str, compat: bool = False) -> Platform:
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".xml") as file:
        file.write(content)
        file.flush()
        return load_platform(file.name, simgrid_compat=compat)


def test_zones_with_coordinates_are_as_far_apart_as_their_routers() -> None:
    """SimGrid 3.32 stops at this example; the distance here is computed by hand from the routers of the two data centres."""
    platform = load_platform(FOLDER / "cloud.xml")
    first, last = platform.hosts[0], platform.hosts[-1]
    assert platform.route(first, last).distance_s > 0
    assert platform.route(first, platform.hosts[1]).distance_s == 0


def test_a_host_without_a_loopback_reaches_itself_at_once() -> None:
    platform = load_platform(FOLDER / "cluster_backbone.xml")
    host = platform.hosts[3]
    assert [link.name for link in platform.route(host, host).links] == ["__loopback__"]


def test_an_unconnected_pair_is_named_with_its_zone() -> None:
    platform = load_platform(FOLDER / "small_platform_routing_none.xml")
    with pytest.raises(
        NoRouteError, match=r"small_platform_routing_none\.xml:\d+: no route from \w+ to \w+ in zone \w+; add a"
    ):
        platform.route(platform.hosts[0], platform.hosts[1])
