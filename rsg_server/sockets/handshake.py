"""TCP's handshake: SYN and its repetitions, the listener's queue, refusal and accept(2); then a flow for each direction.

A client is CONNECTING from its SYN until its connect has an outcome. When the listener's host gets the SYN, the server
makes the served socket, which accept(2) will return. The served socket is CONNECTED, and queued in the listener's
`pending`, even if the SYN-ACK is lost and the client must send its SYN again. For each pending connection the server
writes a byte, a token, to the listener's pair, as far as there is room (`tokens` counts them). So the application's end
of the listener is readable while there is a connection to accept.
"""

from __future__ import annotations

import contextlib
import errno
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.errors import LACKS, MORE_FILES
from rsg_server.protocol import STREAM_CONNECTED, Wake
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import Address, SocketState
from rsg_server.sockets.ports import ANY, LOOPBACK, in_family, plain
from rsg_server.sockets.retransmission import Retransmission

if TYPE_CHECKING:
    from collections.abc import Callable

    from rsg_server.capture.capture import Capture
    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.process.actor import Actor
    from rsg_server.process.host_state import HostState
    from rsg_server.process.parking import Parking
    from rsg_server.shared.clock import Clock
    from rsg_server.shared.streams import Streams
    from rsg_server.sockets.table import Readiness, SocketTable
    from rsg_server.sockets.wire import Wire
    from rsg_server.warner import Warner

SYN_RETRY_NS = 10**9
SYN_RETRIES = 6
"""How often a SYN is repeated (tcp_syn_retries): after 1 s, then after twice as long each time; after 127 s, ETIMEDOUT
(tcp(7)).

Hosts behave as if a router were between them: EHOSTUNREACH after 3 s, if no host answers ARP, is not modelled.
"""
WRONG_STATES = {
    SocketState.CONNECTED: errno.EISCONN,
    SocketState.LISTENING: errno.EISCONN,
    SocketState.CONNECTING: errno.EALREADY,
    SocketState.CLOSED: errno.ECONNABORTED,
}
"""The errno of connect(2) for a TCP socket in each state in which it cannot connect."""


def _send_tokens(listener: StreamSocket) -> None:
    """Write a token to a listener's pair for each pending connection; further tokens are written when connections have
    been accepted.
    """
    # BrokenPipe: the application has shut its end down, so no accept(2) will come
    with contextlib.suppress(BlockingIOError, BrokenPipeError):
        while listener.queue.tokens < len(listener.queue.pending):
            listener.end.send(b"t")
            listener.queue.tokens += 1
            listener.queue.unannounced += 1


