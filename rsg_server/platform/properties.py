"""SimGrid's `<prop>`: names with values, which hosts and disks may have."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})


def no_properties() -> Mapping[str, str]:
    """The properties of a host or disk without any; one object for all."""
    return NO_PROPERTIES
