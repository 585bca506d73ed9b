"""Moves the bytes of TCP connections: from the sender's pair through the network into the receiver's pair, up to FIN or RST.

In each direction, the bytes that the server has taken and not delivered are either on their way
(`flow.in_flight_bytes`), or have arrived and are `undelivered`, because the receiver's pair is full. The server reads
from the sender's pair only while both together are below the window. So these bytes exceed the window by one piece at
most, except that bytes which were written before a close are always taken. A FIN travels behind the last byte in the
flow, and the receiver sees it behind the last undelivered byte.
"""

from __future__ import annotations

import errno
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.network.sharing import WINDOW_BYTES
from rsg_server.protocol import LATE_MOST, STREAM_CONNECTED, STREAM_MORE, STREAM_READS_NO_MORE
from rsg_server.sockets import error_marking, options
from rsg_server.sockets.kinds.stream import KEEPS_MORE, READ_BYTES
from rsg_server.sockets.pair import SocketState
from rsg_server.sockets.ports import SOL_SOCKET

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Timeline
    from rsg_server.event_log import EventLog
    from rsg_server.shared import streams as shared
    from rsg_server.shared.clock import Clock
    from rsg_server.sockets.kinds.stream import StreamSocket
    from rsg_server.sockets.table import Readiness, SocketTable
    from rsg_server.sockets.wire import Wire

KEPT_NS = 200 * 10**6
"""How long (virtual ns) bytes that were sent with MSG_MORE or under TCP_CORK wait for more (tcp(7))."""
SO_LINGER = (SOL_SOCKET, 13)
LINGER_NOT = b"\x01\0\0\0\0\0\0\0"
"""A struct linger that is on, with 0 seconds: close(2) discards what has not been sent, and resets (socket(7))."""


def _window_left(which: StreamSocket) -> int:
    """Return how many bytes the server may still take from an application."""
    peer = which.peer
    waiting = len(which.cork.data) + (len(peer.undelivered) + len(peer.late) if peer is not None else 0)
    if which.flow is None:
        return WINDOW_BYTES - waiting
    return max(which.flow.window_bytes, which.buffer_bytes) - waiting - which.flow.in_flight_bytes


def _take_sent(which: StreamSocket) -> bool:
    """Send all bytes that an application has written.

    Return False if the application has closed the socket with data unread.
    """
    try:
        while data := which.read():
            if which.flow is not None:
                which.flow.send(data)
    except ConnectionResetError:
        return False
    return True


