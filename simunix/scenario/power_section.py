"""The keys of a scenario about speeds and watts: power states of hosts, watts of hosts and links, and the enclosures
around hosts.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from rsg_server.platform.power import OFF, PER_STATE, RANGE, HostPower, LinkPower, host_power, link_power, watts
from simunix import units
from simunix.scenario.section import QUANTITY, HostList, Section


def _speeds(value: object) -> tuple[float, ...]:
    """Return one speed, or one for each power state, from a list or from a text with commas as in SimGrid's files."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, (list, tuple)) else [value]
    if not parts:
        raise ValueError("expected a speed such as '2.5Gf', or one for each power state, got an empty list")
    return tuple(units.speed_flops(part) for part in parts)


def _ranges(value: object) -> str:
    """Return watts in SimGrid's notation, from a text or a list of texts. (YAML reads 95:40 without quotes as a number
    to base 60.)
    """
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)) or not parts or not all(isinstance(part, str) for part in parts):
        raise ValueError(f"expected watts in quotes such as '117:130:358', got {value!r}")
    return ",".join(parts)


def _watts(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"expected watts such as 14, '14W' or '0.9kW', got {value!r}")
    return watts(str(value))


_TEXTS = WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]})
_NUMBERS = WithJsonSchema(
    {"anyOf": [{"type": ["string", "number"]}, {"type": "array", "items": {"type": ["string", "number"]}, "minItems": 1}]}
)
Speeds = Annotated[tuple[float, ...], BeforeValidator(_speeds), _NUMBERS]
"""The speed of a core in each power state, in flop/s."""
WattRanges = Annotated[str, BeforeValidator(_ranges), _TEXTS]
Watts = Annotated[float, BeforeValidator(_watts), QUANTITY]


class EnclosureSection(Section):
    """Enclosures, such as chassis or racks, with watts of their own: each has `size` of the `hosts` (without `size`,
    all), in the order of the list.

    An enclosure whose hosts are all off draws no power, and then its hosts draw none either.
    """

    name: str
    hosts: HostList
    size: Annotated[int | None, Field(ge=1)] = None
    watts: Watts


class BmcSection(Section):
    """Baseboard management controllers (BMCs): the hosts `name`, each of which answers IPMI requests for one of
    `hosts`, in their order.

    A BMC is an ordinary host of the scenario; it stays on while its host is off.
    """

    name: HostList
    hosts: HostList
    user: str = "admin"
    password: str = "admin"


def power_of_host(ranges: str | None, off_w: float | None, speeds: int) -> HostPower | None:
    """Return the watts of a host with `speeds` power states; None if no key gives watts. Raises ValueError for
    malformed watts.
    """
    return host_power(_properties(PER_STATE, ranges, off_w), speeds)


def power_of_link(ranges: str | None, off_w: float | None) -> LinkPower | None:
    """Return the watts of a link; None if no key gives watts. Raises ValueError for malformed watts."""
    return link_power(_properties(RANGE, ranges, off_w))


def _properties(name: str, ranges: str | None, off_w: float | None) -> dict[str, str]:
    said = {name: ranges, OFF: None if off_w is None else repr(off_w)}
    return {key: value for key, value in said.items() if value is not None}
