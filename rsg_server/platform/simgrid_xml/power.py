"""Reads the watts of hosts and links from properties of SimGrid's plugins host_energy and link_energy."""

from __future__ import annotations

from rsg_server.platform.power import HostPower, LinkPower, host_power, link_power
from rsg_server.platform.simgrid_xml.context import Context
from rsg_server.platform.simgrid_xml.tree import Element


def power_of_host(context: Context, element: Element, states: int) -> HostPower | None:
    """Return the watts of a host, or of each host of a cluster, per power state; None if the element has no (valid) watts.

    Invalid watts are only a warning, since SimGrid reads them only if its plugin host_energy is loaded.
    """
    try:
        return host_power(context.properties(element), states)
    except ValueError as error:
        context.warn(element, f"{error}; read without watts, so no energy is known of it")
        return None


def power_of_link(context: Context, element: Element) -> LinkPower | None:
    """Return the watts of a link; None if the element has none, or has invalid ones, which are only a warning."""
    try:
        return link_power(context.properties(element))
    except ValueError as error:
        context.warn(element, f"{error}; read without watts, so no energy is known of it")
        return None
