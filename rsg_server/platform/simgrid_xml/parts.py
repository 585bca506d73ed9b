"""Reads the hosts, routers, links and peers of a zone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from types import MappingProxyType

from rsg_server.platform import units
from rsg_server.platform.disk import Disk
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.platform.profile import Changes
from rsg_server.platform.simgrid_xml.context import Context, Duplex
from rsg_server.platform.simgrid_xml.power import power_of_host, power_of_link
from rsg_server.platform.simgrid_xml.tree import Element
from rsg_server.platform.stars import VivaldiZone
from rsg_server.platform.zone import Zone

SHARED_POLICIES = {"SHARED": SharingPolicy.SHARED, "FATPIPE": SharingPolicy.FATPIPE}
CORES_MAX = 1_000_000
NO_SPEED = "speed 0: nothing can compute there; give it a speed above 0 if something is to"
_LEADING_INTEGER = re.compile(r"\s*\+?([0-9]{1,9})")


def whole(text: str) -> int:
    """Return the whole number, at least 1, that a text contains. Raises ValueError."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if not 1 <= value <= CORES_MAX:
        raise ValueError(f"expected a whole number from 1, got {text[:60]!r}")
    return value


def cores_of(context: Context, element: Element) -> int:
    """Return the number of cores of a host, or of each host of a cluster. As in SimGrid, text behind the number is ignored."""
    text = element.attributes["core"]
    match = _LEADING_INTEGER.match(text)
    if match is None or match[1] == text:
        return context.value(element, "core", whole)
    element.attributes["core"] = match[1]
    context.warn(element, f"core: {text[:60]!r} counts as {match[1]}, as in SimGrid: write a whole number")
    return context.value(element, "core", whole)


def note_policy(context: Context, element: Element) -> None:
    """Record a warning if an element has the old name of a sharing policy."""
    if element.attributes["sharing_policy"] == "FULLDUPLEX":
        context.warn(element, "sharing_policy: FULLDUPLEX is the old name of SPLITDUPLEX; write that")


def speeds(text: str) -> tuple[float, ...]:
    """Return the speeds (flop/s) in a text, one for each power state."""
    return tuple(units.speed_flops(part) for part in text.split(","))


def coordinates(text: str) -> tuple[float, float, float] | None:
    """Return the coordinates of a text `x y height`, in milliseconds; None for an empty text."""
    if not text:
        return None
    try:
        x, y, height = (float(part) for part in text.split())
    except ValueError:
        raise ValueError(f"expected three numbers 'x y height' in milliseconds, got {text[:60]!r}") from None
    if not all(map(math.isfinite, (x, y, height))):
        raise ValueError(f"expected three finite numbers, got {text[:60]!r}")
    return x, y, height


def power_state(text: str) -> int:
    """Return the number of the initial power state, which SimGrid's DTD writes as 0.0."""
    try:
        return max(0, int(float(text)))
    except (ValueError, OverflowError):
        raise ValueError(f"expected the number of a power state, got {text[:60]!r}") from None


def add_host(context: Context, element: Element, zone: Zone) -> None:
    """Add the host that a `<host>` element describes, with its disks and properties."""
    all_speeds = context.quantity(element, "speed", speeds)
    state = context.value(element, "pstate", power_state)
    if state >= len(all_speeds):
        text = f"power state {state} has no speed; give {state + 1} speeds, or another pstate"
        raise context.fail(element, f"{context.name_of(element)}: speed: {text}")
    if all_speeds[state] <= 0:
        context.warn(element, NO_SPEED)
    host = Host(
        element.attributes["id"],
        (context.next_address(element),),
        cores_of(context, element),
        speeds_flops=all_speeds,
        power_state=state,
        properties=MappingProxyType(context.properties(element)),
        disks=tuple(_disks(context, element)),
        coordinates=context.value(element, "coordinates", coordinates),
        power=power_of_host(context, element, len(all_speeds)),
    )
    context.add_point(element, zone.add_host(host))
    host_profiles(context, element, host.name)


def host_profiles(context: Context, element: Element, name: str) -> None:
    """Use the profiles (speed, state) of a host or peer."""
    if element.attributes["availability_file"]:
        context.warn(element, "availability_file is the old name of speed_file; write that")
    key = "speed_file" if element.attributes["speed_file"] else "availability_file"
    context.use_profile(element, key, Changes.SPEED, [name])
    context.use_profile(element, "state_file", Changes.HOST_STATE, [name])


