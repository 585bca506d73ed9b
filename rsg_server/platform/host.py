"""A host of the platform: what does not change while it runs."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address


@dataclass(frozen=True, slots=True)
class Host:
    """Name, addresses, logical processors, memory."""

    name: str
    addresses: tuple[IPv4Address | IPv6Address, ...]
    cores: int = 1
    memory_bytes: int = 4 << 30
