"""Describes descriptors of emulated processes in words: what is open, and which processes have the other end open."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from rsg_server.process.procfs import descriptors_of, epoll_targets
from rsg_server.sockets.error_marking import copy_of
from rsg_server.sockets.kinds.datagram import IcmpSocket, PingSocket, RawSocket, UdpSocket
from rsg_server.sockets.kinds.netlink import NetlinkSocket
from rsg_server.sockets.kinds.stream import StreamSocket
from rsg_server.sockets.pair import SimulatedSocket, SocketState
from rsg_server.waits.words import SHOWN, listed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rsg_server.process.process import Process
    from rsg_server.sockets.table import SocketTable

_CREDENTIALS = struct.Struct("=iII")
_PROTOCOLS: dict[type[SimulatedSocket], str] = {
    StreamSocket: "TCP",
    UdpSocket: "UDP",
    PingSocket: "ICMP",
    RawSocket: "raw ICMP",
    NetlinkSocket: "netlink",
}
_PREFIX = b"\0simunix:"

Key = tuple[int, int]
Holder = tuple["Process", int]


class Descriptors:
    """Describes descriptors by /proc.

    An object of this class remembers which process has what open, so each report makes a new object.
    """

    def __init__(self, processes: Mapping[int, Process], sockets: SocketTable) -> None:
        self._processes, self._sockets = processes, sockets

    def describe(self, process: Process, fd: int) -> str:
        """Return a few words about a descriptor, e.g. `pipe, written by sh[2]@node1 (fd 4)`; "closed" if there is no
        such descriptor.
        """
        path = f"/proc/{process.global_pid}/fd/{fd}"
        try:
            link, status = os.readlink(path), os.stat(path)
        except OSError:
            return "closed"
        if stat.S_ISSOCK(status.st_mode):
            return self._socket(process, fd)
        if stat.S_ISFIFO(status.st_mode):
            return self._pipe(process, fd, link, (status.st_dev, status.st_ino))
        if link.startswith("anon_inode:"):
            name = link.removeprefix("anon_inode:").strip("[]")
            return _ANONYMOUS.get(name, Descriptors._named)(self, process, fd, name)
        return link

    # Which processes have a file open

    @cached_property
    def _holders(self) -> dict[Key, list[Holder]]:
        """The processes that have each pipe or socket open, with their descriptors, in the order in which the processes
        were born.

        The key is (st_dev, st_ino) of the pipe or socket.
        """
        found: dict[Key, list[Holder]] = {}
        for process in self._processes.values():
            for fd, status in self._open_files(process):
                if stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
                    found.setdefault((status.st_dev, status.st_ino), []).append((process, fd))
        return found

    def _open_files(self, process: Process) -> Iterator[tuple[int, os.stat_result]]:
        folder, numbers = descriptors_of(process)
        for fd in numbers:
            with contextlib.suppress(OSError):
                yield fd, os.stat(f"{folder}/{fd}")

    @staticmethod
    def _names(holders: list[Holder]) -> str:
        return listed([f"{process!r} (fd {fd})" for process, fd in holders])

    # The words for each kind of file

    def _pipe(self, process: Process, fd: int, link: str, key: Key) -> str:
        name = "pipe" if link.startswith("pipe:") else f"FIFO {link}"
        reads = _access_mode(process, fd) != os.O_WRONLY
        other_mode, other, verb = (os.O_RDONLY, "writer", "written") if reads else (os.O_WRONLY, "reader", "read")
        ends = [holder for holder in self._holders.get(key, ()) if _access_mode(*holder) != other_mode]
        return f"{name}, {verb} by {self._names(ends)}" if ends else f"{name} without a {other}"

    def _socket(self, process: Process, fd: int) -> str:
        copy = copy_of(process, fd)
        if copy is None:
            return "socket"
        with copy:
            peer = _peer_name(copy)
            if isinstance(peer, bytes) and peer.startswith(_PREFIX):
                number = int(peer[len(_PREFIX) + 2 :][:8], 16)
                simulated = self._sockets.all.get(number)
                return self._simulated(simulated) if simulated is not None else "internet socket, closed by both sides"
            return self._unix(copy, peer)

    def _simulated(self, which: SimulatedSocket) -> str:
        kind = _PROTOCOLS[type(which)]
        if isinstance(which, StreamSocket) and which.state is SocketState.LISTENING:
            pending = len(which.queue.pending)
            waiting = f"{pending} pending" if pending else "nobody connects"
            return f"{kind} listener at {which.local}, {waiting}"
        if which.remote is None:
            return f"{kind} socket at {which.local}" if which.local is not None else f"{kind} socket without an address"
        return f"{kind} {which.local} to {which.remote}, {self._far_end(which)}"

    def _far_end(self, which: SimulatedSocket) -> str:
        if not isinstance(which, StreamSocket):
            return "the host" if isinstance(which, IcmpSocket) else "the socket bound there"
        peer = which.peer
        if peer is None:
            return which.state.value
        if peer.app_closed or peer.state is SocketState.CLOSED:
            return f"closed by {peer.host.name}"
        if peer.app_end is not None:
            return f"not yet accepted by {peer.host.name}"
        holders = [holder for key, found in self._holders.items() if key[1] == peer.inode for holder in found]
        return f"held by {self._names(holders)}" if holders else f"held by nobody that is known on {peer.host.name}"

    def _unix(self, copy: socket.socket, peer: object) -> str:
        own = _name_text(copy.getsockname())
        if copy.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            return f"UNIX listener at {own}, nobody connects"
        pid, _, _ = _CREDENTIALS.unpack(copy.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
        others = (repr(process) for process in self._processes.values() if process.global_pid == pid)
        name = _name_text(peer) or own
        if peer is None:
            return f"UNIX socket {own}, not connected" if own else "UNIX socket, not connected"
        made_by = next(others, "a process that has ended")
        return f"UNIX socket {name} of {made_by}" if name else f"UNIX socket pair made by {made_by}"

    def _epoll(self, process: Process, fd: int, name: str) -> str:
        targets = [target for target, _ in epoll_targets(f"/proc/{process.global_pid}/fdinfo/{fd}")]
        if not targets:
            return "epoll of nothing"
        shown = [f"{target} ({self.describe(process, target)})" if target != fd else str(target) for target in targets[:SHOWN]]
        return "epoll of " + listed(shown + [""] * (len(targets) - len(shown)))

    def _pidfd(self, process: Process, fd: int, name: str) -> str:
        pid = int(_info(process, fd).get("Pid", "-1"))
        known = (repr(other) for other in self._processes.values() if other.global_pid == pid)
        return f"pidfd of {next(known, 'a process that has ended')}"

    def _eventfd(self, process: Process, fd: int, name: str) -> str:
        return f"eventfd, count {int(_info(process, fd).get('eventfd-count', '0'), 16)}"

    def _named(self, process: Process, fd: int, name: str) -> str:
        return name


_ANONYMOUS: dict[str, Callable[[Descriptors, Process, int, str], str]] = {
    "eventpoll": Descriptors._epoll,
    "pidfd": Descriptors._pidfd,
    "eventfd": Descriptors._eventfd,
}


def _info(process: Process, fd: int) -> dict[str, str]:
    try:
        with open(f"/proc/{process.global_pid}/fdinfo/{fd}") as lines:
            return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    except OSError:
        return {}


def _access_mode(process: Process, fd: int) -> int:
    return int(_info(process, fd).get("flags", "0"), 8) & os.O_ACCMODE


def _peer_name(copy: socket.socket) -> object:
    try:
        return copy.getpeername()
    except OSError:
        return None


def _name_text(name: object) -> str:
    """Return the address of a UNIX socket as netstat(8) shows it: an abstract name begins with @."""
    if isinstance(name, bytes):
        return "@" + name[1:].decode(errors="replace")
    return str(name) if name else ""
