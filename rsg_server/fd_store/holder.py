"""A holder: a process that keeps open descriptors for the server, which has as many as one process may have (store.py).

The server starts `python -m rsg_server.fd_store.holder` with one end of a socket pair as stdin. A message on the socket
(SEQPACKET; integers in the computer's byte order) is a letter and what follows it.

E  holder to server, once, at the start, with the descriptor of the holder's epoll, which the server polls itself
  K  server to holder: keep the descriptors that come with this message; for each a token (u64) and the epoll
     events to watch it for (i64; -1: none); the holder answers K
  F  server to holder: a token; the holder answers F with the token's descriptor, and closes its own copy
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
"""The most descriptors in one message. Linux allows 253 (SCM_MAX_FD, unix(7))."""
ENTRY = struct.Struct("=Qq")
TOKEN = struct.Struct("=Q")
KEEP, FETCH, EPOLL = b"K", b"F", b"E"
UNWATCHED = -1
PR_SET_PDEATHSIG = 1
_MESSAGE_MAX = 1 + AT_ONCE * ENTRY.size


class FdHolder:
    """Keeps the server's descriptors, each under a token, and watches some of them by an epoll."""

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
    """Answer the server's messages until the server is gone.

    Signals that a terminal sends to the whole process group are ignored: the server acts on them.
    """
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    # While this process is stopped by a user, it cannot see that the server has ended. So the kernel is asked to
    # continue it then (prctl(2)).
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGCONT)
    with socket.socket(fileno=os.dup(sys.stdin.fileno())) as server:
        FdHolder(server).serve()


if __name__ == "__main__":
    main()
