"""Making connections: SYN, listen queue, refusal, retries; one flow per direction once connected."""

from __future__ import annotations

import contextlib
import errno
from functools import partial
from typing import TYPE_CHECKING

from rsg_server.errors import LACKS, MORE_FILES
from rsg_server.sockets.pair import Address, SimulatedSocket, SocketState
from rsg_server.sockets.ports import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from rsg_server.capture.capture import Capture
    from rsg_server.kernel import Kernel
    from rsg_server.process.host_state import HostState

SYN_RETRY_NS = 10**9
SYN_RETRIES = 6
"""tcp_syn_retries: first repeated after 1 s, doubled each time (tcp(7)); then ETIMEDOUT, after 127 s.

Hosts are as far away as if behind a router: that nobody answers for an address (ARP; EHOSTUNREACH after 3 s) is not modelled.
"""
"""Options that an accepted connection has from its listener."""


def connect(kernel: Kernel, client: SimulatedSocket, target: Address, waits: bool) -> int:
    """Begin to connect a stream; an errno, EINPROGRESS when the SYN is under way."""
    if client.state is SocketState.CONNECTED:
        return errno.EISCONN
    if client.state is SocketState.CONNECTING:
        return errno.EALREADY
    if client.state is not SocketState.OPEN:
        return errno.EISCONN if client.state is SocketState.LISTENING else errno.ECONNABORTED
    if client.error:  # the last attempt's, which nobody has asked for
        code, client.error = client.error, 0
        return code
    ip = plain(target.ip)
    host = kernel.sockets.host_of(client.host, ip)
    if host is None:
        return errno.ENETUNREACH
    code = kernel.sockets.autobind(client, ip if any(ip) else (b"\x7f\0\0\1" if len(ip) == 4 else b"\0" * 15 + b"\1"))
    if code:
        return code
    if client.is_broken:
        kernel.sockets.renew(client)
    client.state = SocketState.CONNECTING
    client.remote = target
    client.waits = waits
    client.outcome = None
    kernel.sockets.set_events(client)
    _send_syn(kernel, client, ip, 0)
    return errno.EINPROGRESS


def _send_syn(kernel: Kernel, client: SimulatedSocket, ip: bytes, attempt: int) -> None:
    host = kernel.sockets.host_of(client.host, ip)
    if host is None or not _is_connecting(kernel, client):
        return
    again = partial(_retry, kernel, client, ip, attempt, kernel.now_ns)
    _travel(
        kernel,
        client.host,
        host,
        partial(_syn_arrives, kernel, client, ip, attempt, again),
        again,
        lambda it: it.syn(client, host.name),
    )


def _travel(
    kernel: Kernel,
    source: HostState,
    destination: HostState,
    action: Callable[[], None],
    lost: Callable[[], None] | None = None,
    frames: Callable[[Capture], list[bytes]] | None = None,
) -> None:
    """A packet of the handshake; within a host it arrives at once, as Linux's loopback shakes hands within connect itself."""
    if source is destination:
        action()
    else:
        kernel.wire.packet(source, destination, action, lost, frames=frames)


def _is_connecting(kernel: Kernel, client: SimulatedSocket) -> bool:
    return client.state is SocketState.CONNECTING and client.number in kernel.sockets.all


def _syn_arrives(kernel: Kernel, client: SimulatedSocket, ip: bytes, attempt: int, again: Callable[[], None]) -> None:
    if not _is_connecting(kernel, client):
        return
    assert client.remote is not None
    host = kernel.sockets.host_of(client.host, ip)
    assert host is not None
    if client.peer is not None and not client.peer.vanished:  # the answer to an earlier SYN was lost
        _answer(kernel, client, client.peer, again)
        return
    listener = kernel.sockets.find(host, "s", ip, client.remote.port, client.local)
    if listener is None:
        refuse = partial(_fail, kernel, client, errno.ECONNREFUSED)
        _travel(kernel, host, client.host, refuse, again, lambda capture: capture.refusal(client))
    elif len(listener.pending) > listener.backlog or (served := _accept_queue(kernel, client, listener)) is None:
        again()  # the listener's queue is full and drops the SYN, as Linux does
    else:
        _answer(kernel, client, served, again)


def _answer(kernel: Kernel, client: SimulatedSocket, served: SimulatedSocket, again: Callable[[], None]) -> None:
    """SYN and ACK; where they are lost, the client asks again."""
    moment_ns = kernel.now_ns
    reach = partial(_established, kernel, client)
    _travel(kernel, served.host, client.host, reach, again, lambda capture: capture.syn_ack(client, served, moment_ns))


