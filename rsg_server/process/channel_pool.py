"""Keeps the channels and private epolls of ended threads for the next threads of their process.

Without this pool, a daemon that starts a thread for each connection would have six descriptors made and closed each
time. The emulation does not depend on which thread has which channel. So the server may empty the pool at any moment:
the next thread then gets a new channel.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process

MOST_OF_PROCESS = 256
"""The most channels of one process that the pool keeps."""
RECEIVE_TIMEOUT = (0).to_bytes(8, "little") + (100_000).to_bytes(8, "little")
"""The socket option SO_RCVTIMEO of a channel, as a struct timeval of 0.1 s: the longest that the server waits for an
actor's first message before it looks for the message in other places.
"""


class Readiness(Protocol):
    """The part of rsg_server.turn.readiness that the pool uses: the epoll in which the server watches the private
    epolls of actors.
    """

    def __contains__(self, target: Actor) -> bool: ...

    def forget(self, actor: Actor) -> None:
        """Stop watching the private epoll of an actor that has ended."""

    def take_over(self, actor: Actor) -> None:
        """Watch the private epoll of an ended actor on behalf of `actor` from now on."""


def new_channel() -> tuple[socket.socket, socket.socket]:
    """Make a channel, which is a pair of connected sockets. Return the server's end and the actor's end."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, RECEIVE_TIMEOUT)
    return ours, theirs


@dataclass(slots=True)
class PooledChannel:
    """A channel that no actor has. `number` is that of the first actor that had the channel."""

    number: int
    channel: socket.socket
    has_epoll: bool


class ChannelPool:
    """The channels that no actor has, by the process of their last actor."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness
        self._left: dict[int, list[PooledChannel]] = {}  # by the number of the process

    def leave(self, actor: Actor) -> bool:
        """Put the channel of an ended actor into the pool.

        Return False if the pool is full, or if the thread was a main thread.
        """
        process = actor.process
        channels = self._left.setdefault(process.number, [])
        if actor.held is None or actor.tid == process.pid or len(channels) >= MOST_OF_PROCESS:
            return False
        channels.append(PooledChannel(actor.channel_number, actor.held, actor in self._readiness))
        self._readiness.forget(actor)
        actor.held = None
        return True

    def give_back(self, actor: Actor, may_keep: bool) -> None:
        """Put the channel of an actor that has ended into the pool, if that is possible and `may_keep`; else close it."""
        if not (may_keep and self.leave(actor)):
            actor.channel.close()
            self._readiness.forget(actor)

    def hand_over(self, pooled: PooledChannel, actor: Actor) -> None:
        """Give a channel of the pool to an actor, and watch the channel's epoll on behalf of that actor."""
        actor.channel_number = pooled.number
        if pooled.has_epoll:
            self._readiness.take_over(actor)

    def take(self, process: Process) -> PooledChannel | None:
        """Remove a channel of an ended thread of a process from the pool, and return it; None if there is none."""
        channels = self._left.get(process.number)
        return channels.pop() if channels else None

    def close(self, process: Process) -> None:
        """Close the channels in the pool of a process that has died, or whose other threads an exec has ended."""
        for pooled in self._left.pop(process.number, ()):
            pooled.channel.close()

    def close_all(self) -> int:
        """Close all channels in the pool, at the end of the run or to free descriptors. Return their number."""
        left = [pooled for channels in self._left.values() for pooled in channels]
        for pooled in left:
            pooled.channel.close()
        self._left.clear()
        return len(left)
