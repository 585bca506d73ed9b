"""An actor, which is one emulated thread: its state with respect to the turn, and what it waits for."""

from __future__ import annotations

import signal
import socket
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from rsg_server._native import lib
from rsg_server.protocol import WAIT_FD, WAKE_READY

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event
    from rsg_server.clock.timer_queue import Alarm
    from rsg_server.fd_store.store import FdStore
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process


class State(Enum):
    """Where an actor stands with respect to the turn."""

    READY = "ready"
    RUNNING = "running"
    PARKED = "parked"
    VFORK = "waiting for a vfork child"
    DEAD = "dead"


STATE_READY: Final = State.READY
STATE_RUNNING: Final = State.RUNNING
STATE_PARKED: Final = State.PARKED
"""The states that every turn compares, without the look into their class, which costs 0.1 µs each time."""

AT_TERMINAL: Final[int] = lib.PARK_FD_TERMINAL
"""Flag in `c` of a wait for descriptors: one of the descriptors is the master of a terminal.

`c >> 8` is the descriptor, in the process, of the actor's private epoll.
"""
IS_EXCLUSIVE: Final[int] = lib.PARK_FD_EXCLUSIVE
"""Flag in `c` of a wait for descriptors: the socket with number `b`, which listens, is watched with EPOLLEXCLUSIVE."""
HAS_LOOKED: Final[int] = lib.PARK_FD_LOOKED
"""Flag in `c` of a wait for descriptors: nothing was ready just now but for connections that are others' to accept."""

IS_FILE: Final[int] = lib.PARK_FD_FILE
"""Flag in `c` of a wait for descriptors, with IS_EXCLUSIVE: what is watched is the kernel's file of number `b`."""
IS_CHOSEN: Final[int] = lib.PARK_FD_CHOSEN
"""Flag that the server sets in `c`, with IS_FILE: of those that wait for the file, this actor is woken for its news."""

HAS_SIGNALFD = 1 << (signal.SIGSYS - 1)
"""Flag in a mask of blocked signals: the process has a signalfd, so the actor looks at every signal, a blocked one, too.

The flag is SIGSYS's bit, which is free: no mask ever blocks SIGSYS.
"""

_FIRST_CHANNEL = 3 << 48
"""First storage token of a channel; above all tokens of watched descriptors (rsg_server.turn.readiness)."""


class Parked:
    """What a parked actor waits for, as its PARK message said; (a, b, c) depend on `wait`, see csrc/shared/protocol.h.

    `deadline_ns` is virtual time, below 0 for none. The arguments are in the order of the message, which is unpacked into them.
    With `siblings_may_wake` other threads of the process may end the wait without the server. The class is no dataclass, whose
    generated __init__ would be interpreted: one is made at every wait.
    """

    __slots__ = ("a", "b", "blocked", "c", "deadline_ns", "siblings_may_wake", "since_ns", "syscall", "wait")

    def __init__(
        self,
        wait: int,
        syscall: int,
        deadline_ns: int,
        blocked: int,
        a: int,
        b: int,
        c: int,
        since_ns: int,
        siblings_may_wake: bool = False,
    ) -> None:
        self.wait, self.syscall, self.deadline_ns, self.blocked = wait, syscall, deadline_ns, blocked
        self.a, self.b, self.c = a, b, c
        self.since_ns, self.siblings_may_wake = since_ns, siblings_may_wake


@dataclass(slots=True)
class Spinner:
    """An actor that was preempted, as the preemption (rsg_server.turn.preemption) knows it."""

    global_tid: int
    patience_ns: int
    is_known: bool = False  # to spin: the actor made a call after it had been preempted and other actors had run
    was_preempted: bool = False  # the last turn of the actor ended by preemption
    goes_on: bool = False  # the last turn began where a preemption had ended the turn before
    calls: int = 0
    cpu_ns: int = 0


class Actor:
    """A thread of an emulated process, known by the number that the server gave it before it was born.

    An actor that is READY is in the run queue unless its process is stopped; an actor that is PARKED has `parked`, and is in
    the run queue only if it is nominated.
    """

    __slots__ = (
        "affinity",
        "answer_at_slot",
        "born_ns",
        "channel_number",
        "cpu_ns",
        "fd_store",
        "held",
        "is_new",
        "is_nominated",
        "is_warm",
        "memory_policy",
        "network",
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
        "wanted_affinity",
        "words",
    )

    def __init__(self, number: int, process: Process, channel: socket.socket, born_ns: int = 0) -> None:
        self.number = number
        self.process = process
        self.held: socket.socket | None = channel  # None while the channel is stored
        self.fd_store: FdStore | None = None
        self.is_warm = True  # the channel was used since the store last looked for sockets to store
        self.born_ns = born_ns
        self.cpu_ns = 0  # that it has been charged
        self.tid = 0
        self.slot = 0
        self.channel_number = number  # of the actor that first had the channel and the epoll (channel_pool.py)
        self.is_nominated = False  # has a place in the run queue, to look again at what it waits for (turn/wakeups.py)
        self.is_new = False  # a thread that waits at its slot for its first turn
        self.answer_at_slot = False  # the actor waits for its answer at its slot, not for a message
        self.state = STATE_READY
        self.owes_message = True  # the actor speaks first: HELLO, or FORK_DONE after a vfork
        self.parked: Parked | None = None
        self.timeout: Event | Alarm | None = None
        self.reply: tuple[object, ...] = (WAKE_READY, 0)
        self.reply_fds: tuple[int, ...] = ()
        self.words: tuple[tuple[int, int], ...] = ()  # futexes (space, word) of one futex_waitv(2)
        self.spinner: Spinner | None = None
        self.wanted_affinity = 0  # as sched_setaffinity(2) has asked; 0: never
        self.memory_policy = (0, 0, 0)  # mode with flags, NUMA nodes, and those that the thread named, a bit each
        self.network: HostState | None = None  # the network namespace within its host's that the thread is in; None: its host's
        self.affinity = 0  # processors that the thread may use, a bit each; 0: all of the host

    def inherit(self, creator: Actor) -> None:
        """Take from the thread that called fork(2) or clone(2) what its children begin with."""
        self.affinity, self.wanted_affinity = creator.affinity, creator.wanted_affinity
        self.memory_policy, self.network = creator.memory_policy, creator.network

    def __repr__(self) -> str:
        return f"{self.process}/{self.tid or '?'}"

    @property
    def channel(self) -> socket.socket:
        """The server's end of the channel, fetched if it is stored."""
        if self.held is None:
            assert self.fd_store is not None
            self.held = self.fd_store.fetch(self)
        self.is_warm = True
        return self.held

    @property
    def may_be_stored(self) -> bool:
        """Whether the channel may be stored: an actor that waits sends nothing, unless it owes its first message."""
        return self.state is STATE_PARKED and not self.owes_message

    @property
    def storage_token(self) -> int:
        """The number under which the store keeps the channel (rsg_server.fd_store.needs), not that of the actor's epoll."""
        return _FIRST_CHANNEL + self.number

    @property
    def watched_events(self) -> None:
        """None, for the store: no epoll of the server watches the channel, since the turn loop receives from it directly."""
        return None

    @staticmethod
    def socket_of(descriptor: int) -> socket.socket:
        """The channel of a descriptor that has come back from the store."""
        return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, descriptor)

    def epoll_info(self) -> str | None:
        """The fdinfo file of the private epoll if the actor waits for descriptors, None if it does not."""
        if self.parked is None or self.parked.wait != WAIT_FD or not self.parked.c >> 8:
            return None
        return f"/proc/{self.process.global_pid}/fdinfo/{self.parked.c >> 8}"
