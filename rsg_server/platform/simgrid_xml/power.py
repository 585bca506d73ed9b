"""Watts of hosts and links: the properties of SimGrid's plugins host_energy and link_energy."""

from __future__ import annotations

from rsg_server.platform.power import HostPower, LinkPower, host_power, link_power
from rsg_server.platform.simgrid_xml.context import Context
from rsg_server.platform.simgrid_xml.tree import Element


def power_of_host(context: Context, element: Element, states: int) -> HostPower | None:
    """Return what a host, or each host of a cluster, draws in each power state; None without (possible) watts.

    Impossible watts are a warning: SimGrid reads them only where its plugin host_energy is loaded.
    """
    try:
        return host_power(context.properties(element), states)
    except ValueError as error:
        context.warn(element, f"{error}; read without watts, so no energy is known of it")
        return None


def power_of_link(context: Context, element: Element) -> LinkPower | None:
    """Return what a link draws; None without watts, or with impossible watts, which are a warning."""
    try:
        return link_power(context.properties(element))
    except ValueError as error:
        context.warn(element, f"{error}; read without watts, so no energy is known of it")
        return None
