"""Activities of Remote SimGrid, which take time (communications, executions, …), and the actors that wait for them.

A communication has two handles: one for the actor that sends (puts), one for the actor that receives (gets).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING

from rsg_server._native import lib
from rsg_server.platform.disk import Direction
from rsg_server.rsg.errors import Code

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.disks import DiskPlace
    from rsg_server.rsg.mailbox import Mailbox
    from rsg_server.rsg.moments import Timer

MADE: int = lib.RSG_MADE
VETOED: int = lib.RSG_VETOED
WAITING: int = lib.RSG_WAITING
STARTED: int = lib.RSG_STARTED
DONE: int = lib.RSG_DONE
FAILED: int = lib.RSG_FAILED
CANCELLED: int = lib.RSG_CANCELLED
TIMED_OUT: int = lib.RSG_TIMED_OUT
AMOUNT: int = lib.RSG_AMOUNT
RATE: int = lib.RSG_RATE
WEIGHT: int = lib.RSG_WEIGHT
BOUND: int = lib.RSG_BOUND
WHERE: int = lib.RSG_WHERE

ERRORS = {DONE: Code.NONE, FAILED: Code.NETWORK_FAILURE, CANCELLED: Code.CANCELED, TIMED_OUT: Code.TIMEOUT}
"""The error for the actors that wait for an activity, by the state in which the activity has ended."""

REMARKS = {
    DONE: " (done, of which nobody has been told)",
    FAILED: " (failed)",
    CANCELLED: " (cancelled)",
    TIMED_OUT: " (failed)",
}
"""The words that a report adds about an activity for which another one waits, by its state."""
SHOWN_MAX = 5


class Activity(ABC):
    """Something that begins, takes time and ends. `flow` is its number in the engine that moves flows, -1 while it has none."""

    ends_at_timeout = False
    """Whether the activity ends for both sides when the timeout of one actor for it has passed."""

    def __init__(self) -> None:
        self.state = WAITING
        self.flow = -1
        self.unasked: list[Handle] = []  # the handles that have successors, and whose numbers the program cannot use any more
        self.start_s = -1.0
        self.finish_s = -1.0
        self.waits: list[Wait] = []
        self.error = Code.NONE  # the error of the failed activity, if it is not the usual error for the state

    @property
    def is_over(self) -> bool:
        """Whether the activity has ended: done, failed or cancelled."""
        return self.state > STARTED

    @property
    def outcome(self) -> Code:
        """The error that the actors get that wait for the activity."""
        return self.error or ERRORS[self.state]

    @abstractmethod
    def owners(self) -> list[Participant]:
        """Return the actors whose end also ends the activity."""

    @abstractmethod
    def hosts(self) -> list[Host]:
        """Return the hosts whose failure ends the activity."""

    @abstractmethod
    def words(self) -> str:
        """Return words about the activity, for a report of what an actor waits for."""

    def brief(self) -> str:
        """Return words about the activity, for a report of what another activity waits for before it begins."""
        return self.words()


class Made(Activity):
    """An activity that a program has made and that has not begun; it has one handle.

    `begin` makes the activity that replaces it, with the terms that were set by then; `what` returns words about the activity.
    """

    def __init__(
        self, owner: Participant, terms: dict[int, float], begin: Callable[[Made], Activity], what: Callable[[Made], str]
    ) -> None:
        super().__init__()
        self.state = MADE
        self.owner = owner
        self.terms = terms  # by numbers of enum simunix_rsg_term
        self.begin = begin
        self.what = what
        self.handle = Handle(self)
        self.after: dict[Handle, None] = {}  # the number of predecessors that have not ended
        self.is_held = False
        self.is_detached = False
        self.data = b""

    def __repr__(self) -> str:
        return f"{self.what(self)} of {self.owner}, not begun"

    def owners(self) -> list[Participant]:
        """Return the actor that has made the activity; [] for a put that nobody waits for."""
        return [] if self.is_detached else [self.owner]

    def hosts(self) -> list[Host]:
        """Return [], since a failing host matters only once the activity has begun."""
        return []

    @property
    def left(self) -> float:
        """The bytes or flops of the activity; 1 for a parallel task, 0 for a get, whose size is not known yet."""
        return 0.0 if self.is_over else self.terms.get(AMOUNT, 0.0 if self.ends_at_timeout else 1.0)

    def brief(self) -> str:
        """Return words about the activity, without what it waits for."""
        return self.what(self)

    def words(self) -> str:
        """Return words about the activity, and about the first activities that it waits for."""
        if not self.after:
            return f"{self.what(self)}, which has not begun"
        first = [handle.activity for handle in islice(self.after, SHOWN_MAX)]
        named = ", ".join(activity.brief() + REMARKS.get(activity.state, "") for activity in first)
        more = f" and {len(self.after) - SHOWN_MAX} more" if len(self.after) > SHOWN_MAX else ""
        return f"{self.what(self)}, which begins after {named}{more}"


class Comm(Activity):
    """A communication between two actors: its bytes, and a size that decides how long it takes."""

    ends_at_timeout = True

    def __init__(self, mailbox: Mailbox | None) -> None:
        super().__init__()
        self.mailbox = mailbox
        self.source: Participant | None = None
        self.destination: Participant | None = None
        self.source_host: Host | None = None
        self.destination_host: Host | None = None
        self.size_bytes = 0.0
        self.rate = -1.0
        self.data = b""
        self.is_detached = False

    def __repr__(self) -> str:
        where = "" if self.mailbox is None else f" at mailbox {self.mailbox.name}"
        return f"communication{where} from {self.source or self.source_host} to {self.destination or self.destination_host}"

    def owners(self) -> list[Participant]:
        """Return both actors; for a put that nobody waits for, without the sender."""
        found = [] if self.source is None or self.is_detached else [self.source]
        return found if self.destination is None else [*found, self.destination]

    def hosts(self) -> list[Host]:
        """Return the hosts at both ends, as far as they are known."""
        return [host for host in (self.source_host, self.destination_host) if host is not None]

    def words(self) -> str:
        """Return words about the communication: its mailbox, and the actor at the other end if there is one."""
        if self.mailbox is None:
            return f"a transfer of {self.size_bytes:g} bytes"
        if self.source is None:
            return f"a put to mailbox {self.mailbox.name}"
        if self.destination is None:
            return f"a get from mailbox {self.mailbox.name}, which {self.size_bytes:g} bytes wait for"
        return f"{self.size_bytes:g} bytes through mailbox {self.mailbox.name} from {self.source} to {self.destination}"


class Execution(Activity):
    """An execution: flops that an actor computes on the cores of a host."""

    def __init__(self, owner: Participant, host: Host, priority: float, bound: float) -> None:
        super().__init__()
        self.owner = owner
        self.host = host
        self.priority = priority
        self.bound = bound  # the most flop/s; 0 or less: only the speed of a core limits it

    def __repr__(self) -> str:
        return f"execution of {self.owner} on {self.host.name}"

    def owners(self) -> list[Participant]:
        """Return the actor that has begun the execution."""
        return [self.owner]

    def hosts(self) -> list[Host]:
        """Return the host on which the execution computes."""
        return [self.host]

    def words(self) -> str:
        """Return words about the execution, which name its host."""
        return f"an execution on host {self.host.name}"


class Io(Activity):
    """A read from a disk or a write to it, of some bytes."""

    def __init__(self, owner: Participant, place: DiskPlace, direction: Direction, size_bytes: float) -> None:
        super().__init__()
        self.owner = owner
        self.place = place
        self.direction = direction
        self.size_bytes = size_bytes

    def __repr__(self) -> str:
        return f"{self.words()} by {self.owner}"

    def owners(self) -> list[Participant]:
        """Return the actor that has begun to read or write."""
        return [self.owner]

    def hosts(self) -> list[Host]:
        """Return the host of the disk."""
        return [self.place.host]

    def words(self) -> str:
        """Return words about the read or write, which name its disk."""
        return io_words(self.place, self.direction, self.size_bytes)


def io_words(place: DiskPlace, direction: Direction, size_bytes: float) -> str:
    """Return words about a read or a write, which name its disk."""
    done = "read" if direction is Direction.READ else "write"
    return f"a {done} of {size_bytes:g} bytes on disk {place.name} of host {place.host.name}"


class Task(Activity):
    """A parallel task: flops on several hosts and bytes between them, all of which advance together."""

    def __init__(self, owner: Participant, on: list[Host]) -> None:
        super().__init__()
        self.owner = owner
        self.on = on

    def __repr__(self) -> str:
        return f"{self.words()} of {self.owner}"

    def owners(self) -> list[Participant]:
        """Return the actor that has begun the task."""
        return [self.owner]

    def hosts(self) -> list[Host]:
        """Return the hosts on which the task computes and communicates."""
        return self.on

    def words(self) -> str:
        """Return words about the task, which name its hosts."""
        return task_words(self.on)


def task_words(hosts: list[Host]) -> str:
    """Return words about a parallel task, which name its hosts."""
    return f"a parallel task on {', '.join(host.name for host in hosts)}"


class Handle:
    """An actor's reference to an activity.

    `receives` says that the actor receives the bytes of a communication, and does not send them. `before` contains the
    handles of the activities that wait for this one.
    """

    __slots__ = ("activity", "before", "number", "owner", "receives")

    def __init__(self, activity: Activity, receives: bool = False) -> None:
        self.activity = activity
        self.before: dict[Handle, None] = {}
        self.receives = receives
        self.number = 0  # 0: the program knows no number for this handle
        self.owner: Participant | None = None


class Wait:
    """An actor's wait for one activity, or for the first of several (`is_any`)."""

    __slots__ = ("handles", "is_any", "place", "timer", "who")

    def __init__(self, who: Participant, handles: list[Handle], is_any: bool, place: float) -> None:
        self.who = who
        self.place = place  # the number of the wait in the order of their beginnings
        self.handles = handles
        self.is_any = is_any
        self.timer: Timer | None = None
        for handle in handles:
            if self not in handle.activity.waits:
                handle.activity.waits.append(self)

    def end(self) -> None:
        """Stop waiting for the activities."""
        if self.timer is not None:
            self.timer.cancel()
        for handle in self.handles:
            if self in handle.activity.waits:
                handle.activity.waits.remove(self)

    def words(self) -> str:
        """Return words that say what the actor waits for."""
        if len(self.handles) == 1:
            return self.handles[0].activity.words()
        return "the first of " + ", ".join(handle.activity.words() for handle in self.handles)
