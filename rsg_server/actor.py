"""One emulated thread: running, ready, waiting, or dead; and what it waits for."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from rsg_server.protocol import Space, Wait, Wake

if TYPE_CHECKING:
    from rsg_server.process import Process
    from rsg_server.timeline import Event


class State(Enum):
    """Where an actor stands with respect to the turn."""

    READY = "ready"
    RUNNING = "running"
    PARKED = "parked"
    VFORK = "waiting for a vfork child"
    DEAD = "dead"


_OBJECTS = {
    int(Space.SEMAPHORES): "the System V semaphore set",
    int(Space.QUEUES): "the System V message queue",
    int(Space.FIFOS): "the other side of the FIFO with inode",
}


@dataclass(slots=True)
class Parked:
    """What a parked actor waits for, as its PARK message said; (a, b, c) depend on `wait`, see csrc/protocol.h."""

    wait: int
    syscall: int
    deadline_ns: int
    blocked: int
    a: int
    b: int
    c: int
    since_ns: int

    def describe(self) -> str:
        """A few words for reports, e.g. `poll of descriptor 7 and 2 more`."""
        kind = Wait(self.wait)
        if kind is Wait.FD:
            more = f" and {self.b - 1} more" if self.b > 1 else ""
            return f"descriptor {self.a}{more}"
        if kind is Wait.FUTEX and self.a in _OBJECTS:
            return f"{_OBJECTS[self.a]} {self.b & 0xFFFFFFFF}"
        if kind is Wait.FUTEX:
            return f"futex {self.b:#x}"
        if kind is Wait.CONNECT:
            return f"the answer to a connect of socket {self.a}"
        return {
            Wait.TIME: "the clock",
            Wait.CHILD: "a child",
            Wait.SIGNAL: "a signal",
            Wait.LOCK: f"a lock ({self.a})",
        }.get(kind, kind.name.lower())


class Actor:
    """A thread of an emulated process, known by the number that the server gave it before it was born."""

    __slots__ = (
        "channel",
        "epoll_fd",
        "number",
        "owes_message",
        "parked",
        "process",
        "reply",
        "reply_fds",
        "state",
        "tid",
        "timeout",
    )

    def __init__(self, number: int, process: Process, channel: socket.socket) -> None:
        self.number = number
        self.process = process
        self.channel = channel
        self.tid = 0
        self.epoll_fd = -1
        self.state = State.READY
        self.owes_message = True  # it speaks first: HELLO, or FORK_DONE after a vfork
        self.parked: Parked | None = None
        self.timeout: Event | None = None
        self.reply: tuple[object, ...] = (int(Wake.READY), 0)
        self.reply_fds: tuple[int, ...] = ()

    def __repr__(self) -> str:
        return f"{self.process}/{self.tid or '?'}"
