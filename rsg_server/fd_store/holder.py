"""The process that holds descriptors for the server (store.py): `python -m rsg_server.fd_store.holder`, its socket as stdin.

Messages of the socket (SEQPACKET), numbers in the computer's own order:
  K, then for each descriptor that comes along a token (u64) and what to watch it for (i64, -1: nothing); answered by K
  F, a token: answered by F and the descriptor, which is the server's again
The first message is the keeper's: E, with its epoll, at which the server looks itself.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import sys

from rsg_server._native import lib

AT_ONCE = 250
"""Descriptors in a message: Linux takes 253."""
ENTRY = struct.Struct("=Qq")
TOKEN = struct.Struct("=Q")
KEEP, FETCH, EPOLL = b"K", b"F", b"E"
UNWATCHED = -1
_MESSAGE_MAX = 1 + AT_ONCE * ENTRY.size


class Keeper:
    """Descriptors by token, and the epoll that tells of those that are watched."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._epoll = select.epoll()
        self._kept: dict[int, tuple[int, bool]] = {}

    def serve(self) -> None:
        """Until the server is gone."""
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
    """What a terminal sends to all is for the server to act on."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with socket.socket(fileno=os.dup(sys.stdin.fileno())) as server:
        Keeper(server).serve()


if __name__ == "__main__":
    main()
