"""The channels and private epolls that threads which have ended leave to the next threads of their process.

A daemon that starts a thread for each connection would otherwise have six descriptors made and closed each time. Which thread
has which channel decides nothing in the emulation: the pool can be emptied at any moment; the next thread gets a new one.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.needs import Readiness
    from rsg_server.process.process import Process

MOST_OF_PROCESS = 256
RECEIVE_TIMEOUT = (0).to_bytes(8, "little") + (100_000).to_bytes(8, "little")
"""SO_RCVTIMEO of a channel, a struct timeval of 0.1 s: how often a waiting server looks up from a computing actor."""


def new_channel() -> tuple[socket.socket, socket.socket]:
    """Our end and the actor's."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, RECEIVE_TIMEOUT)
    return ours, theirs


@dataclass(slots=True)
class PooledChannel:
    """A channel without a thread; `number` is that of the first actor that had the channel."""

    number: int
    channel: socket.socket
    has_epoll: bool


class ChannelPool:
    """The channels that no thread has now, by process."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness
        self._left: dict[int, list[PooledChannel]] = {}  # by the process's number

    def leave(self, actor: Actor) -> bool:
        """Keep the channel of a thread that has ended; False if no other thread may have it, as that of the main thread."""
        process = actor.process
        channels = self._left.setdefault(process.number, [])
        if actor.held is None or actor.tid == process.pid or len(channels) >= MOST_OF_PROCESS:
            return False
        channels.append(PooledChannel(actor.channel_number, actor.held, actor in self._readiness))
        self._readiness.forget(actor)
        actor.held = None
        return True

    def take(self, process: Process) -> PooledChannel | None:
        """A channel that a thread of the process has left; None if there is none."""
        channels = self._left.get(process.number)
        return channels.pop() if channels else None

    def give_up(self, process: Process) -> None:
        """Close the channels of a process that has died, or whose threads an exec has ended."""
        for pooled in self._left.pop(process.number, ()):
            pooled.channel.close()

    def give_up_all(self) -> int:
        """Close all channels: their descriptors are needed elsewhere, or the run is over. Returns how many there were."""
        left = [pooled for channels in self._left.values() for pooled in channels]
        for pooled in left:
            pooled.channel.close()
        self._left.clear()
        return len(left)