def _retry(kernel: Kernel, client: SimulatedSocket, ip: bytes, attempt: int, sent_ns: int) -> None:
    """The SYN that was sent at a moment has not been answered: it is repeated after 1 s, 2 s, 4 s …"""
    due_ns = max(kernel.now_ns, sent_ns + (SYN_RETRY_NS << attempt))
    if attempt >= SYN_RETRIES:
        kernel.timeline.add(due_ns, partial(_fail, kernel, client, errno.ETIMEDOUT))
    else:
        kernel.timeline.add(due_ns, partial(_send_syn, kernel, client, ip, attempt + 1))


def _accept_queue(kernel: Kernel, client: SimulatedSocket, listener: SimulatedSocket) -> SimulatedSocket | None:
    """Make the served end and queue it; None if the server has no descriptor for it."""
    try:
        served = kernel.sockets.create(listener.host, listener.family, "s")
    except OSError as error:
        if error.errno not in LACKS:
            raise
        kernel.warn(f"the server cannot open {listener!r}'s next connection ({error.strerror}); {MORE_FILES}")
        return None
    served.options = dict(listener.options)
    served.heard_ns = kernel.now_ns
    served.state = SocketState.CONNECTED
    kernel.page.tell_stream(served.number, listens=False)
    assert listener.local is not None and client.remote is not None and client.local is not None
    served.local = Address(_as_family(client.remote.ip, listener.family), listener.local.port)
    served.remote = Address(_as_family(client.local.ip, listener.family), client.local.port)
    served.peer, client.peer = client, served
    served.flow = kernel.wire.open(served, client)
    listener.pending.append(served)
    _send_tokens(listener)
    kernel.readiness.changed()
    return served


def _send_tokens(listener: SimulatedSocket) -> None:
    """One token for each pending connection; what does not fit now is sent when others have been accepted."""
    with contextlib.suppress(BlockingIOError, BrokenPipeError):  # BrokenPipe: shut down, nobody will accept
        while listener.tokens < len(listener.pending):
            listener.end.send(b"t")
            listener.tokens += 1


def _as_family(ip: bytes, family: int) -> bytes:
    """An address in the form that a socket of the family shows it."""
    if family == 6 and len(ip) == 4:
        return b"\0" * 10 + b"\xff\xff" + ip
    return plain(ip) if family == 4 else ip


def _established(kernel: Kernel, client: SimulatedSocket) -> None:
    peer = client.peer
    if not _is_connecting(kernel, client) or peer is None:
        if peer is not None:
            kernel.sockets.reset(peer)
        return
    client.drain()
    client.state = SocketState.CONNECTED
    kernel.page.tell_stream(client.number, listens=False)
    client.flow = kernel.wire.open(client, peer)
    client.heard_ns = kernel.now_ns
    kernel.sockets.set_events(client)
    kernel.readiness.changed()
    if kernel.wire.capture is not None:
        kernel.wire.capture.established(client, kernel.now_ns, kernel.wire.latency_ns(client.host, peer.host))
    assert client.remote is not None and client.local is not None
    kernel.log.event(kernel.now_ns, "connect", host=client.host.name, source=str(client.local), destination=str(client.remote))
    kernel.sockets.tell_connect(client, 0)


def _fail(kernel: Kernel, client: SimulatedSocket, code: int) -> None:
    if not _is_connecting(kernel, client):
        return
    client.state = SocketState.OPEN
    kernel.log.event(
        kernel.now_ns,
        "connect_failed",
        host=client.host.name,
        destination=str(client.remote),
        error=errno.errorcode.get(code, str(code)),
    )
    if client.waits:
        client.drain()
        kernel.sockets.set_events(client)
        kernel.readiness.changed()
    else:
        kernel.sockets.connect_failed(client, code)
    kernel.sockets.tell_connect(client, -code)


def accept(kernel: Kernel, listener: SimulatedSocket) -> tuple[SimulatedSocket, int] | int:
    """The oldest pending connection and the application's end of it (to be closed once passed), or an errno."""
    if listener.state is not SocketState.LISTENING:
        return errno.EINVAL
    if not listener.pending:
        return errno.EAGAIN
    served = listener.pending.popleft()
    listener.tokens -= 1
    _send_tokens(listener)
    kernel.readiness.changed()
    return served, served.hand_out()
