"""Network namespaces that programs make within their host's (network_namespaces(7)): each has a loopback, and nothing else.

A socket belongs to the namespace that its maker is in. The simulated network knows hosts alone, so a namespace is a host beside
its host, with the same processes and without addresses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rsg_server.process.host_state import HostState

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


def network_of(actor: Actor) -> HostState:
    """Where the sockets that an actor makes, and its interfaces, are: its host, or a namespace within that."""
    return actor.network or actor.process.host


def enter(actor: Actor, inode: int, is_new: bool) -> None:
    """An actor has come into the namespace that the kernel knows by an inode: a new one, or one of the host's that is there."""
    host = actor.process.host
    if is_new:  # the inode may have been that of one which is gone
        host.networks[inode] = HostState(replace(host.host, addresses=()), host.flags, host.files, host.processes, around=host)
    actor.network = host.networks.get(inode)
