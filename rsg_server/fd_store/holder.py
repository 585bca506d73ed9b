"""The process that holds descriptors for the server (store.py): `python -m rsg_server.fd_store.holder`, its socket as stdin.

Messages on the socket (SEQPACKET; integers in the computer's byte order) are a letter and what follows it.

  E  holder to server, once, at the start: the holder's epoll comes along, which the server polls itself
  K  server to holder: for each descriptor that comes along, a token (u64) and the epoll events to watch it for (i64; -1: none);
     the holder answers K
  F  server to holder: a token; the holder answers F with the descriptor, and keeps it no longer
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import struct
import sys

from rsg_server._native import lib

AT_ONCE = 250
"""Descriptors in a message: Linux takes 253 (SCM_MAX_FD, unix(7))."""
ENTRY = struct.Struct("=Qq")
TOKEN = struct.Struct("=Q")
KEEP, FETCH, EPOLL = b"K", b"F", b"E"
UNWATCHED = -1
PR_SET_PDEATHSIG = 1
_MESSAGE_MAX = 1 + AT_ONCE * ENTRY.size


class FdHolder:
    """Descriptors by token, and the epoll that reports those that are watched."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._epoll = select.epoll()
        self._kept: dict[int, tuple[int, bool]] = {}

    def serve(self) -> None:
        """Answer the server's messages until its end of the socket closes."""
        socket.send_fds(self._server, [EPOLL], [self._epoll.fileno()])
        acts = {KEEP: self._keep, FETCH: self._fetch}
        while True:
            message, descriptors, _, _ = socket.recv_fds(self._server, _MESSAGE_MAX, AT_ONCE)
            if not message:
                return
            acts[message[:1]](message[1:], descriptors)

    def _keep(self, entries: bytes, descriptors: list[int]) -> None:
        for (token, events), descriptor in zip(ENTRY.iter_unpack(entries), descriptors, strict=True):
            self._kept[token] = descriptor, events != UNWATCHED
            if events != UNWATCHED and (code := lib.watch_add(self._epoll.fileno(), descriptor, events, token)) < 0:
                raise OSError(-code, os.strerror(-code))
        self._server.send(KEEP)

    def _fetch(self, token: bytes, _: list[int]) -> None:
        descriptor, is_watched = self._kept.pop(TOKEN.unpack(token)[0])
        if is_watched:
            lib.watch_remove(self._epoll.fileno(), descriptor)
        socket.send_fds(self._server, [FETCH], [descriptor])
        os.close(descriptor)


def main() -> None:
    """Serve until the server is gone. Signals that a terminal sends to all its processes are for the server to act on."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # Stopped by a user, this process would not see that the server is gone: the kernel is to continue it then (prctl(2)).
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    with socket.socket(fileno=os.dup(sys.stdin.fileno())) as server:
        FdHolder(server).serve()


if __name__ == "__main__":
    main()
