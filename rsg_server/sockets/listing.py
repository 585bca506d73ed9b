"""A host's internet sockets as /proc/net/tcp, tcp6, udp and udp6 list them (proc(5)): for netstat, lsof, and ss.

Bytes under way are not listed: the queues of a connection read 0, and that of a listener tells how many wait to be accepted.
Connections in TIME_WAIT are not listed.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from rsg_server.sockets.pair import Address, SocketState
from rsg_server.sockets.ports import ANY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rsg_server.process.host_state import HostState
    from rsg_server.sockets.pair import SimulatedSocket

ROWS_AT_ONCE = 16
"""As many as fit into one message."""
_ESTABLISHED, _SYN_SENT, _FIN_WAIT2, _CLOSE, _CLOSE_WAIT, _LISTEN = 1, 2, 5, 7, 8, 10
"""Of enum in include/net/tcp_states.h."""
_STATES = {SocketState.LISTENING: _LISTEN, SocketState.CONNECTING: _SYN_SENT}


def rows(sockets: Iterable[SimulatedSocket], host: HostState, kind: str, family: int, first: int) -> str:
    """Up to ROWS_AT_ONCE rows from the number `first` on, in the order in which the sockets were made; "" behind the last."""
    listed = [
        which for which in sockets if which.host is host and (which.kind, which.family) == (kind, family) and _is_listed(which)
    ]
    return "".join(_row(number, which) for number, which in list(enumerate(listed))[first : first + ROWS_AT_ONCE])


def _is_listed(which: SimulatedSocket) -> bool:
    """As in Linux: a datagram socket that has a port, a stream that listens, connects or is connected."""
    if which.local is None or which.state is SocketState.CLOSED:
        return False
    return which.kind == "d" or which.state is not SocketState.OPEN


def _row(number: int, which: SimulatedSocket) -> str:
    state = _state(which)
    remote = which.remote if state not in (_LISTEN, _CLOSE) else None
    waiting = len(which.pending) if state == _LISTEN else 0
    inode = 0 if which.app_end is not None else which.inode  # a connection that nobody has accepted yet has none
    common = (
        f"{_address(which.local, which.family)} {_address(remote, which.family)} {state:02X} 00000000:{waiting:08X} 00:00000000"
    )
    tail = f"{common} 00000000 {_user(which):5} {0:8} {inode}"
    if which.kind == "d":
        return f"{number:5}: {tail} 2 0000000000000000 0".ljust(127) + "\n"
    return f"{number:4}: {tail} 1 0000000000000000 {_timing(state)}".ljust(149) + "\n"


def _timing(state: int) -> str:
    """Retransmission time-out, delayed acknowledgement, quick mode, congestion window and slow-start threshold."""
    return "100 0 0 10 0" if state in (_LISTEN, _SYN_SENT) else "20 4 30 10 -1"


def _state(which: SimulatedSocket) -> int:
    if which.kind == "d":
        return _ESTABLISHED if which.state is SocketState.CONNECTED else _CLOSE
    if which.state is not SocketState.CONNECTED:
        return _STATES[which.state]
    if which.app_finished:
        return _FIN_WAIT2
    peer = which.peer
    return _CLOSE_WAIT if peer is not None and peer.app_finished else _ESTABLISHED


def _address(address: Address | None, family: int) -> str:
    """The bytes as this computer's words of 32 bits, as the kernel prints them."""
    ip, port = (ANY[family], 0) if address is None else (address.ip, address.port)
    return "".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", ip)) + f":{port:04X}"


def _user(which: SimulatedSocket) -> int:
    """Of the process that the server gave the socket to. A run without root has one user, whom its hosts call root."""
    try:
        user = os.stat(f"/proc/{which.owner.global_pid}").st_uid if which.owner is not None else 0
    except OSError:
        return 0
    return 0 if user == os.geteuid() else user
