"""The properties (SimGrid's `<prop>`, names and values) that hosts and disks may have."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

NO_PROPERTIES: Mapping[str, str] = MappingProxyType({})


def no_properties() -> Mapping[str, str]:
    """Return the empty properties of a host or disk: one object for all."""
    return NO_PROPERTIES
