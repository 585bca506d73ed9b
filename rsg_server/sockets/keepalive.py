"""SO_KEEPALIVE: a connection whose peer does not answer any more is lost at the moment at which Linux would notice (tcp(7)).

Probes that are answered change nothing, so none is sent while all connections work. When a host or link fails, `look`
plans the next probe of every connection that is cut. The probe is due when a multiple of the idle time (TCP_KEEPIDLE)
has passed since the last packet of the peer's host.
"""

from __future__ import annotations

import errno
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import SocketState
from rsg_server.sockets.retransmission import user_timeout_ns

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.pair import SimulatedSocket
    from rsg_server.sockets.table import SocketTable
    from rsg_server.sockets.wire import Wire

SECOND_NS = 10**9
SO_KEEPALIVE, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT = (1, 9), (6, 4), (6, 5), (6, 6)
DEFAULTS = {SO_KEEPALIVE: 0, TCP_KEEPIDLE: 7200, TCP_KEEPINTVL: 75, TCP_KEEPCNT: 9}
"""The default value of each option, given by (level, name): seconds, and a number of probes."""


def setting(which: SimulatedSocket, option: tuple[int, int]) -> int:
    """Return the value of an option of a socket, or its default."""
    return int.from_bytes(which.options.get(option, b"")[:4], "little") or DEFAULTS[option]


class Keepalive:
    """Probes those connections with SO_KEEPALIVE whose peers cannot be reached, or have forgotten the connection."""

    def __init__(self, clock: Clock, timeline: Timeline, wire: Wire, sockets: SocketTable) -> None:
        self._clock, self._timeline, self._wire, self._sockets = clock, timeline, wire, sockets
        self._watched: set[int] = set()

    def look(self) -> None:
        """Plan probes for all connections that are cut, because a host or a link has failed."""
        for which in list(self._sockets.all.values()):
            self.consider(which)

    def consider(self, which: SimulatedSocket) -> None:
        """Plan a probe for one connection; do nothing if its peer would answer, or if it does not have SO_KEEPALIVE."""
        if not isinstance(which, StreamSocket) or which.number in self._watched:
            return
        if not self._is_wanted(which) or self._is_answered(which):
            return
        self._watched.add(which.number)
        idle_ns = setting(which, TCP_KEEPIDLE) * SECOND_NS
        silent_ns = max(0, self._clock.now_ns - which.heard_ns)
        self._probe_in(which, idle_ns - silent_ns % idle_ns, 0)

    @staticmethod
    def _is_wanted(which: StreamSocket) -> bool:
        return which.state is SocketState.CONNECTED and setting(which, SO_KEEPALIVE) != 0

    def _is_answered(self, which: StreamSocket) -> bool:
        peer = which.peer
        return peer is None or (not peer.vanished and self._wire.reaches(which.host, peer.host))

    def _probe_in(self, which: StreamSocket, delay_ns: int, unanswered: int) -> None:
        self._timeline.add(self._clock.now_ns + delay_ns, partial(self._probe, which, unanswered))

    def _probe(self, which: StreamSocket, unanswered: int) -> None:
        if which.number not in self._sockets.all or not self._is_wanted(which) or self._is_answered(which):
            self._watched.discard(which.number)
            return
        peer = which.peer
        assert peer is not None
        if which.flow is not None and which.flow.is_retrying:  # the retransmission timeout decides when this connection is lost
            self._probe_in(which, setting(which, TCP_KEEPIDLE) * SECOND_NS, 0)
        elif self._wire.reaches(which.host, peer.host):
            self._watched.discard(which.number)
            self._reset_by(which, peer)
        elif self._is_over(which, unanswered):
            self._watched.discard(which.number)
            self._sockets.streams.abort(which, errno.ETIMEDOUT)
        else:
            self._probe_in(which, setting(which, TCP_KEEPINTVL) * SECOND_NS, unanswered + 1)

    def _is_over(self, which: StreamSocket, unanswered: int) -> bool:
        limit_ns = user_timeout_ns(which)
        if limit_ns:
            return unanswered > 0 and self._clock.now_ns - which.heard_ns >= limit_ns
        return unanswered >= setting(which, TCP_KEEPCNT)

    def _reset_by(self, which: StreamSocket, peer: StreamSocket) -> None:
        """Probe a connection whose peer's host has booted anew: that host answers with RST."""
        wire, abort = self._wire, partial(self._sockets.streams.abort, which, errno.ECONNRESET)
        now_ns = self._clock.now_ns

        def answer() -> None:
            wire.packet(peer.host, which.host, abort, frames=lambda capture: capture.reset(peer, now_ns))

        wire.packet(which.host, peer.host, answer)
