"""An actor: one thread of an emulated process, with its state in respect of the turn (the right to run) and what it
waits for.
"""

from __future__ import annotations

import socket
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol

from rsg_server._native import ffi, lib

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event
    from rsg_server.fd_store.store import FdStore
    from rsg_server.process.host_state import HostState
    from rsg_server.process.process import Process
    from rsg_server.process.wait import ActorWait


def actor_of(record: Any) -> Actor:
    """Return the actor of a struct turn_actor, whose thread has not ended."""
    actor: Actor = ffi.from_handle(record.object)
    return actor


class State(Enum):
    """The states of an actor in respect of the turn, which is the right to run: only a RUNNING actor has it."""

    READY = "ready"
    RUNNING = "running"
    PARKED = "parked"
    VFORK = "waiting for a vfork child"
    DEAD = "dead"


STATE_READY: Final = State.READY
STATE_RUNNING: Final = State.RUNNING
STATE_PARKED: Final = State.PARKED
"""The three states that every turn compares with. Looking them up in the class would take 0.1 µs each time."""

_STATES: Final = (State.READY, State.RUNNING, State.PARKED, State.VFORK, State.DEAD)
"""The states, in the order of enum turn_state."""
_NUMBERS: Final = {state: number for number, state in enumerate(_STATES)}
_NO_WAIT: Final[int] = lib.KIND_NONE
_WAKE_VALUES: Final = 2

FIRST_TURN: Final = 255
"""The reason that the event log gives for a turn that does not end a wait: of a new actor, or of the parent of a vfork."""
_FIRST_CHANNEL = 3 << 48
"""The first of the numbers under which channels are in the descriptor store.

It is above all numbers (tokens) of watched descriptors (rsg_server.turn.readiness).
"""


@dataclass(slots=True)
class Spinner:
    """The record of an actor from which the server has taken the turn because it computed too long
    (rsg_server.turn.preemption).
    """

    global_tid: int
    patience_ns: int
    is_known: bool = False  # to loop until memory changes: the thread made a call after a preemption, when other actors had run
    was_preempted: bool = False  # whether the actor's last turn ended by preemption
    goes_on: bool = False  # whether the last turn began at the instruction at which a preemption ended the turn before
    calls: int = 0
    cpu_ns: int = 0


class WaitViews(Protocol):
    """Makes the Python object for a wait that the core (csrc/turn/) has begun; see rsg_server.waits.table."""

    def of(self, wait: Any) -> ActorWait:
        """Return the object for a struct turn_wait of C."""


