"""Capacities and names as people read them."""

from __future__ import annotations

from collections.abc import Sequence

from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, SharingPolicy

POLICIES = {SharingPolicy.SHARED: "", SharingPolicy.FATPIPE: "fat pipe"}


def scaled(value: float, unit: str) -> str:
    """`10 Gbit/s`"""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.6g} {prefix}{unit}"
    return f"{value:.6g} {unit}"


def bandwidth(link: Link) -> str:
    """In bits, as on the box of a switch."""
    return scaled(link.bandwidth_bytes_per_s * 8, "bit/s")


def latency(seconds: float) -> str:
    """`25 µs`"""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor:
            return f"{seconds / factor:.6g} {unit}"
    return f"{seconds * 1e9:.6g} ns" if seconds else "0 s"


def capacity(link: Link) -> str:
    """`10 Gbit/s, 25 µs, fat pipe`"""
    return ", ".join(filter(None, (bandwidth(link), latency(link.latency_s), POLICIES[link.policy])))


def speed(host: Host) -> str:
    """Of one core."""
    return scaled(host.speed_flops, "flop/s")


def some(names: Sequence[str], shown: int = 3) -> str:
    """All names of few, the first and last of many."""
    return ", ".join(names) if len(names) <= shown else f"{names[0]} … {names[-1]}"