class Streams:
    """Moves the bytes of TCP connections, and ends connections."""

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        log: EventLog,
        wire: Wire,
        sockets: SocketTable,
        readiness: Readiness,
        told: shared.Streams,
    ) -> None:
        self._clock, self._timeline, self._log, self._wire = clock, timeline, log, wire
        self._sockets, self._readiness, self._told = sockets, readiness, told

    # Bytes

    def takes(self, which: StreamSocket) -> bool:
        """Return whether the server would take bytes from an application now."""
        return not which.fin.is_sent and _window_left(which) > 0

    def take(self, which: StreamSocket, has_only_bytes: bool = False) -> None:
        """Send bytes that an application has written, as far as the window allows.

        `has_only_bytes` says that neither an end of data nor an urgent byte is there to be read. Then a short piece is
        the last one, and the server does not read again.
        """
        if which.state is SocketState.CONNECTING:
            return  # the readable bytes are the filler of a connecting socket
        try:
            while _window_left(which) > 0:
                data = which.read()
                if data is None:
                    break
                if not data:
                    self._finished(which)
                    break
                if which.flow is not None:
                    self._send(which, data)
                if has_only_bytes and len(data) < READ_BYTES:
                    break
        except ConnectionResetError:
            self.reset(which.peer)
        self._sockets.set_events(which)

    def _send(self, which: StreamSocket, data: bytes) -> None:
        """Send bytes. If the socket keeps back bytes that fill no whole segment (`Cork`), send whole segments only."""
        assert which.flow is not None
        if not which.cork.reasons:
            which.flow.send(data)
            return
        which.cork.data += data
        size = len(which.cork.data) - len(which.cork.data) % options.segment_bytes(which)
        if size:
            which.flow.send(bytes(which.cork.data[:size]))
            del which.cork.data[:size]
            self._forget_kept_until(which)
        if which.cork.data and which.cork.until is None:
            due_ns = self._clock.now_ns + KEPT_NS
            which.cork.until = self._timeline.add(due_ns, partial(self._let_go, which))

    def _let_go(self, which: StreamSocket) -> None:
        """Send the bytes that were kept back."""
        self._forget_kept_until(which)
        if which.cork.data and which.flow is not None:
            which.flow.send(bytes(which.cork.data))
        which.cork.data.clear()

    @staticmethod
    def _forget_kept_until(which: StreamSocket) -> None:
        if which.cork.until is not None:
            which.cork.until.cancel()
            which.cork.until = None

    def keep_back(self, which: StreamSocket, reason: int, is_on: bool) -> None:
        """Begin to keep back bytes that fill no whole segment, for a reason of KEEPS_; or end this, and send the bytes
        that were kept back. Bytes that were written before this call are sent first.
        """
        if which.state is SocketState.CONNECTED and not which.is_broken:
            self.take(which)
        which.cork.reasons = which.cork.reasons | reason if is_on else which.cork.reasons & ~reason
        if not which.cork.reasons:
            self._let_go(which)
        self.tell(which)

    def tell(self, which: StreamSocket) -> None:
        """Tell the shims the state of a connected TCP socket."""
        if which.state is SocketState.CONNECTED:
            bits = STREAM_MORE if which.cork.reasons & KEEPS_MORE else STREAM_CONNECTED
            self._told.tell(which.number, bits | (STREAM_READS_NO_MORE if which.fin.reads_no_more else 0))

    def take_late(self, which: StreamSocket, most: int, leaves_it: bool) -> bytes:
        """Return at most so many of the bytes that came after the application's shutdown(2) for reading."""
        data = bytes(which.late[: min(most, LATE_MOST)])
        if not leaves_it:
            del which.late[: len(data)]
            self._set_events_of_both(which)
        return data

    def arrived(self, which: StreamSocket, data: bytes) -> None:
        """Deliver bytes that have reached a connected socket through the network."""
        if which.state is SocketState.CLOSED and not which.app_closed:
            return  # the socket was reset while the bytes were on their way
        self._readiness.changed()
        if which.app_closed or not which.deliver(data):
            self.reset(which.peer)
        self._set_events_of_both(which)

    def push(self, which: StreamSocket) -> None:
        """Deliver waiting bytes, because the application's end has room again; the application may be waiting for them."""
        self._readiness.changed()
        if not which.push():
            self.reset(which.peer)
        self._set_events_of_both(which)

    def _set_events_of_both(self, which: StreamSocket) -> None:
        self._sockets.set_events(which)
        if which.peer is not None:
            self._sockets.set_events(which.peer)

    # The end of one direction

    def _finished(self, which: StreamSocket) -> None:
        """Send a FIN after the last byte, because the application sends nothing more."""
        if which.fin.is_sent:
            return
        which.fin.is_sent = True
        which.cork.reasons = 0
        self._let_go(which)
        peer = which.peer
        which.fin.is_first = peer is not None and not which.fin.is_heard
        if which.flow is not None and peer is not None:
            which.flow.finish(partial(self._show_end, peer))

    def _show_end(self, which: StreamSocket) -> None:
        which.fin.is_heard = which.fin.is_due = True
        which.push()
        self._readiness.changed()

    def closed(self, which: StreamSocket) -> None:
        """Handle that the application has closed a connected socket: what it has written travels, then FIN; or an RST
        follows.
        """
        which.cork.reasons = 0
        self._let_go(which)
        if which.options.get(SO_LINGER, b"")[:8] == LINGER_NOT:
            _take_sent(which)
            self.reset(which.peer)
            return
        if _take_sent(which) and not which.late:
            self._finished(which)
        else:
            self.reset(which.peer)
        if which.fin.is_first:
            self._sockets.binding.ports_of(which.host).begin_time_wait(which, self._clock.now_ns)

    # The end of a connection

    def reset(self, which: StreamSocket | None) -> None:
        """Let an RST from the peer reach a socket, after what the peer has sent: the application gets ECONNRESET, later
        EPIPE.
        """
        if which is None or which.state is SocketState.CLOSED:
            return
        peer = which.peer
        arrive = partial(self.abort, which, errno.ECONNRESET)
        if peer is None:
            arrive()
        elif peer.flow is not None and not peer.flow.is_cancelled:
            peer.flow.abandon(arrive)
        else:
            now_ns = self._clock.now_ns
            self._wire.packet(peer.host, which.host, arrive, frames=lambda capture: capture.reset(peer, now_ns))

    def abort(self, which: StreamSocket, code: int) -> None:
        """End a connection that is lost (ECONNRESET, ETIMEDOUT): its application gets the error."""
        if which.number not in self._sockets.all or which.state is SocketState.CLOSED:
            return
        if code != errno.ECONNRESET:
            error = errno.errorcode.get(code, str(code))
            fields = {"source": str(which.local), "destination": str(which.remote), "error": error}
            self._log.event(self._clock.now_ns, "connection_lost", host=which.host.name, **fields)
            which.error = code
        which.state = SocketState.CLOSED
        if not self._break(which):
            which.error = code

    def connect_failed(self, which: StreamSocket, code: int) -> None:
        """Make a socket whose non-blocking connect has failed show that: poll(2) reports an error, and SO_ERROR returns it."""
        which.error = code
        self._break(which)

    def _break(self, which: StreamSocket) -> bool:
        """Close the server's end so that the application's end shows an error. Return False if that is not possible."""
        self._told.forget(which.number)
        self._readiness.changed()
        self.stop(which)
        self._sockets.binding.release(which)
        self._sockets.keep_silently(which)
        return error_marking.close_with_error(which)

    def stop(self, which: StreamSocket) -> None:
        """From now on, take no bytes from an application, and deliver none to it."""
        self._readiness.unwatch(which.end.fileno(), which)
        if which.flow is not None:
            which.flow.cancel()
            which.flow = None
        which.undelivered.clear()
        which.cork.data.clear()
        self._forget_kept_until(which)
