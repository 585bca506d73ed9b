"""Makes the application's end of a socket show an error, in a way that poll(2), epoll and select(2) see: by the real kernel.

Linux marks an AF_UNIX stream as failed (POLLERR, POLLHUP, ECONNRESET) if its peer closes while data is unread. So the
server borrows a copy of the application's descriptor, sends itself a byte from it, and closes its own end with the byte
unread.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rsg_server.process.procfs import descriptors_of

if TYPE_CHECKING:
    from rsg_server.process.process import Process
    from rsg_server.sockets.pair import SimulatedSocket

_SYS_PIDFD_GETFD = 438
_libc = ctypes.CDLL(None, use_errno=True)


def copy_of(process: Process, fd: int) -> socket.socket | None:
    """Return a copy of an emulated process's socket, which the caller closes; None if the process has none, or it
    cannot be copied.
    """
    copy = _libc.syscall(_SYS_PIDFD_GETFD, process.pidfd, fd, 0)
    if copy < 0:
        return None
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        return None


def close_with_error(which: SimulatedSocket) -> bool:
    """Close the server's end so that the application's end shows an error. Return False if no process has that end open."""
    marked = _has_unread(which) or _send_from_application(which)
    which.end.close()
    return marked


def _has_unread(which: SimulatedSocket) -> bool:
    with contextlib.suppress(BlockingIOError, ConnectionResetError):
        return bool(which.end.recv(1, socket.MSG_PEEK))
    return False


def _send_from_application(which: SimulatedSocket) -> bool:
    if which.app_end is not None:  # the application's end has not been handed out yet
        return _send_byte(which.app_end)
    for process in _likely_holders(which):
        for fd in _open_at(process, which.inode):
            copy = copy_of(process, fd)
            if copy is not None:
                with copy:
                    return _send_byte(copy)
    return False


def _send_byte(application: socket.socket) -> bool:
    try:
        return application.send(b"x", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL) == 1
    except OSError:  # the application has shut its end down for writing
        return False


def _likely_holders(which: SimulatedSocket) -> Iterator[Process]:
    """Yield the processes that may have a socket open: first the one to which the server gave the socket, then all
    others of the host in the order of their birth.
    """
    first = which.owner
    if first is not None and not first.dead:
        yield first
    for process in list(which.host.processes.values()):
        if process is not first:
            yield process


def _open_at(process: Process, inode: int) -> Iterator[int]:
    folder, numbers = descriptors_of(process)
    for fd in numbers:
        with contextlib.suppress(OSError):
            if os.readlink(f"{folder}/{fd}") == f"socket:[{inode}]":
                yield fd
