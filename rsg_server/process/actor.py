"""An actor, which is one emulated thread: its state with respect to the turn, and what it waits for."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from rsg_server.protocol import WAKE_READY

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event
    from rsg_server.clock.timer_queue import Alarm
    from rsg_server.fd_store.store import FdStore
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process
    from rsg_server.process.wait import ActorWait


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

FIRST_TURN: Final = 255
"""In the event log, the reason of a turn that no wait has brought about: that of a new actor, or of the parent of a vfork."""
_FIRST_CHANNEL = 3 << 48
"""First storage token of a channel; above all tokens of watched descriptors (rsg_server.turn.readiness)."""


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
        "reply_at_slot",
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
        self.answer_at_slot = False  # the actor waits at its slot for its turn, and is told the reason and a value
        self.reply_at_slot = False  # the actor waits there for the reply to its last message, which lay in the outbox
        self.state = STATE_READY
        self.owes_message = True  # the actor speaks first: HELLO, or FORK_DONE after a vfork
        self.parked: ActorWait | None = None
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
        """The number under which the store keeps the channel (rsg_server.fd_store.storable), not that of the actor's epoll."""
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
        return None if self.parked is None else self.parked.epoll_info(self.process)
