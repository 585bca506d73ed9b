"""What a thread leaves to the next one of its process: its channel and its private epoll, which both sides keep.

A daemon that starts a thread for each connection would otherwise have six descriptors made and closed each time. Who sits where
decides nothing in the emulation: seats can be given up at any moment, and the next thread gets a new one.
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
    """`number` is that of the first actor that had it."""

    number: int
    channel: socket.socket
    has_epoll: bool


class ChannelPool:
    """Those that nobody has now, by process."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness
        self._left: dict[int, list[PooledChannel]] = {}  # by the process's number

    def leave(self, actor: Actor) -> bool:
        """A thread has ended; False if its seat cannot be another's: the main thread's goes with it."""
        process = actor.process
        seats = self._left.setdefault(process.number, [])
        if actor.held is None or actor.tid == process.pid or len(seats) >= MOST_OF_PROCESS:
            return False
        seats.append(PooledChannel(actor.channel_number, actor.held, actor in self._readiness))
        self._readiness.forget(actor)
        actor.held = None
        return True

    def take(self, process: Process) -> PooledChannel | None:
        """A seat that a thread of the process has left."""
        seats = self._left.get(process.number)
        return seats.pop() if seats else None

    def give_up(self, process: Process) -> None:
        """The process has died, or its threads with the image that they ran."""
        for seat in self._left.pop(process.number, ()):
            seat.channel.close()

    def give_up_all(self) -> int:
        """Their descriptors are wanted for something else, or the run is over. How many there were."""
        left = [seat for seats in self._left.values() for seat in seats]
        for seat in left:
            seat.channel.close()
        self._left.clear()
        return len(left)
