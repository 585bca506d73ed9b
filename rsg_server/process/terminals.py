"""Pseudoterminals without the kernel's work queue, which delivers characters at no defined moment of virtual time.

The server puts characters typed at a master into the slave's line discipline (ioctl_tty(2) TIOCSTI), where the
characters take effect at once: echo, signals, lines. The kernel delivers the bytes that were written to a slave as soon
as a poll(2) of the master finds nothing to read. So the server polls the masters for which actors wait. Where TIOCSTI
is not allowed (it needs root, or an old kernel), the turn loop waits a moment of real time instead.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import os
import select
import termios
from typing import TYPE_CHECKING

from rsg_server.process.actor import State
from rsg_server.process.procfs import epoll_targets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rsg_server.process.actor import Actor
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process

_SYS_PIDFD_GETFD = 438
_ROOM = 2048
"""The number of unread characters in a terminal up to which the server types more. From 4096 on, the kernel decides."""

_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def borrowed(process: Process, fd: int) -> Iterator[int]:
    """Yield a copy of another process's descriptor. Raises OSError if the descriptor is gone or may not be copied."""
    copy = _libc.syscall(_SYS_PIDFD_GETFD, process.pidfd, fd, 0)
    if copy < 0:
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    try:
        yield copy
    finally:
        os.close(copy)


def type_at(host: HostState, number: int, keys: bytes) -> bool:
    """Type characters at a terminal of a host; return False if no process has it open, it is full, or TIOCSTI is not
    allowed.
    """
    for process in sorted(host.processes.values(), key=lambda process: process.number):
        fd = _descriptor_of(process, f"/dev/pts/{number}")
        if fd is not None:
            with contextlib.suppress(OSError), borrowed(process, fd) as slave:
                return _type(slave, keys)
    return False


def _type(slave: int, keys: bytes) -> bool:
    flush(slave)
    unread = array.array("i", [0])
    fcntl.ioctl(slave, termios.FIONREAD, unread)
    if unread[0] + len(keys) > _ROOM:
        return False
    for key in keys:
        fcntl.ioctl(slave, termios.TIOCSTI, bytes([key]))
    return True


def _descriptor_of(process: Process, name: str) -> int | None:
    folder = f"/proc/{process.global_pid}/fd"
    try:
        for fd in sorted(map(int, os.listdir(folder))):
            with contextlib.suppress(FileNotFoundError):
                if os.readlink(f"{folder}/{fd}") == name:
                    return fd
    except OSError:
        pass
    return None


def flush(terminal: int) -> None:
    """Make the kernel deliver the characters that are under way to this end of a terminal; do nothing if some can be
    read already.
    """
    poller = select.poll()
    poller.register(terminal, select.POLLIN)
    poller.poll(0)


def flush_waited(waiting: dict[int, Actor]) -> None:
    """Make the kernel deliver what was written to terminals where actors wait; remove actors that do not wait any more."""
    for number, actor in sorted(waiting.items()):
        if actor.parked is None or actor.state is not State.PARKED or not actor.parked.watches_terminal():
            del waiting[number]
        elif actor.process.pidfd >= 0:
            flush_for(actor.process, [fd for fd, _ in epoll_targets(actor.epoll_info())])


def flush_for(process: Process, descriptors: list[int]) -> None:
    """Make the kernel deliver what is under way to the terminals among a process's descriptors. Closed ones are skipped."""
    for fd in descriptors:
        with contextlib.suppress(OSError), borrowed(process, fd) as copy:
            flush(copy)
