"""Format capacities and names for people."""

from __future__ import annotations

from collections.abc import Sequence

from rsg_server.platform.disk import Disk
from rsg_server.platform.host import Host
from rsg_server.platform.link import Link, SharingPolicy

POLICIES = {SharingPolicy.SHARED: "", SharingPolicy.FATPIPE: "fat pipe"}


def scaled(value: float, unit: str) -> str:
    """Return a value as a text with three digits, unit and prefix: `10 Gbit/s`."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.6g} {prefix}{unit}"
    return f"{value:.6g} {unit}"


def bandwidth(link: Link) -> str:
    """Return the bandwidth of a link in bits per second, as data sheets of switches give it."""
    return scaled(link.bandwidth_bytes_per_s * 8, "bit/s")


def latency(seconds: float) -> str:
    """Return a latency with its unit: `25 µs`."""
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor:
            return f"{seconds / factor:.6g} {unit}"
    return f"{seconds * 1e9:.6g} ns" if seconds else "0 s"


def capacity(link: Link) -> str:
    """Return the capacity of a link as a text: `10 Gbit/s, 25 µs, fat pipe`."""
    return ", ".join(filter(None, (bandwidth(link), latency(link.latency_s), POLICIES[link.policy])))


def storage(disk: Disk) -> tuple[str, ...]:
    """Return texts about a storage, in bytes as in data sheets: bandwidths of reads, of writes and of both together,
    latency, capacity.
    """
    rates = (disk.read_bytes_per_s, disk.write_bytes_per_s, disk.together_bytes_per_s)
    size = scaled(disk.capacity_bytes, "B") if disk.capacity_bytes is not None else "any"
    return (*(scaled(rate, "B/s") for rate in rates), latency(disk.latency_s), size)


def speed(host: Host) -> str:
    """Return the speed of one core of a host."""
    return scaled(host.speed_flops, "flop/s")


def some(names: Sequence[str], shown: int = 3) -> str:
    """Return a text with all names if they are few, else with the first and the last ones."""
    return ", ".join(names) if len(names) <= shown else f"{names[0]} … {names[-1]}"
