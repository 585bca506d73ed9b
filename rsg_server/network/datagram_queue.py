"""The queue of datagrams from one host to another. The bytes of datagrams leave over the links as those of a connection
do, and the queue can be full.

The queue is a flow without a TCP window and without acknowledgements, at the whole bandwidth of its links, since
headers are counted with each datagram. If the queue is alone on its links, its rate is known without the solver, which
shares links between flows. Small datagrams need no solver either: all small datagrams together may use a hundredth of
each link, besides what the solver gives to the flows there (`Spare`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from rsg_server.network.flow import Action, Carrier, Flow
from rsg_server.network.sharing import Path
from rsg_server.platform.link import Link, Route

QUEUE_BYTES = 212_992
"""The most bytes, headers included, that wait to leave: what Linux stores for one socket (net.core.wmem_default)."""
SMALL_BYTES = 1_500
SPARE_PART = 0.01
SPARE_BURST_BYTES = 65_536
Left = Callable[[int], None]


class Spare:
    """Limits what small datagrams use of each link without a share from the solver: a rate and a burst (rule of ITU-T
    I.371).
    """

    def __init__(self) -> None:
        # by link: the moment (ns) until which the datagrams that the link has carried use up the rate
        self._due_ns: dict[str, float] = {}

    def takes(self, links: Sequence[Link], size_bytes: int, now_ns: int) -> bool:
        """Return whether all links have room for a datagram besides the flows; if so, the room is taken."""
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
    """The datagrams from one host to another that have not left yet.

    When there may be room for a datagram again, the first action in `waiting` is called and removed.
    """

    __slots__ = ("_began_ns", "_left", "queued_bytes", "waiting")

    def __init__(self, number: int, route: Route, path: Path, network: Carrier) -> None:
        super().__init__(number, route, path, lambda data: None, network)
        self.queued_bytes = 0
        self.waiting: deque[Action] = deque()
        self._left: deque[Left] = deque()
        self._began_ns = 0

    def has_room(self, size_bytes: int) -> bool:
        """Return whether a datagram of this size may be added. An empty queue takes any size."""
        return not self.queued_bytes or self.queued_bytes + size_bytes <= QUEUE_BYTES

    @property
    def holds_up_its_sender(self) -> bool:
        """Whether the sender waits while the queue is full, because its own link is the bottleneck.

        Otherwise the bottleneck is a later link, and the switch before it loses datagrams that come too fast.
        """
        self._network.settle()
        return not self.links or self.rate >= self.links[0].bandwidth_bytes_per_s

    def put(self, size_bytes: int, arrive: Action, left: Left) -> None:
        """Add a datagram to the queue.

        When it has left, `left` is called with the moment (virtual ns) at which it began to leave. `arrive` is called a
        latency later.
        """
        self._left.append(left)
        self.queued_bytes += size_bytes
        if not self.is_active:
            self._began_ns = self._network.now_ns
        self._add(size_bytes, arrive)

    def _arrival(self, late_ns: int) -> int:
        """Return when the datagram arrives (virtual ns) that has left the sender just now.

        A late datagram delays no other one, and no datagram is cut in two.
        """
        self.arrival_ns = max(self.arrival_ns, self._network.now_ns + self.route.latency_ns)
        return self.arrival_ns + self._network.extra_ns(self.route)

    def depart(self) -> None:
        """Handle that the first datagram has left the sender, so that there may be room for another one."""
        self.queued_bytes -= self._queue[0][0]
        began_ns, self._began_ns = self._began_ns, self._network.now_ns
        self._left.popleft()(began_ns)
        super().depart()
        if self.waiting:
            self.waiting.popleft()()
        while self.waiting and not self.is_active:  # the waiting sender that was called had nothing to send any more
            self.waiting.popleft()()
