"""One emulated thread: running, ready, waiting, or dead; and what it waits for."""

from __future__ import annotations

import signal
import socket
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from rsg_server.protocol import Wait, Wake

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event
    from rsg_server.clock.timer_queue import Alarm
    from rsg_server.fd_store.store import FdStore
    from rsg_server.process.process import Process


class State(Enum):
    """Where an actor stands with respect to the turn."""

    READY = "ready"
    RUNNING = "running"
    PARKED = "parked"
    VFORK = "waiting for a vfork child"
    DEAD = "dead"


AT_TERMINAL = 1
"""In `c` of a wait for descriptors: one of them is the master of a terminal. From bit 8 on, the private epoll's descriptor."""

HAS_SIGNALFD = 1 << (signal.SIGSYS - 1)
"""In a mask of blocked signals, which never holds SIGSYS: whatever comes, the actor looks."""

_FIRST_CHANNEL = 3 << 48
"""Above all tokens of watched descriptors (rsg_server.turn.readiness)."""


@dataclass(slots=True)
class Parked:
    """What a parked actor waits for, as its PARK message said; (a, b, c) depend on `wait`, see csrc/shared/protocol.h."""

    wait: int
    syscall: int
    deadline_ns: int
    blocked: int
    a: int
    b: int
    c: int
    since_ns: int
    siblings_may_wake: bool = False  # other threads of the process may end the wait without the server


@dataclass(slots=True)
class Spinner:
    """What is known of an actor that has been preempted."""

    global_tid: int
    patience_ns: int
    is_known: bool = False  # that it spins: it has made a call after it had been preempted and others had run
    was_preempted: bool = False  # its last turn ended so
    goes_on: bool = False  # its last turn began after it had been preempted
    calls: int = 0
    cpu_ns: int = 0


class Actor:
    """A thread of an emulated process, known by the number that the server gave it before it was born."""

    __slots__ = (
        "answer_at_slot",
        "born_ns",
        "channel_number",
        "fd_store",
        "held",
        "is_new",
        "is_warm",
        "number",
        "owes_message",
        "parked",
        "process",
        "reply",
        "reply_fds",
        "slot",
        "spinner",
        "state",
        "tid",
        "timeout",
        "words",
    )

    def __init__(self, number: int, process: Process, channel: socket.socket, born_ns: int = 0) -> None:
        self.number = number
        self.process = process
        self.held: socket.socket | None = channel  # None while it is stored
        self.fd_store: FdStore | None = None
        self.is_warm = True  # used since the store last looked for sockets to store
        self.born_ns = born_ns
        self.tid = 0
        self.slot = 0
        self.channel_number = number  # whose channel and epoll it has (channel_pool.py)
        self.is_new = False  # a thread that waits at its slot for its first turn
        self.answer_at_slot = False  # it waits there, not for a message
        self.state = State.READY
        self.owes_message = True  # it speaks first: HELLO, or FORK_DONE after a vfork
        self.parked: Parked | None = None
        self.timeout: Event | Alarm | None = None
        self.reply: tuple[object, ...] = (int(Wake.READY), 0)
        self.reply_fds: tuple[int, ...] = ()
        self.words: tuple[tuple[int, int], ...] = ()  # futexes (space, word) that it waits at together
        self.spinner: Spinner | None = None

    def __repr__(self) -> str:
        return f"{self.process}/{self.tid or '?'}"

    @property
    def channel(self) -> socket.socket:
        """Our end, fetched if it is stored."""
        if self.held is None:
            assert self.fd_store is not None
            self.held = self.fd_store.fetch(self)
        self.is_warm = True
        return self.held

    @property
    def may_be_stored(self) -> bool:
        """Nobody speaks at the channel of an actor that waits, unless it owes its first message."""
        return self.state is State.PARKED and not self.owes_message

    @property
    def storage_token(self) -> int:
        """The number under which the store keeps the channel (rsg_server.fd_store.needs); the actor's epoll has another one."""
        return _FIRST_CHANNEL + self.number

    @property
    def watched_events(self) -> None:
        """No epoll of the server watches the channel: the turn loop receives there."""
        return None

    @staticmethod
    def socket_of(descriptor: int) -> socket.socket:
        """The channel for a descriptor that has come back from the store."""
        return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, descriptor)

    def epoll_info(self) -> str | None:
        """The fdinfo file of the epoll at which it waits for descriptors, if it does."""
        if self.parked is None or self.parked.wait != Wait.FD or not self.parked.c >> 8:
            return None
        return f"/proc/{self.process.global_pid}/fdinfo/{self.parked.c >> 8}"
