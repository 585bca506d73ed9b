"""Convert the speeds and watts of hosts and links to SimGrid's properties and to keys of a scenario."""

from __future__ import annotations

from typing import Any

from rsg_server.platform.host import Host
from rsg_server.platform.link import Link
from rsg_server.platform.power import PER_STATE, host_properties, link_properties


def properties_of_host(host: Host) -> dict[str, str]:
    """Return the SimGrid properties with a host's watts; empty if its watts are unknown."""
    return host_properties(host.power) if host.power is not None else {}


def properties_of_link(link: Link) -> dict[str, str]:
    """Return the SimGrid properties with a link's watts; empty if its watts are unknown."""
    return link_properties(link.power) if link.power is not None else {}


def keys_of_host(host: Host) -> dict[str, Any]:
    """Return the keys of a scenario for a host's speeds, first power state and watts.

    For a host with `stopped_states`, only the first state's speed is returned, or nothing if that speed is 0.
    """
    if host.speed_flops <= 0:
        return {}
    if stopped_states(host):
        return {"speed": f"{host.speed_flops!r}f"}
    speeds = [f"{speed!r}f" for speed in host.speeds_flops]
    keys: dict[str, Any] = {"speed": speeds[0] if len(speeds) == 1 else speeds}
    if host.power_state:
        keys["pstate"] = host.power_state
    if host.power is not None:
        keys |= host_properties(host.power)
        keys[PER_STATE] = keys[PER_STATE].split(",")
    return keys


def stopped_states(host: Host) -> bool:
    """Return whether a power state has the speed 0, which SimGrid's users give to boots and which no host of a scenario
    can have.
    """
    return min(host.speeds_flops) <= 0
