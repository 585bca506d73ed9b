"""Datagrams from one host to another: a queue that leaves over the links like one connection's bytes, and that can be full.

It is a flow without window and acknowledgements, at the whole bandwidth (headers are counted with each datagram). Alone on its
links it never meets the solver. Neither do small datagrams that are few: together they may have a hundredth of a link besides
what the solver gives to others (`Spare`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rsg_server.network.flow import Action, Flow

if TYPE_CHECKING:
    from rsg_server.network.network import Network
    from rsg_server.network.sharing import Path
    from rsg_server.platform.link import Link, Route

QUEUE_BYTES = 212_992
"""What may wait to leave, headers included: what Linux keeps unsent for one socket (net.core.wmem_default)."""
SMALL_BYTES = 1_500
SPARE_PART = 0.01
SPARE_BURST_BYTES = 65_536
Left = Callable[[int], None]


class Spare:
    """What small datagrams may have of each link without being shared out: a rate, and a burst (ITU-T I.371's rule)."""

    def __init__(self) -> None:
        self._due_ns: dict[str, float] = {}  # by link: when what it has carried so far is paid for

    def takes(self, links: Sequence[Link], size_bytes: int, now_ns: int) -> bool:
        """Whether all these links have it to spare; if so it is theirs."""
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
    """One per pair of hosts. Who is in `waiting` is told once, each in its turn, when there may be room again."""

    __slots__ = ("_began_ns", "_left", "queued_bytes", "waiting")

    def __init__(self, number: int, route: Route, path: Path, network: Network) -> None:
        super().__init__(number, route, path, lambda data: None, network)
        self.queued_bytes = 0
        self.waiting: deque[Action] = deque()
        self._left: deque[Left] = deque()
        self._began_ns = 0

    def has_room(self, size_bytes: int) -> bool:
        """Whether another one may join; into an empty queue goes anything."""
        return not self.queued_bytes or self.queued_bytes + size_bytes <= QUEUE_BYTES

    @property
    def holds_up_its_sender(self) -> bool:
        """Whether it leaves as fast as the sender's own link can take it: then it is the sender who waits when it is full.

        Else what comes too fast is lost in some switch on the way.
        """
        return not self.links or self.rate >= self.links[0].bandwidth_bytes_per_s

    def put(self, size_bytes: int, arrive: Action, left: Left) -> None:
        """Have `left` called with the moment at which it began to leave, once it has; and `arrive` one latency later."""
        self._left.append(left)
        self.queued_bytes += size_bytes
        if not self.is_active:
            self._began_ns = self._network.now_ns
        self._add(size_bytes, arrive)

    def depart(self) -> None:
        """The first has left; there may be room now."""
        self.queued_bytes -= self._queue[0][0]
        began_ns, self._began_ns = self._began_ns, self._network.now_ns
        self._left.popleft()(began_ns)
        super().depart()
        if self.waiting:
            self.waiting.popleft()()
        while self.waiting and not self.is_active:  # who was told had nothing to send any more
            self.waiting.popleft()()
