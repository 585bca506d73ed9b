"""Sending (put) and receiving (get): how communications begin, move and end, as in SimGrid 3.32
(kernel/activity/CommImpl.cpp).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rsg_server.platform.errors import NoRouteError
from rsg_server.rsg.activity import (
    AMOUNT,
    CANCELLED,
    DONE,
    FAILED,
    RATE,
    STARTED,
    TIMED_OUT,
    WAITING,
    Activity,
    Comm,
    Execution,
    Made,
)
from rsg_server.rsg.errors import Code, OperationError
from rsg_server.rsg.mailbox import Mailbox

if TYPE_CHECKING:
    from rsg_server.network.engine import FlowEngine
    from rsg_server.platform.host import Host
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg

DATA_MAX_BYTES = 256 << 20
"""The most bytes of messages that the server stores until they are received."""
MAILBOXES_MAX = 1 << 20
PRIORITY_MAX = 1e100


def checked(number: float) -> float:
    """Return a size, a rate or a number of flops. Raises OperationError if it is below 0, infinite or not a number."""
    if not (0 <= number < math.inf):
        raise OperationError(Code.NEGATIVE)
    return number


def checked_priority(number: float) -> float:
    """Return a priority, a share beside others. Raises OperationError if it is not above 0, or too large for a finite sum."""
    if not (0 < number <= PRIORITY_MAX):
        raise OperationError(Code.NEGATIVE)
    return number


class Communications:
    """All mailboxes, and the communications that have begun or wait at a mailbox."""

    def __init__(self, room: Rsg, engine: FlowEngine) -> None:
        self._room, self._engine = room, engine
        self._by_name: dict[str, Mailbox] = {}
        self.mailboxes: list[Mailbox] = []
        self.data_bytes = 0

    def mailbox(self, name: str) -> Mailbox:
        """Return the mailbox with a name; the first use of a name makes the mailbox."""
        found = self._by_name.get(name)
        if found is None:
            if len(self.mailboxes) >= MAILBOXES_MAX:
                raise OperationError(Code.MEMORY)
            found = self._by_name[name] = Mailbox(len(self.mailboxes), name)
            self.mailboxes.append(found)
        return found

    def numbered(self, number: int) -> Mailbox:
        """Return the mailbox with a number. Raises OperationError if there is none."""
        if not 0 <= number < len(self.mailboxes):
            raise OperationError(Code.UNKNOWN_MAILBOX)
        return self.mailboxes[number]

    def hold_bytes(self, count: int) -> None:
        """Count bytes that the server is going to store. Raises OperationError if there are too many."""
        if self.data_bytes + count > DATA_MAX_BYTES:
            raise OperationError(Code.MEMORY)
        self.data_bytes += count

    def put(self, who: Participant, mailbox: Mailbox, size: float, rate: float, data: bytes, is_detached: bool) -> Comm:
        """Send a message to a mailbox. Return the communication of the first get that waits there, or a new one."""
        self.hold_bytes(len(data))
        if mailbox.gets:
            comm = mailbox.gets.popleft()
        else:
            comm = Comm(mailbox)
            if mailbox.receiver is not None:
                comm.destination, comm.destination_host = mailbox.receiver, mailbox.receiver.host
                mailbox.arrived.append(comm)
            else:
                mailbox.puts.append(comm)
        comm.source, comm.source_host = who, who.host
        comm.data, comm.size_bytes, comm.is_detached = data, size, is_detached
        comm.rate = _narrower(comm.rate, rate)
        if not is_detached:
            who.activities[comm] = None
        self._begin_if_met(comm)
        return comm

    def make_put(self, who: Participant, mailbox: Mailbox, size: float, rate: float, data: bytes) -> Made:
        """Make a put that does not begin yet, and return it."""

        def begin(made: Made) -> Comm:
            return self.put(who, mailbox, made.terms[AMOUNT], made.terms[RATE], self.release(made), made.is_detached)

        self.hold_bytes(len(data))
        made = Made(who, {AMOUNT: size, RATE: rate}, begin, lambda made: f"a put to mailbox {mailbox.name}")
        made.data, made.ends_at_timeout = data, True
        return made

    def get(self, who: Participant, mailbox: Mailbox, rate: float) -> Comm:
        """Receive a message from a mailbox. Return the communication of the first put that waits there, or a new one."""
        if mailbox.arrived:
            comm = mailbox.arrived.popleft()
        elif mailbox.puts:
            comm = mailbox.puts.popleft()
        else:
            comm = Comm(mailbox)
            mailbox.gets.append(comm)
        comm.destination, comm.destination_host = who, who.host
        comm.rate = _narrower(comm.rate, rate)
        if not comm.is_over:
            who.activities[comm] = None
            self._begin_if_met(comm)
        return comm

    def send_between(self, source: Host, destination: Host, size: float, rate: float, owner: Participant) -> Comm:
        """Begin a transfer between two hosts, without a mailbox and without a receiver, and return it."""
        comm = Comm(None)
        comm.source, comm.source_host, comm.destination_host = owner, source, destination
        comm.size_bytes, comm.rate = size, rate
        owner.activities[comm] = None
        self._begin(comm)
        return comm

    def set_receiver(self, mailbox: Mailbox, who: Participant | None) -> None:
        """Set the permanent receiver of a mailbox: from now on a put to it begins to move to this actor's host at once."""
        mailbox.receiver = who
        if who is not None and mailbox not in who.receives_at:
            who.receives_at.append(mailbox)

    def _begin_if_met(self, comm: Comm) -> None:
        if comm.state == WAITING and comm.source is not None and comm.destination is not None:
            self._begin(comm)

    def _begin(self, comm: Comm) -> None:
        source, destination = comm.source_host, comm.destination_host
        assert source is not None and destination is not None
        comm.state, comm.start_s = STARTED, self._room.date_s
        if self._room.places.is_off(source) or self._room.places.is_off(destination):
            self.end(comm, FAILED)
            return
        try:
            rate = comm.rate if comm.rate > 0 else None
            flow = self._engine.start(source.name, destination.name, comm.size_bytes, self._room.date_s, rate)
        except NoRouteError:
            comm.error = Code.NO_ROUTE
            self.end(comm, FAILED)
            return
        self._room.started(comm, flow)
        if any(actor.is_suspended for actor in comm.owners()):
            self._room.hold(comm)

    def end(self, comm: Activity, state: int) -> None:
        """End a communication or an execution, unless it is over. The actors that wait for it go on."""
        if comm.is_over:
            return
        comm.state, comm.finish_s = state, self._room.date_s
        if comm.flow >= 0:
            # otherwise the engine has reported the end of the flow itself
            if self._room.flows.pop(comm.flow, None) is not None:
                self._engine.cancel(comm.flow)
            self._room.moments.is_unsettled = True
        if isinstance(comm, Execution):
            self._room.places.cores.ended(comm)
        for who in comm.owners():
            who.activities.pop(comm, None)
        if isinstance(comm, Comm) and comm.mailbox is not None:
            if state != DONE:
                comm.mailbox.forget(comm)
                self.release(comm)
            elif comm.destination is None:
                self.release(comm)
        if isinstance(comm, Made):
            self.release(comm)
        self._room.ended(comm)

    def release(self, comm: Comm | Made) -> bytes:
        """Return the bytes of a communication, and delete them on the server."""
        data, comm.data = comm.data, b""
        self.data_bytes -= len(data)
        return data

    def cancel(self, activity: Activity) -> None:
        """End an activity for one of its actors. The other actor of a running communication gets a network failure."""
        self.end(activity, FAILED if isinstance(activity, Comm) and activity.state == STARTED else CANCELLED)

    def time_out(self, activity: Activity) -> None:
        """End an activity because an actor's timeout has passed. A communication ends for both sides."""
        self.end(activity, TIMED_OUT)


def _narrower(one: float, other: float) -> float:
    """Return the lower of two rates. A rate below 0 means that there is no limit."""
    return max(one, other) if min(one, other) < 0 else min(one, other)
