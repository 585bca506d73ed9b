"""What the sockets need of the kernel that composes them (rsg_server.kernel), as protocols.

Sockets stand above clock, network, platform, capture, process and fd_store, which they import, and below everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.fd_store.store import FdStore
    from rsg_server.network.network import Network
    from rsg_server.options import KernelOptions
    from rsg_server.platform.platform import Platform
    from rsg_server.process.actor import Actor
    from rsg_server.process.host_state import HostState
    from rsg_server.shared.memory import SharedMemory
    from rsg_server.sockets.datagrams import Datagrams
    from rsg_server.sockets.interfaces import InterfaceTable
    from rsg_server.sockets.netlink.netlink import Netlink
    from rsg_server.sockets.pair import SimulatedSocket
    from rsg_server.sockets.table import SocketTable
    from rsg_server.sockets.wire import Wire


class Readiness(Protocol):
    """The epoll in which the server watches its ends of the pairs (rsg_server.turn.readiness)."""

    def watch(self, descriptor: int, target: SimulatedSocket, events: int) -> None:
        """Have a descriptor reported as a socket."""

    def modify(self, descriptor: int, target: SimulatedSocket, events: int) -> None:
        """Report other events of a descriptor."""

    def unwatch(self, descriptor: int, target: SimulatedSocket) -> None:
        """Forget a descriptor; nothing happens if it is not watched."""

    def changed(self) -> None:
        """Say that something may have become ready, so that the turn loop asks the kernel before it gives the next turn."""


class Clock(Protocol):
    """Virtual time."""

    @property
    def now_ns(self) -> int:
        """Nanoseconds since the start."""


class Transport(Clock, Protocol):
    """What carries packets and bytes, in virtual time, and the sockets that send and receive them."""

    @property
    def timeline(self) -> Timeline: ...
    @property
    def network(self) -> Network: ...
    @property
    def wire(self) -> Wire: ...
    @property
    def sockets(self) -> SocketTable: ...


class Addresses(Clock, Protocol):
    """Who has which address, and the sockets that are bound to them."""

    @property
    def platform(self) -> Platform: ...
    @property
    def hosts(self) -> Mapping[str, HostState]: ...
    @property
    def interfaces(self) -> InterfaceTable: ...
    @property
    def sockets(self) -> SocketTable: ...
    @property
    def datagrams(self) -> Datagrams: ...
    @property
    def readiness(self) -> Readiness: ...


class Kernel(Transport, Addresses, Protocol):
    """Everything that sockets need."""

    @property
    def options(self) -> KernelOptions: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def shared(self) -> SharedMemory: ...
    @property
    def fd_store(self) -> FdStore: ...
    @property
    def netlink(self) -> Netlink: ...

    def wake(self, actor: Actor, reason: int, value: int = 0) -> bool:
        """Put an actor that waits at the end of the run queue; False if it does not wait."""

    def warn(self, text: str) -> None:
        """Show the user a warning, once."""
