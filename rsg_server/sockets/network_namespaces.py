"""Network namespaces that programs make on their host (network_namespaces(7)). Each of these namespaces has a loopback
interface and no other one. A socket belongs to the namespace of the thread that makes the socket. The simulated network
knows hosts only. So a namespace is represented by a further host without addresses, which has the same processes as the
real host.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rsg_server.process.host_state import HostState

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor


def network_of(actor: Actor) -> HostState:
    """Return the host, or the namespace on it, that has the sockets and interfaces of an actor."""
    return actor.network or actor.process.host


def enter(actor: Actor, inode: int, is_new: bool) -> None:
    """Note that an actor has entered the namespace with this inode: a new one, or one that its host has already."""
    host = actor.process.host
    if is_new:  # a namespace that does not exist any more may have had the same inode
        host.networks[inode] = HostState(replace(host.host, addresses=()), host.flags, host.files, host.processes, around=host)
    actor.network = host.networks.get(inode)