class Actor:
    """A thread of an emulated process. The server gave it its number before the thread existed.

    The values of an actor that every turn needs are in `record`, a struct turn_actor, which the core (csrc/turn/) also
    reads and writes.

    An actor that is READY is in the run queue unless its process is stopped. An actor that is PARKED has `parked`, and
    is in the run queue only if it is nominated.
    """

    __slots__ = (
        "_handle",
        "_reply",
        "_spinner",
        "_wait",
        "affinity",
        "born_ns",
        "channel_number",
        "cpu_ns",
        "fd_store",
        "held",
        "is_warm",
        "memory_policy",
        "network",
        "number",
        "process",
        "record",
        "reply_fds",
        "tid",
        "timeout",
        "waits",
        "wanted_affinity",
        "words",
    )

    def __init__(self, number: int, process: Process, channel: socket.socket, born_ns: int = 0) -> None:
        self.number = number
        self.process = process
        self.held: socket.socket | None = channel  # None while the channel is in the descriptor store
        self.fd_store: FdStore | None = None
        self.is_warm = True  # whether the channel was used since the store last looked for sockets to store
        self.born_ns = born_ns
        self.cpu_ns = 0  # the CPU time that the thread has been charged
        self.tid = 0
        # the number of the actor that was the first to have this channel and its epoll (channel_pool.py)
        self.channel_number = number
        self.timeout: Event | None = None  # the deadline of a wait whose end the wait's own object handles (not the core)
        self.reply_fds: tuple[int, ...] = ()
        self.words: tuple[tuple[int, int], ...] = ()  # the futexes (space, word) of one futex_waitv(2)
        self.wanted_affinity = 0  # the mask that was given to sched_setaffinity(2); 0: it was not called
        self.memory_policy = (0, 0, 0)  # mode with flags, NUMA nodes, and the nodes that the thread named, a bit for each node
        self.network: HostState | None = None  # the thread's own network namespace; None: its host's
        self.affinity = 0  # the processors that the thread may use, a bit for each; 0: all of its host
        self.waits: WaitViews | None = None
        self._spinner: Spinner | None = None
        self._wait: ActorWait | None = None
        self._reply: tuple[object, ...] = ()
        self._handle: Any = ffi.new_handle(self)
        self.record: Any = ffi.new("struct turn_actor *")
        self.record.number, self.record.object, self.record.process = number, self._handle, process.record
        self.record.wait.kind, self.record.owes_message = _NO_WAIT, 1

    def let_go(self) -> None:
        """Remove the link from the C record to this object, because the thread has ended and the core will not ask for
        it any more.
        """
        self.record.object = ffi.NULL
        self._handle = None

    def inherit(self, creator: Actor) -> None:
        """Take over what a child or thread inherits from the thread that called fork(2) or clone(2)."""
        self.affinity, self.wanted_affinity = creator.affinity, creator.wanted_affinity
        self.memory_policy, self.network = creator.memory_policy, creator.network

    def __repr__(self) -> str:
        return f"{self.process}/{self.tid or '?'}"

    @property
    def slot(self) -> int:
        """The number of the slot (a futex in shared memory) at which the actor waits for its turn; 0 if it has none."""
        slot: int = self.record.slot
        return slot

    @slot.setter
    def slot(self, slot: int) -> None:
        self.record.slot = slot

    @property
    def state(self) -> State:
        """The state of the actor in respect of the turn."""
        return _STATES[self.record.state]

    @state.setter
    def state(self, state: State) -> None:
        self.record.state = _NUMBERS[state]

    @property
    def is_nominated(self) -> bool:
        """Whether the actor has a place in the run queue although it waits: when its place comes, it looks whether its
        wait is over.
        """
        return bool(self.record.is_nominated)

    @is_nominated.setter
    def is_nominated(self, is_nominated: bool) -> None:
        self.record.is_nominated = is_nominated

    @property
    def is_new(self) -> bool:
        """Whether the actor is a thread that waits at its slot for its very first turn."""
        return bool(self.record.is_new)

    @is_new.setter
    def is_new(self, is_new: bool) -> None:
        self.record.is_new = is_new

    @property
    def answer_at_slot(self) -> bool:
        """Whether the actor waits at its slot for its turn, which comes with the reason and the value of its wake."""
        return bool(self.record.answer_at_slot)

    @answer_at_slot.setter
    def answer_at_slot(self, answer_at_slot: bool) -> None:
        self.record.answer_at_slot = answer_at_slot

    @property
    def reply_at_slot(self) -> bool:
        """Whether the actor waits at its slot for the reply to its last message, which it left in the outbox (shared
        memory).
        """
        return bool(self.record.reply_at_slot)

    @reply_at_slot.setter
    def reply_at_slot(self, reply_at_slot: bool) -> None:
        self.record.reply_at_slot = reply_at_slot

    @property
    def owes_message(self) -> bool:
        """Whether the actor must begin with a message: HELLO, or FORK_DONE after a vfork."""
        return bool(self.record.owes_message)

    @owes_message.setter
    def owes_message(self, owes_message: bool) -> None:
        self.record.owes_message = owes_message

    @property
    def spinner(self) -> Spinner | None:
        """The record of the actor's preemptions; None if the turn was never taken from it."""
        return self._spinner

    @spinner.setter
    def spinner(self, spinner: Spinner | None) -> None:
        self._spinner = spinner
        self.record.is_spinner = spinner is not None

    @property
    def reply(self) -> tuple[object, ...]:
        """The values that the actor gets at the beginning of its next turn. After a wait, these are a reason and a value."""
        record = self.record
        return self._reply if record.reply_in_python else (record.reply_wake, record.reply_value)

    @reply.setter
    def reply(self, values: tuple[object, ...]) -> None:
        record = self.record
        if len(values) == _WAKE_VALUES:
            record.reply_in_python, record.reply_wake, record.reply_value = 0, values[0], values[1]
        else:
            record.reply_in_python, self._reply = 1, values

    @property
    def parked(self) -> ActorWait | None:
        """The wait of the actor until its next turn; None if it waits for nothing.

        If the core (csrc/turn/) has begun the wait, each call makes a new object.
        """
        record = self.record
        kind: int = record.wait.kind
        if kind == _NO_WAIT:
            return None
        if record.has_object:
            return self._wait
        assert self.waits is not None
        return self.waits.of(record.wait)

    def take_wait(self, wait: ActorWait) -> None:
        """Store the object of the wait that begins."""
        self._wait = wait
        self.record.has_object, self.record.ends_in_python = 1, wait.ends_by_itself()

    @property
    def channel(self) -> socket.socket:
        """The server's end of the actor's channel. If the channel is in the descriptor store, it is taken back first."""
        if self.held is None:
            assert self.fd_store is not None
            self.held = self.fd_store.fetch(self)
        self.is_warm = True
        return self.held

    @property
    def may_be_stored(self) -> bool:
        """Whether the channel may be put into the descriptor store.

        While an actor waits it sends nothing, unless it still has to send its first message.
        """
        return self.state is STATE_PARKED and not self.owes_message

    @property
    def storage_token(self) -> int:
        """The number of the channel in the descriptor store (rsg_server.fd_store.storable), not that of the actor's epoll."""
        return _FIRST_CHANNEL + self.number

    @property
    def watched_events(self) -> None:
        """None, which says that no epoll of the server watches the channel: the turn loop reads from it directly."""
        return None

    @staticmethod
    def socket_of(descriptor: int) -> socket.socket:
        """Return a socket object for the descriptor of a channel that has come back from the descriptor store."""
        return socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, descriptor)

    def epoll_info(self) -> str | None:
        """Return the path of the fdinfo file of the actor's private epoll if the actor waits for descriptors, else None."""
        return None if self.parked is None else self.parked.epoll_info(self.process)
