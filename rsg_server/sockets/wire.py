"""The network as sockets use it: the network model, with packets that are lost (`reach`) and observers (`watchers`).

The network model itself loses nothing. Whether a packet is lost is decided twice, when it leaves and when it would
arrive: between the two, a host may go off, or a link down. Packets within a host are never lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from rsg_server.network.network import CONTROL_PACKET_BYTES
from rsg_server.sockets.reachability import Reachability

if TYPE_CHECKING:
    from rsg_server.capture.capture import Capture
    from rsg_server.network.network import Network
    from rsg_server.platform.host import Host
    from rsg_server.process.host_state import HostState
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.kinds.stream import StreamSocket

Action = Callable[[], None]


class Watcher(Protocol):
    """Observes the bytes that cross the network between two hosts, and changes nothing. Moments are virtual ns."""

    def moved(self, source: Host, destination: Host, begin_ns: int, end_ns: int, size_bytes: int) -> None:
        """Note that bytes have left their source between two moments."""


class StreamReader(Protocol):
    """Observes the bytes of connections, also within a host, and changes nothing. The bytes of a connection come in order."""

    def sent(self, sender: StreamSocket, size_bytes: int) -> None:
        """Note bytes that an application has written, and that the server has taken from its socket."""

    def arrived(self, sender: StreamSocket, receiver: StreamSocket, data: bytes) -> None:
        """Note bytes from one socket that are about to be delivered to the other."""


class Wire:
    """Carries packets and datagrams between hosts. Connections use it as well (rsg_server.sockets.retransmission)."""

    def __init__(self, clock: Clock, network: Network, seed: int) -> None:
        self._clock, self.network = clock, network
        self.reach = Reachability(network, seed)
        self.watchers: list[Watcher] = []
        self.readers: list[StreamReader] = []
        self.capture: Capture | None = None

    @property
    def is_looked_at(self) -> bool:
        """Whether a watcher or a capture observes what crosses the network."""
        return bool(self.watchers) or self.capture is not None

    def reaches(self, source: HostState, destination: HostState) -> bool:
        """Return whether a packet that is on its way now arrives."""
        return self.reach.reaches(source.host, destination.host)

    def packet(
        self,
        source: HostState,
        destination: HostState,
        arrive: Action | None,
        lost: Action | None = None,
        size_bytes: int = CONTROL_PACKET_BYTES,
        frames: Callable[[Capture], list[bytes]] | None = None,
    ) -> None:
        """Send a packet on its own. `arrive` is called when it arrives, or `lost` when it does not; a packet without
        `arrive` (None) is lost.

        A host that is off sends nothing. `frames` is called if the host's packets are captured, and returns what a pcap
        file gets of the packet.
        """
        passes = self._passes(source, destination, arrive, lost, frames)
        if passes is not None:
            self.moved(source, destination, self._clock.now_ns, size_bytes)
            self.network.message(source.host, destination.host, passes, size_bytes)

    def datagram(
        self,
        source: HostState,
        destination: HostState,
        arrive: Action | None,
        size_bytes: int,
        frames: Callable[[Capture], list[bytes]],
    ) -> None:
        """Send a datagram as `packet` does, but after earlier datagrams between these two hosts that have not left yet."""
        passes = self._passes(source, destination, arrive, None, frames)
        if passes is not None:

            def left(began_ns: int) -> None:
                self.moved(source, destination, began_ns, size_bytes, self._clock.now_ns)

            self.network.datagram(source.host, destination.host, passes, size_bytes, left)

    def _passes(
        self,
        source: HostState,
        destination: HostState,
        arrive: Action | None,
        lost: Action | None,
        frames: Callable[[Capture], list[bytes]] | None,
    ) -> Action | None:
        """Return the function to call when a packet arrives; None if the packet is lost on its way."""
        if source.name in self.reach.off:
            return None
        seen = frames(self.capture) if self.capture is not None and frames is not None and source is not destination else []
        self._show(source, seen)
        if not self.reaches(source, destination):
            if lost is not None:
                lost()
            return None

        def at_destination() -> None:
            if arrive is not None and self.reaches(source, destination):
                self._show(destination, seen)
                arrive()
            elif lost is not None:
                lost()

        return at_destination

    def _show(self, host: HostState, frames: list[bytes]) -> None:
        for frame in frames:
            assert self.capture is not None
            self.capture.record(host.name, self._clock.now_ns, frame)

    def latency_ns(self, source: HostState, destination: HostState) -> int:
        """Return the latency (ns) from one host to another, with the links as they are now."""
        return self.network.route(source.host, destination.host).latency_ns

    def moved(
        self, source: HostState, destination: HostState, begin_ns: int, size_bytes: int, end_ns: int | None = None
    ) -> None:
        """Tell the watchers that bytes have left their source; all at one moment if `end_ns` is not given."""
        for watcher in self.watchers:
            watcher.moved(source.host, destination.host, begin_ns, begin_ns if end_ns is None else end_ns, size_bytes)