def _disks(context: Context, host: Element) -> Iterator[Disk]:
    lines: dict[str, int] = {}
    for element in host.below("disk"):
        context.check(element)
        name = element.attributes["id"]
        if not name or name in lines:
            there = f"this host has a disk {name!r} in line {lines[name]} already; choose another name" if name else ""
            raise context.fail(element, f"{context.name_of(element)}: {there or 'empty name; give it one'}")
        lines[name] = element.line
        yield _disk(context, element)


def _disk(context: Context, element: Element) -> Disk:
    """Return the disk that a `<disk>` element describes.

    The property `size` of a disk is that of SimGrid's file systems; SimGrid ignores other properties.
    """
    fair_per = context.properties(element).get("fair_per", "operation")
    if fair_per not in ("operation", "application"):
        text = f"property fair_per: expected operation or application, got {fair_per!r}"
        raise context.fail(element, f"{context.name_of(element)}: {text}")
    return Disk(
        element.attributes["id"],
        context.quantity(element, "read_bw", units.bandwidth_bytes_per_s),
        context.quantity(element, "write_bw", units.bandwidth_bytes_per_s),
        context.property_value(element, "readwrite_bw", units.bandwidth_bytes_per_s),
        context.property_value(element, "latency", units.time_s) or 0.0,
        context.property_value(element, "size", units.size_bytes),
        MappingProxyType(context.properties(element)),
        fair_per == "application",
    )


def add_router(context: Context, element: Element, zone: Zone) -> None:
    """Add the router that a `<router>` element describes."""
    point = zone.add_router(element.attributes["id"], context.value(element, "coordinates", coordinates))
    context.add_point(element, point)


def add_link(context: Context, element: Element, zone: Zone) -> None:
    """Add the link that a `<link>` element describes. A split-duplex link becomes two links."""
    name, policy = element.attributes["id"], element.attributes["sharing_policy"]
    if policy == "WIFI":
        text = "sharing_policy: WIFI is not modelled; use SHARED, with the rate of one station as bandwidth"
        raise context.fail(element, f"{context.name_of(element)}: {text}")
    note_policy(context, element)
    bandwidth = context.quantity(element, "bandwidth", units.bandwidth_bytes_per_s)
    latency = context.quantity(element, "latency", units.time_s)
    power = power_of_link(context, element)
    link: Link | Duplex
    if policy in SHARED_POLICIES:
        link = Link(name, bandwidth, latency, SHARED_POLICIES[policy], power)
        names = [name]
    else:
        up, down = (Link(f"{name}_{way}", bandwidth, latency, power=power) for way in ("UP", "DOWN"))
        link = Duplex(up, down)
        names = [link.up.name, link.down.name]
    context.add_link(element, zone, name, link)
    context.use_profile(element, "bandwidth_file", Changes.BANDWIDTH, names)
    context.use_profile(element, "latency_file", Changes.LATENCY, names)
    context.use_profile(element, "state_file", Changes.LINK_STATE, names)


def add_peer(context: Context, element: Element, zone: Zone) -> None:
    """Add what a `<peer>` element describes: a host with coordinates and access links.

    As in SimGrid, `lat` is not used; the height of the coordinates is the latency.
    """
    if not isinstance(zone, VivaldiZone):
        raise context.fail(
            element, f"{context.name_of(element)}: peers need a zone with routing Vivaldi; {zone.name} has another"
        )
    where = context.value(element, "coordinates", coordinates)
    if where is None:
        raise context.fail(element, f"{context.name_of(element)}: attribute 'coordinates' is missing; add it")
    name = element.attributes["id"]
    speed = context.quantity(element, "speed", units.speed_flops)
    host = Host(name, (context.next_address(element),), speeds_flops=(speed,), coordinates=where)
    point = zone.add_host(host)
    context.add_point(element, point)
    spoke = zone.spoke(point)
    up = Link(f"link_{name}_UP", context.quantity(element, "bw_out", units.bandwidth_bytes_per_s), 0.0)
    down = Link(f"link_{name}_DOWN", context.quantity(element, "bw_in", units.bandwidth_bytes_per_s), 0.0)
    for link in (up, down):
        context.add_link(element, zone, link.name, link)
    spoke.up, spoke.down = (up,), (down,)
    host_profiles(context, element, name)
