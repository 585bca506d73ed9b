"""SO_KEEPALIVE: a connection whose peer answers no more is found out at the moment when Linux would (tcp(7)).

Probes that are answered change nothing, so none are sent: only from a fault on is it reckoned when the next one is due.
"""

from __future__ import annotations

import errno
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.sockets.pair import SocketState
from rsg_server.sockets.retransmission import Transmission, user_timeout_ns

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel
    from rsg_server.sockets.pair import SimulatedSocket

SECOND_NS = 10**9
SO_KEEPALIVE, TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_KEEPCNT = (1, 9), (6, 4), (6, 5), (6, 6)
DEFAULTS = {SO_KEEPALIVE: 0, TCP_KEEPIDLE: 7200, TCP_KEEPINTVL: 75, TCP_KEEPCNT: 9}
"""Option (level, name) -> value where none was set: seconds, and a number of probes."""


def setting(which: SimulatedSocket, option: tuple[int, int]) -> int:
    """What an option says, or its default."""
    return int.from_bytes(which.options.get(option, b"")[:4], "little") or DEFAULTS[option]


class Keepalive:
    """Watches connections that want it, for as long as nothing gets through to their peers."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._watched: set[int] = set()

    def look(self) -> None:
        """Something has got worse: reckon for everybody whom it concerns."""
        for which in list(self._kernel.sockets.all.values()):
            self.consider(which)

    def consider(self, which: SimulatedSocket) -> None:
        """Reckon for one connection; nothing happens where its peer would answer, or where it does not want to know."""
        if which.number in self._watched or not self._is_wanted(which) or self._is_answered(which):
            return
        self._watched.add(which.number)
        idle_ns = setting(which, TCP_KEEPIDLE) * SECOND_NS
        silent_ns = max(0, self._kernel.now_ns - which.heard_ns)
        self._probe_in(which, idle_ns - silent_ns % idle_ns, 0)

    @staticmethod
    def _is_wanted(which: SimulatedSocket) -> bool:
        return which.kind == "s" and which.state is SocketState.CONNECTED and setting(which, SO_KEEPALIVE) != 0

    def _is_answered(self, which: SimulatedSocket) -> bool:
        peer = which.peer
        return peer is None or (not peer.vanished and self._kernel.wire.reaches(which.host, peer.host))

    def _probe_in(self, which: SimulatedSocket, delay_ns: int, unanswered: int) -> None:
        self._kernel.timeline.add(self._kernel.now_ns + delay_ns, partial(self._probe, which, unanswered))

    def _probe(self, which: SimulatedSocket, unanswered: int) -> None:
        if which.number not in self._kernel.sockets.all or not self._is_wanted(which) or self._is_answered(which):
            self._watched.discard(which.number)
            return
        peer = which.peer
        assert peer is not None
        if isinstance(which.flow, Transmission) and which.flow.is_retrying:  # its own timeout decides
            self._probe_in(which, setting(which, TCP_KEEPIDLE) * SECOND_NS, 0)
        elif self._kernel.wire.reaches(which.host, peer.host):
            self._watched.discard(which.number)
            self._reset_by(which, peer)
        elif self._is_over(which, unanswered):
            self._watched.discard(which.number)
            self._kernel.sockets.abort(which, errno.ETIMEDOUT)
        else:
            self._probe_in(which, setting(which, TCP_KEEPINTVL) * SECOND_NS, unanswered + 1)

    def _is_over(self, which: SimulatedSocket, unanswered: int) -> bool:
        limit_ns = user_timeout_ns(which)
        if limit_ns:
            return unanswered > 0 and self._kernel.now_ns - which.heard_ns >= limit_ns
        return unanswered >= setting(which, TCP_KEEPCNT)

    def _reset_by(self, which: SimulatedSocket, peer: SimulatedSocket) -> None:
        """The peer's host has been started anew: it answers the probe with RST."""
        wire, abort = self._kernel.wire, partial(self._kernel.sockets.abort, which, errno.ECONNRESET)
        now_ns = self._kernel.now_ns

        def answer() -> None:
            wire.packet(peer.host, which.host, abort, frames=lambda capture: capture.reset(peer, now_ns))

        wire.packet(which.host, peer.host, answer)
