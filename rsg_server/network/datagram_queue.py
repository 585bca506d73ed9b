"""Datagrams from one host to another: a queue that leaves over the links as one connection's bytes do, and that can be full.

The queue is a flow without a window and without acknowledgements, at the whole bandwidth: headers are counted with each
datagram. Alone on its links the queue never meets the solver. A few small datagrams do not meet it either: all small datagrams
together may have a hundredth of each link, besides what the solver gives to the flows there (`Spare`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from rsg_server.network.flow import Action, Carrier, Flow
from rsg_server.network.sharing import Path
from rsg_server.platform.link import Link, Route

QUEUE_BYTES = 212_992
"""What may wait to leave, headers included: what Linux keeps unsent for one socket (net.core.wmem_default)."""
SMALL_BYTES = 1_500
SPARE_PART = 0.01
SPARE_BURST_BYTES = 65_536
Left = Callable[[int], None]


class Spare:
    """What small datagrams may use of each link without a share from the solver: a rate and a burst (ITU-T I.371's rule)."""

    def __init__(self) -> None:
        self._due_ns: dict[str, float] = {}  # by link: when the bytes that it has carried so far are paid for

    def takes(self, links: Sequence[Link], size_bytes: int, now_ns: int) -> bool:
        """Whether all these links have room to spare for a datagram; if so, the room is taken."""
        due: dict[str, float] = {}
        for link in links:
            rate = link.bandwidth_bytes_per_s * SPARE_PART / 1e9
            begin = max(self._due_ns.get(link.name, 0.0), now_ns)
            if (begin - now_ns) * rate > SPARE_BURST_BYTES:
                return False
            due[link.name] = begin + size_bytes / rate
        self._due_ns |= due
        return True


class DatagramQueue(Flow):
    """One per ordered pair of hosts. Each action in `waiting` is called once, in its turn, when there may be room again."""

    __slots__ = ("_began_ns", "_left", "queued_bytes", "waiting")

    def __init__(self, number: int, route: Route, path: Path, network: Carrier) -> None:
        super().__init__(number, route, path, lambda data: None, network)
        self.queued_bytes = 0
        self.waiting: deque[Action] = deque()
        self._left: deque[Left] = deque()
        self._began_ns = 0

    def has_room(self, size_bytes: int) -> bool:
        """Whether a datagram of this size may join; an empty queue takes any size."""
        return not self.queued_bytes or self.queued_bytes + size_bytes <= QUEUE_BYTES

    @property
    def holds_up_its_sender(self) -> bool:
        """Whether the sender's own link is the bottleneck: then the sender waits while the queue is full.

        Otherwise the bottleneck is a switch further on, which loses the datagrams that come too fast.
        """
        self._network.settle()
        return not self.links or self.rate >= self.links[0].bandwidth_bytes_per_s

    def put(self, size_bytes: int, arrive: Action, left: Left) -> None:
        """Queue a datagram.

        Once the datagram has left, `left` gets the moment at which it began to leave; `arrive` follows a latency later.
        """
        self._left.append(left)
        self.queued_bytes += size_bytes
        if not self.is_active:
            self._began_ns = self._network.now_ns
        self._add(size_bytes, arrive)

    def _arrival(self, late_ns: int) -> int:
        """When the datagram arrives that has just left the sender: one that is late holds up no other, and none is cut."""
        self.arrival_ns = max(self.arrival_ns, self._network.now_ns + self.route.latency_ns)
        return self.arrival_ns + self._network.extra_ns(self.route)

    def depart(self) -> None:
        """The first datagram has left, so there may be room for another one."""
        self.queued_bytes -= self._queue[0][0]
        began_ns, self._began_ns = self._began_ns, self._network.now_ns
        self._left.popleft()(began_ns)
        super().depart()
        if self.waiting:
            self.waiting.popleft()()
        while self.waiting and not self.is_active:  # the one that was told had nothing to send any more
            self.waiting.popleft()()