class Handshake:
    """Connects TCP sockets, and lets listening sockets accept."""

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        log: EventLog,
        wire: Wire,
        sockets: SocketTable,
        readiness: Readiness,
        told: Streams,
        parking: Parking,
        warner: Warner,
    ) -> None:
        self._clock, self._timeline, self._log, self._wire = clock, timeline, log, wire
        self._sockets, self._readiness, self._told = sockets, readiness, told
        self._parking, self._warner = parking, warner

    # The client

    def connect(self, client: StreamSocket, target: Address, waits: bool) -> int:
        """Begin to connect a TCP socket. Return an errno: EINPROGRESS when the SYN is on its way."""
        if client.state is SocketState.CONNECTED and client.attempt.outcome == 0:
            client.attempt.outcome = None
            # no call of connect(2) has waited for this attempt, so the next call returns the attempt's result, and not
            # EISCONN
            return 0
        if client.state in WRONG_STATES:
            return WRONG_STATES[client.state]
        if client.attempt.was_dissolved:
            client.attempt.was_dissolved, client.error = False, 0
        if client.error:  # the error of the last attempt, which no program has read by SO_ERROR
            code, client.error = client.error, 0
            return code
        sockets, ip = self._sockets, plain(target.ip)
        if sockets.binding.host_of(client.host, ip) is None:
            return errno.ENETUNREACH
        code = sockets.binding.autobind(client, LOOPBACK[4 if len(ip) == 4 else 6] if ip in ANY.values() else ip)
        if code:
            return code
        if client.is_broken:
            sockets.renew(client)
        client.state = SocketState.CONNECTING
        client.remote = target
        client.attempt.waits = waits
        client.attempt.outcome = None
        sockets.set_events(client)
        self._send_syn(client, ip, 0)
        return errno.EINPROGRESS

    def outcome(self, actor: Actor, number: int) -> int | None:
        """Return the result of a connect that has ended (0 or -errno), once; None while it has not ended."""
        which = self._sockets.of(actor, number)
        if which is None:
            return -errno.EBADF
        if not isinstance(which, StreamSocket):
            return None
        outcome, which.attempt.outcome = which.attempt.outcome, None
        return outcome

    def _is_connecting(self, client: StreamSocket) -> bool:
        return client.state is SocketState.CONNECTING and client.number in self._sockets.all

    def _send_syn(self, client: StreamSocket, ip: bytes, attempt: int) -> None:
        host = self._sockets.binding.host_of(client.host, ip)
        if host is None or not self._is_connecting(client):
            return
        again = partial(self._retry, client, ip, attempt, self._clock.now_ns)
        arrive = partial(self._syn_arrives, client, ip, again)
        self._travel(client.host, host, arrive, again, lambda capture: capture.syn(client, host.name))

    def _retry(self, client: StreamSocket, ip: bytes, attempt: int, sent_ns: int) -> None:
        """Send a SYN again, which was sent at `sent_ns` and was not answered: after 1 s, 2 s, 4 s …"""
        due_ns = max(self._clock.now_ns, sent_ns + (SYN_RETRY_NS << attempt))
        if attempt >= SYN_RETRIES:
            self._timeline.add(due_ns, partial(self._fail, client, errno.ETIMEDOUT))
        else:
            self._timeline.add(due_ns, partial(self._send_syn, client, ip, attempt + 1))

    def _travel(
        self,
        source: HostState,
        destination: HostState,
        arrive: Callable[[], None],
        lost: Callable[[], None],
        frames: Callable[[Capture], list[bytes]],
    ) -> None:
        """Send a packet of the handshake.

        Within a host the packet arrives at once, during the call of connect, as over Linux's loopback.
        """
        if source is destination:
            arrive()
        else:
            self._wire.packet(source, destination, arrive, lost, frames=frames)

    # The listener

    def _syn_arrives(self, client: StreamSocket, ip: bytes, again: Callable[[], None]) -> None:
        if not self._is_connecting(client):
            return
        assert client.remote is not None
        binding = self._sockets.binding
        host = binding.host_of(client.host, ip)
        assert host is not None
        if client.peer is not None and not client.peer.vanished:  # the SYN-ACK for an earlier SYN was lost
            self._answer(client, client.peer, again)
            return
        listener = binding.find(host, StreamSocket, ip, client.remote.port, client.local)
        if listener is None:
            refuse = partial(self._fail, client, errno.ECONNREFUSED)
            self._travel(host, client.host, refuse, again, lambda capture: capture.refusal(client))
        elif len(listener.queue.pending) > listener.queue.backlog or (served := self._queue(client, listener)) is None:
            again()  # the listener's queue is full, so the SYN is dropped, as on Linux
        else:
            self._answer(client, served, again)

    def _queue(self, client: StreamSocket, listener: StreamSocket) -> StreamSocket | None:
        """Make the served socket of a connection, and queue it for accept(2).

        Return None if the server has no descriptor for it.
        """
        try:
            served = self._sockets.create(listener.host, listener.family, StreamSocket)
        except OSError as error:
            if error.errno not in LACKS:
                raise
            self._warner.warn(f"the server cannot open {listener!r}'s next connection ({error.strerror}); {MORE_FILES}")
            return None
        served.options = dict(listener.options)
        served.cork.reasons = listener.cork.reasons
        served.heard_ns = self._clock.now_ns
        served.state = SocketState.CONNECTED
        self._told.tell(served.number, STREAM_CONNECTED)
        assert listener.local is not None and client.remote is not None and client.local is not None
        served.local = Address(in_family(client.remote.ip, listener.family), listener.local.port)
        served.remote = Address(in_family(client.local.ip, listener.family), client.local.port)
        served.peer, client.peer = client, served
        served.flow = self._open(served, client)
        listener.queue.pending.append(served)
        _send_tokens(listener)
        self._readiness.changed()
        return served

    def _answer(self, client: StreamSocket, served: StreamSocket, again: Callable[[], None]) -> None:
        """Send the SYN-ACK. If it is lost, the client sends its SYN again."""
        now_ns = self._clock.now_ns
        establish = partial(self._established, client)
        self._travel(served.host, client.host, establish, again, lambda capture: capture.syn_ack(client, served, now_ns))

    def accept(self, listener: StreamSocket) -> tuple[StreamSocket, int] | int:
        """Return the oldest pending connection and its application's end (for the caller to pass on and close), or an errno."""
        if listener.state is not SocketState.LISTENING:
            return errno.EINVAL
        if not listener.queue.pending:
            return errno.EAGAIN
        served = listener.queue.pending.popleft()
        listener.queue.tokens -= 1
        listener.queue.unannounced = min(listener.queue.unannounced, listener.queue.tokens)
        _send_tokens(listener)
        self._readiness.changed()
        return served, served.hand_out()

    def refuse_pending(self, listener: StreamSocket) -> None:
        """Reset the connections that a listener, which is closing, has not accepted."""
        for waiting in listener.queue.pending:
            self._sockets.streams.reset(waiting.peer)
            self._sockets.forget(waiting)
        listener.queue.pending.clear()

    def _open(self, sender: StreamSocket, receiver: StreamSocket) -> Retransmission:
        """Return a new flow for one direction of a connection that has been made."""
        return Retransmission(self._clock, self._timeline, self._wire, self._sockets.streams, sender, receiver)

    # The outcome

    def _established(self, client: StreamSocket) -> None:
        peer = client.peer
        if not self._is_connecting(client) or peer is None:
            if peer is not None:
                self._sockets.streams.reset(peer)
            return
        client.drain()
        client.state = SocketState.CONNECTED
        self._told.tell(client.number, STREAM_CONNECTED)
        client.flow = self._open(client, peer)
        client.heard_ns = self._clock.now_ns
        self._sockets.set_events(client)
        self._readiness.changed()
        if self._wire.capture is not None:
            self._wire.capture.established(client, self._clock.now_ns, self._wire.latency_ns(client.host, peer.host))
        addresses = {"source": str(client.local), "destination": str(client.remote)}
        self._log.event(self._clock.now_ns, "connect", host=client.host.name, **addresses)
        self._tell(client, 0)

    def _fail(self, client: StreamSocket, code: int) -> None:
        if not self._is_connecting(client):
            return
        client.state = SocketState.OPEN
        fields = {"destination": str(client.remote), "error": errno.errorcode.get(code, str(code))}
        self._log.event(self._clock.now_ns, "connect_failed", host=client.host.name, **fields)
        if client.attempt.waits:
            client.drain()
            self._sockets.set_events(client)
            self._readiness.changed()
        else:
            self._sockets.streams.connect_failed(client, code)
        self._tell(client, -code)

    def give_up(self, client: StreamSocket) -> None:
        """End an attempt to connect with ECONNRESET, because the application has shut the socket down; it may connect again."""
        peer, client.peer = client.peer, None
        self._sockets.streams.reset(peer)
        self._fail(client, errno.ECONNRESET)

    def dissolve(self, which: StreamSocket) -> None:
        """Remove the peer of a TCP socket, as connect(2) with AF_UNSPEC does; the socket gets a new pair, unless it was unused.

        The socket's connection is reset, and SO_ERROR shows ECONNRESET (tcp_disconnect of Linux's net/ipv4/tcp.c).
        """
        if which.state is SocketState.OPEN:
            return
        sockets, peer = self._sockets, which.peer
        if which.state in (SocketState.CONNECTED, SocketState.CONNECTING):
            which.error = errno.ECONNRESET
        if which.state is SocketState.LISTENING:
            self.refuse_pending(which)
        elif peer is not None:
            self._dissolve_from(which, peer)
        which.attempt.was_dissolved = True
        self._told.forget(which.number)
        sockets.discard_pair(which)
        which.begin_anew()
        sockets.binding.loosen(which)
        sockets.renew(which)
        self._readiness.changed()

    def _dissolve_from(self, which: StreamSocket, peer: StreamSocket) -> None:
        """Reset the peer of a socket, from which nothing more is received."""
        self._sockets.streams.reset(peer)
        if peer.flow is not None:
            peer.flow.cancel()
        peer.peer = which.flow = None

    def _tell(self, client: StreamSocket, outcome: int) -> None:
        """Wake the actors that wait for a connect that has ended.

        If no actor waits, the outcome is stored until an actor asks.
        """
        client.attempt.outcome = outcome
        for process in client.host.processes.values():
            for actor in process.actors:
                parked = actor.parked
                waits = parked is not None and parked.is_for_connect(client.number)
                if waits and self._parking.wake(actor, Wake.READY, outcome):
                    client.attempt.outcome = None
