"""Lists a host's internet sockets as the files of /proc/net do (proc(5)), for netstat, lsof and ss.

Bytes on their way are not shown: the lengths of a connection's queues are shown as 0, and the queue of a listening
socket as the number of connections to accept. Connections in TIME_WAIT are not listed.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.sockets.kinds.datagram import PingSocket, RawSocket, UdpSocket
from rsg_server.sockets.kinds.netlink import NetlinkSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import Address, SimulatedSocket, SocketState
from rsg_server.sockets.ports import ANY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process

LINES_AT_ONCE = 16
"""The most lines that fit into one message."""
ESTABLISHED, _SYN_SENT, _FIN_WAIT2, CLOSE, _CLOSE_WAIT, LISTEN = 1, 2, 5, 7, 8, 10
"""Numbers of TCP's states, from an enum in Linux's include/net/tcp_states.h."""
_STATES = {SocketState.LISTENING: LISTEN, SocketState.CONNECTING: _SYN_SENT}
_Kind = type[SimulatedSocket]
_WIDTH: dict[_Kind, int] = {StreamSocket: 149, UdpSocket: 127, PingSocket: 127, RawSocket: 0}
"""The width to which the kernel pads the lines for a kind of socket, without the end of the line."""
_LISTS: dict[str, tuple[_Kind, int]] = {
    "tcp": (StreamSocket, 4),
    "tcp6": (StreamSocket, 6),
    "udp": (UdpSocket, 4),
    "udp6": (UdpSocket, 6),
    "raw": (RawSocket, 4),
    "raw6": (RawSocket, 6),
    "icmp": (PingSocket, 4),
    "icmp6": (PingSocket, 6),
}
"""The kind and the address family of the sockets in each file of /proc/net."""
_IN_USE: tuple[_Kind, ...] = (StreamSocket, UdpSocket, RawSocket)
_COLUMNS_4 = "local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
_COLUMNS_6 = (
    "local_address                         remote_address                        "
    "st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
)
_ESTABLISHED_AT = 9
"""The place of CurrEstab in the line of TCP's values in /proc/net/snmp."""


def lines(sockets: Iterable[SimulatedSocket], process: Process, host: HostState, name: str) -> Sequence[str] | None:
    """Return the lines of a file of /proc/net, as a process of `host` sees it; None for a file that is not about sockets."""
    if name in _LISTS:
        kind, family = _LISTS[name]
        return [_head(kind, family), *rows(sockets, host, kind, family)]
    if name not in _SUMMARIES:
        return None
    try:
        native = Path(f"/proc/{process.global_pid}/net/{name}").read_text().splitlines()
    except OSError:
        return ()
    return _SUMMARIES[name](native, [which for which in sockets if which.host is host and not isinstance(which, NetlinkSocket)])


def piece(lines: Sequence[str], first: int) -> bytes:
    """Return some lines from number `first` on, as bytes; b"" behind the last line."""
    return "".join(f"{line}\n" for line in lines[first : first + LINES_AT_ONCE]).encode()


def _head(kind: _Kind, family: int) -> str:
    begin = "   sl  " if (kind, family) == (UdpSocket, 4) else "  sl  "
    end = "" if kind is StreamSocket else " ref pointer drops"
    return (begin + (_COLUMNS_4 if family == 4 else _COLUMNS_6) + end).ljust(_WIDTH[kind] if family == 4 else 0)


def rows(sockets: Iterable[SimulatedSocket], host: HostState, kind: _Kind, family: int) -> list[str]:
    """Return the lines of a list after its head, in the order in which the sockets were made."""
    return [_row(number, which) for number, which in enumerate(listed(sockets, host, kind, family))]


def listed(sockets: Iterable[SimulatedSocket], host: HostState, kind: _Kind, family: int) -> list[SimulatedSocket]:
    """Return the sockets of a host that are listed, in the order in which they were made."""
    return [
        which for which in sockets if which.host is host and (type(which), which.family) == (kind, family) and _is_listed(which)
    ]


# Summaries: numbers of the kernel for the host's AF_UNIX and netlink sockets, and of simunix for its internet sockets


def _in_use(own: Sequence[SimulatedSocket], kind: _Kind, family: int) -> int:
    return sum((type(which), which.family) == (kind, family) and _is_listed(which) for which in own)


