"""Letting an application's end of a pair tell an error by itself: `poll`, `epoll` and `select` ask the kernel, not us.

The kernel marks an AF_UNIX stream as failed (POLLERR, POLLHUP, ECONNRESET) when its peer closes with data unread. So a byte
is sent to us from the application's own end, of which we borrow a copy, and our end is closed over it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.kernel import Kernel
    from rsg_server.process.process import Process
    from rsg_server.sockets.pair import SimulatedSocket

_SYS_PIDFD_GETFD = 438
_libc = ctypes.CDLL(None, use_errno=True)


def copy_of(process: Process, fd: int) -> socket.socket | None:
    """A copy of an emulated process's socket, ours to close; None if it cannot be had."""
    copy = _libc.syscall(_SYS_PIDFD_GETFD, process.pidfd, fd, 0)
    if copy < 0:
        return None
    try:
        return socket.socket(fileno=copy)
    except OSError:
        os.close(copy)
        return None


def fail(kernel: Kernel, which: SimulatedSocket) -> bool:
    """Close our end so that the application's shows an error; False if nobody was found who holds that."""
    marked = _has_unread(which) or _mark(kernel, which)
    which.end.close()
    return marked


def _has_unread(which: SimulatedSocket) -> bool:
    with contextlib.suppress(BlockingIOError, ConnectionResetError):
        return bool(which.end.recv(1, socket.MSG_PEEK))
    return False


def _mark(kernel: Kernel, which: SimulatedSocket) -> bool:
    if which.app_end is not None:  # not handed out yet
        return _send_mark(which.app_end)
    for process in _likely_holders(which):
        for fd in _descriptors_of(kernel, process, which.inode):
            copy = copy_of(process, fd)
            if copy is not None:
                with copy:
                    return _send_mark(copy)
    return False


def _send_mark(application: socket.socket) -> bool:
    try:
        return application.send(b"x", socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL) == 1
    except OSError:  # it has been shut down for writing
        return False


def _likely_holders(which: SimulatedSocket) -> Iterator[Process]:
    """Who got the socket from us, then all of its host in the order of their birth."""
    first = which.owner
    if first is not None and not first.dead:
        yield first
    for process in list(which.host.processes.values()):
        if process is not first:
            yield process


def _descriptors_of(kernel: Kernel, process: Process, inode: int) -> Iterator[int]:
    folder = f"/proc/{process.global_pid}/fd"
    try:
        numbers = sorted(map(int, os.listdir(folder)))
    except OSError:
        return
    for fd in numbers:
        with contextlib.suppress(OSError):
            if fd < kernel.options.nofile and os.readlink(f"{folder}/{fd}") == f"socket:[{inode}]":
                yield fd
