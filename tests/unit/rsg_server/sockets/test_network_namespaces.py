"""Network namespaces within a host's: whose sockets are where."""

from __future__ import annotations

import socket
from ipaddress import IPv4Address

from rsg_server.platform.host import Host
from rsg_server.process.actor import Actor
from rsg_server.process.host_state import HostState
from rsg_server.process.process import Process
from rsg_server.sockets.network_namespaces import enter, network_of


def actor_of(host: HostState, channel: socket.socket) -> Actor:
    return Actor(1, Process(1, host, None, "program", seed=1, nofile=(64, 64)), channel)


def test_a_new_namespace_has_no_address_and_the_host_s_processes() -> None:
    host = HostState(Host("a", (IPv4Address("10.0.0.1"),)))
    ends = socket.socketpair()
    actor = actor_of(host, ends[0])
    assert network_of(actor) is host
    enter(actor, 4026531840, is_new=True)
    made = network_of(actor)
    assert made is not host and made.machine is host and host.machine is host
    assert made.host.addresses == () and made.name == "a" and made.processes is host.processes
    for end in ends:
        end.close()


def test_an_inode_that_is_known_is_entered_and_any_other_is_the_host_s() -> None:
    host = HostState(Host("a", (IPv4Address("10.0.0.1"),)))
    ends = socket.socketpair()
    actor = actor_of(host, ends[0])
    enter(actor, 7, is_new=True)
    first = network_of(actor)
    enter(actor, 8, is_new=False)
    assert network_of(actor) is host
    enter(actor, 7, is_new=False)
    assert network_of(actor) is first
    enter(actor, 7, is_new=True)  # the kernel has used the number again
    assert network_of(actor) is not first
    for end in ends:
        end.close()
