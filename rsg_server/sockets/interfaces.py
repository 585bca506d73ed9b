"""The network interfaces of a host, lo and eth0, as programs of the host see them.

Their properties follow from the host's addresses and link.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, ip_interface, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.platform.platform import Platform

UP, BROADCAST, LOOPBACK, RUNNING, MULTICAST, LOWER_UP = 0x1, 0x2, 0x8, 0x40, 0x1000, 0x10000
ARPHRD_ETHER, ARPHRD_LOOPBACK = 1, 772
PREFIX_RANGE = {4: (8, 24), 6: (32, 64)}
"""The lengths of network prefixes that eth0 may have, by address family.

Within them, its network is the smallest one that contains all hosts.
"""
SPEED_ALONE_MBIT = 10_000

AnyInterface = IPv4Interface | IPv6Interface
AnyAddress = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """One network interface, as `ip address` shows it."""

    index: int
    name: str
    flags: int
    kind: int
    mtu: int
    hardware: bytes
    addresses: tuple[AnyInterface, ...]
    speed_mbit: int = 0

    @property
    def is_loopback(self) -> bool:
        """Whether the interface is lo."""
        return bool(self.flags & LOOPBACK)


LO = Interface(
    index=1,
    name="lo",
    flags=UP | LOOPBACK | RUNNING | LOWER_UP,
    kind=ARPHRD_LOOPBACK,
    mtu=65536,
    hardware=bytes(6),
    addresses=(ip_interface("127.0.0.1/8"), ip_interface("::1/128")),
)


class InterfaceTable:
    """The network interfaces of every host of a platform."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        known = [address for host in platform.hosts for address in host.addresses]
        self._prefixes = {family: _prefix(family, [one for one in known if one.version == family]) for family in (4, 6)}
        self._known: dict[str, tuple[Interface, ...]] = {}

    def of(self, host: Host) -> tuple[Interface, ...]:
        """Return lo and eth0, in the order of their indices; for a host without an address lo alone (see
        network_namespaces.py).
        """
        if not host.addresses:
            return (LO,)
        if host.name not in self._known:
            self._known[host.name] = (LO, self._eth0(host))
        return self._known[host.name]

    def _eth0(self, host: Host) -> Interface:
        return Interface(
            index=2,
            name="eth0",
            flags=UP | BROADCAST | RUNNING | MULTICAST | LOWER_UP,
            kind=ARPHRD_ETHER,
            mtu=1500,
            hardware=_hardware(host),
            addresses=tuple(ip_interface(f"{address}/{self._prefixes[address.version]}") for address in host.addresses),
            speed_mbit=self._speed_mbit(host),
        )

    def _speed_mbit(self, host: Host) -> int:
        """Return the speed (Mbit/s) of the first link to another host."""
        for other in self._platform.hosts:
            if other is not host:
                return round(self._platform.route(host, other).links[0].bandwidth_bytes_per_s * 8 / 1e6)
        return SPEED_ALONE_MBIT

    def is_on_link(self, host: Host, address: AnyAddress) -> bool:
        """Return whether an address is in the network of the host's eth0."""
        return any(address in own.network for own in self.of(host)[1].addresses)

    def reaches_beyond(self, host: Host) -> bool:
        """Return whether some hosts of the platform are outside of the network of eth0, so that the host needs a
        default route.
        """
        own = {address.version for address in host.addresses}
        known = (address for other in self._platform.hosts for address in other.addresses)
        return not all(self.is_on_link(host, address) for address in known if address.version in own)


def _prefix(family: int, addresses: list[AnyAddress]) -> int:
    """Return the length of the prefix that all addresses of a family have in common, within PREFIX_RANGE."""
    shortest, longest = PREFIX_RANGE[family]
    if not addresses:
        return longest
    bits = addresses[0].max_prefixlen
    differ = int(min(addresses, key=int)) ^ int(max(addresses, key=int))
    found = max(shortest, min(longest, bits - differ.bit_length()))
    while found > shortest and any(_is_edge(address, found) for address in addresses):
        found -= 1
    return found


def _is_edge(address: AnyAddress, prefix: int) -> bool:
    """Return whether an address is the first or last one of an IPv4 network, which no host can have."""
    network = ip_network(f"{address}/{prefix}", strict=False)
    return address.version == 4 and address in (network.network_address, network.broadcast_address)


def _hardware(host: Host) -> bytes:
    """Return a locally administered MAC address that contains the host's first address, as container networks make them."""
    first = host.addresses[0].packed if host.addresses else bytes(4)
    return b"\x02\x42" + first[-4:]