def _sockstat(native: Sequence[str], own: Sequence[SimulatedSocket]) -> Sequence[str]:
    used = int(native[0].split()[2]) if native else 0
    streams = sum(isinstance(which, StreamSocket) for which in own)
    tcp, udp, raw = (_in_use(own, kind, 4) for kind in _IN_USE)
    return (
        f"sockets: used {used + len(own)}",
        f"TCP: inuse {tcp} orphan 0 tw 0 alloc {streams} mem 0",
        f"UDP: inuse {udp} mem 0",
        "UDPLITE: inuse 0",
        f"RAW: inuse {raw}",
        "FRAG: inuse 0 memory 0",
    )


def _sockstat6(native: Sequence[str], own: Sequence[SimulatedSocket]) -> Sequence[str]:
    tcp, udp, raw = (_in_use(own, kind, 6) for kind in _IN_USE)
    return (f"TCP6: inuse {tcp}", f"UDP6: inuse {udp}", "UDPLITE6: inuse 0", f"RAW6: inuse {raw}", "FRAG6: inuse 0 memory 0")


def _snmp(native: Sequence[str], own: Sequence[SimulatedSocket]) -> Sequence[str]:
    """Return the lines of /proc/net/snmp: the kernel's counters of the host's network namespace, but CurrEstab from simunix."""
    established = sum(isinstance(which, StreamSocket) and state_of(which) in (ESTABLISHED, _CLOSE_WAIT) for which in own)
    shown = list(native)
    for at, line in enumerate(shown):
        words = line.split(" ")
        if words[0] == "Tcp:" and len(words) > _ESTABLISHED_AT and words[_ESTABLISHED_AT].isdigit():
            words[_ESTABLISHED_AT] = str(established)
            shown[at] = " ".join(words)
    return shown


_SUMMARIES: dict[str, Callable[[Sequence[str], Sequence[SimulatedSocket]], Sequence[str]]] = {
    "sockstat": _sockstat,
    "sockstat6": _sockstat6,
    "snmp": _snmp,
}


# Lines of the lists


def _is_listed(which: SimulatedSocket) -> bool:
    """Return whether a socket is listed, as in Linux: UDP with a port, TCP that listens, connects or is connected."""
    if which.local is None or which.state is SocketState.CLOSED:
        return False
    return not isinstance(which, StreamSocket) or which.state is not SocketState.OPEN


def _row(number: int, which: SimulatedSocket) -> str:
    state = state_of(which)
    remote = which.remote if state not in (LISTEN, CLOSE) else None
    waiting = len(which.queue.pending) if isinstance(which, StreamSocket) and state == LISTEN else 0
    common = (
        f"{_address(which.local, which.family)} {_address(remote, which.family)} {state:02X} 00000000:{waiting:08X} 00:00000000"
    )
    tail = f"{common} 00000000 {user_of(which):5} {0:8} {inode_of(which)}"
    if isinstance(which, StreamSocket):
        return f"{number:4}: {tail} 1 0000000000000000 {_timing(state)}".ljust(_WIDTH[StreamSocket])
    digits = 4 if isinstance(which, RawSocket) else 5
    return f"{number:{digits}}: {tail} 2 0000000000000000 0".ljust(_WIDTH[type(which)])


def inode_of(which: SimulatedSocket) -> int:
    """Return the inode by which the processes that hold a socket are found; 0 for a connection that nobody has accepted yet."""
    return 0 if which.app_end is not None else which.inode


def _timing(state: int) -> str:
    """Return five fields of a line: retransmission timeout, delayed acknowledgement, quick mode, congestion window,
    threshold.
    """
    return "100 0 0 10 0" if state in (LISTEN, _SYN_SENT) else "20 4 30 10 -1"


def state_of(which: SimulatedSocket) -> int:
    """Return the number of a socket's state, as in Linux's tcp_states.h."""
    if not isinstance(which, StreamSocket):
        return ESTABLISHED if which.state is SocketState.CONNECTED else CLOSE
    if which.state is not SocketState.CONNECTED:
        return _STATES.get(which.state, CLOSE)
    if which.fin.is_sent:
        return _FIN_WAIT2
    peer = which.peer
    return _CLOSE_WAIT if peer is not None and peer.fin.is_sent else ESTABLISHED


def _address(address: Address | None, family: int) -> str:
    """Return an address and port as the kernel prints them: the bytes as 32-bit words of this computer."""
    ip, port = (ANY[family], 0) if address is None else (address.ip, address.port)
    return "".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", ip)) + f":{port:04X}"


def user_of(which: SimulatedSocket) -> int:
    """Return the user of the process that got the socket.

    A run that an ordinary user has started has one user, whom its hosts call root.
    """
    try:
        user = os.stat(f"/proc/{which.owner.global_pid}").st_uid if which.owner is not None else 0
    except OSError:
        return 0
    return 0 if user == os.geteuid() else user
