"""The operations of Remote SimGrid on mailboxes, communications and executions."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from struct import pack, unpack, unpack_from
from typing import TYPE_CHECKING

from rsg_server._native import lib
from rsg_server.rsg.activity import (
    AMOUNT,
    BOUND,
    RATE,
    STARTED,
    WEIGHT,
    WHERE,
    Comm,
    Execution,
    Handle,
    Io,
    Made,
    Task,
    task_words,
)
from rsg_server.rsg.communications import DATA_MAX_BYTES, checked, checked_priority
from rsg_server.rsg.errors import Code, OperationError
from rsg_server.rsg.operations.answers import NOTHING, Fields, ints, named, text
from rsg_server.rsg.room import ANSWER_MAX_BYTES
from rsg_server.rsg.tasks import start_task

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg

ASYNC: int = lib.RSG_ASYNC
DETACHED: int = lib.RSG_DETACHED
STAGED: int = lib.RSG_STAGED
LATER: int = lib.RSG_LATER


def mailbox(room: Rsg, who: Participant | None, fields: Fields, name: bytes) -> bytes:
    """Return the number of the mailbox with a name."""
    return ints(room.comms.mailbox(text(name)).number)


def mailbox_state(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return what waits at a mailbox: how many puts and gets, whether the first message has arrived, and the receiver."""
    box = room.comms.numbered(fields[0])
    is_ready = any(comm.is_over for comm in list(box.arrived)[:1])
    receiver = box.receiver.pid if box.receiver is not None else -1
    return ints(len(box.puts) + len(box.arrived), len(box.gets), is_ready, receiver) + box.name.encode()


def receiver(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Set the permanent receiver of a mailbox."""
    box = room.comms.numbered(fields[0])
    room.comms.set_receiver(box, None if fields[1] == -1 else named(room, who, fields[1]))
    return NOTHING


def stage(room: Rsg, who: Participant, fields: Fields, data: bytes) -> bytes:
    """Store bytes of a message that is longer than one request, until the message is sent."""
    if len(who.staged) + len(data) > DATA_MAX_BYTES:
        raise OperationError(Code.MEMORY)
    room.comms.hold_bytes(len(data))
    who.staged += data
    return NOTHING


def put(room: Rsg, who: Participant, fields: Fields, data: bytes) -> bytes | None:
    """Send a message.

    Depending on the flags, wait for the end of the communication, return a handle for it, or let it go on unobserved.
    """
    number, flags, size, rate, timeout_s = fields
    box = room.comms.numbered(number)
    if flags & STAGED:
        data = bytes(who.staged + data)
        room.unstage(who)
    if flags & LATER:
        return kept(room, who, room.comms.make_put(who, box, checked(size), rate, data))
    comm = room.comms.put(who, box, checked(size), rate, data, bool(flags & DETACHED))
    if flags & DETACHED:
        return ints(0)
    return begun(room, who, Handle(comm), flags, timeout_s)


def get(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Receive a message, or return a handle by which the caller can wait for it."""
    number, flags, rate, timeout_s = fields
    box = room.comms.numbered(number)
    if flags & LATER:
        made = Made(
            who,
            {RATE: rate},
            lambda made: room.comms.get(who, box, made.terms[RATE]),
            lambda made: f"a get from mailbox {box.name}",
        )
        made.ends_at_timeout = made.handle.receives = True
        return kept(room, who, made)
    comm = room.comms.get(who, box, rate)
    return begun(room, who, Handle(comm, receives=True), flags, timeout_s)


def send_between(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Move bytes between two hosts."""
    source, destination, flags, size, rate = fields
    ends = room.places.host(source), room.places.host(destination)

    def begin(made: Made) -> Comm:
        return room.comms.send_between(*ends, made.terms[AMOUNT], made.terms[RATE], who)

    made = Made(who, {AMOUNT: checked(size), RATE: rate}, begin, _transfer_words)
    made.ends_at_timeout = True
    return begun_or_kept(room, who, made, flags)


def _transfer_words(made: Made) -> str:
    return f"a transfer of {made.terms[AMOUNT]:g} bytes"


def kept(room: Rsg, who: Participant, made: Made) -> bytes:
    """Return a handle for an activity that has been made and has not begun."""
    number = room.number(who, made.handle)
    who.activities[made] = None
    room.is_at_once = True
    return ints(number)


def begun_or_kept(room: Rsg, who: Participant, made: Made, flags: int) -> bytes | None:
    """Begin an activity now, or store it for later, as the flags say. Return its handle or its result."""
    if flags & LATER:
        return kept(room, who, made)
    return begun(room, who, Handle(made.begin(made)), flags, -1.0)


def begun(room: Rsg, who: Participant, handle: Handle, flags: int, timeout_s: float) -> bytes | None:
    """Return a handle for an activity that has begun, or wait for the activity's end."""
    if flags & ASYNC:
        return ints(room.number(who, handle))
    return until_end(room, who, handle, timeout_s, handle.receives)


def until_end(room: Rsg, who: Participant, handle: Handle, timeout_s: float, is_get: bool = False) -> bytes | None:
    """Make the caller wait for the end of an activity. If it is over already, return its result."""
    with suppress(OperationError):  # only possible for an activity that has failed, whose error is the outcome
        room.dependencies.start(handle)
    if handle.activity.is_over:
        code, data = room.outcome(handle, who)
        if code:
            raise OperationError(code)
        return data
    wait = room.wait(who, [handle], is_get=is_get)
    if timeout_s >= 0:
        wait.timer = room.moments.after(timeout_s, partial(timed_out, room, who, handle))
    return None


def timed_out(room: Rsg, who: Participant, handle: Handle) -> None:
    """Handle that an actor's timeout for an activity has passed: a communication ends for both sides, an execution goes on."""
    if handle.activity.ends_at_timeout:
        room.comms.time_out(handle.activity)
    else:
        room.answer(who, Code.TIMEOUT)


def execute(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Compute on the cores of a host."""
    number, flags, flops, priority, bound = fields
    where = room.places.number_of(who.host) if number == -1 else number
    room.places.host(where)
    terms = {AMOUNT: checked(flops), WEIGHT: checked_priority(priority), BOUND: bound, WHERE: where}
    made = Made(who, terms, partial(_execution, room), lambda made: f"an execution on host {_host(room, made).name}")
    return begun_or_kept(room, who, made, flags)


def _host(room: Rsg, made: Made) -> Host:
    return room.places.host(int(made.terms[WHERE]))


def _execution(room: Rsg, made: Made) -> Execution:
    where, who = _host(room, made), made.owner
    if room.places.is_off(where):
        raise OperationError(Code.HOST_FAILURE)
    if room.places.speed(where) <= 0:
        raise OperationError(Code.NO_SPEED)
    execution = Execution(who, where, made.terms[WEIGHT], made.terms[BOUND])
    execution.state, execution.start_s = STARTED, room.date_s
    who.activities[execution] = None
    room.places.cores.compute(execution, made.terms[AMOUNT])
    return execution


def parallel(room: Rsg, who: Participant, fields: Fields, data: bytes) -> bytes | None:
    """Begin a parallel task: flops on several hosts, and bytes between them."""
    flags, count = fields
    if flags & STAGED:
        data = bytes(who.staged + data)
        room.unstage(who)
    if count < 1 or len(data) not in (16 * count, 16 * count + 8 * count * count):
        raise OperationError(Code.BAD_REQUEST)
    hosts = [room.places.host(number) for number in unpack_from(f"<{count}q", data)]
    amounts = [checked(amount) for amount in unpack_from(f"<{len(data) // 8 - count}d", data, 8 * count)]
    if not room.model.shares_bottlenecks:
        raise OperationError(Code.NO_TASKS)

    def begin(made: Made) -> Task:
        return start_task(room, who, hosts, amounts[:count], amounts[count:])

    return begun_or_kept(room, who, Made(who, {}, begin, lambda made: task_words(hosts)), flags)


def wait(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Make the caller wait for the end of an activity."""
    return until_end(room, who, room.find(fields[0]), fields[1])


def take(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Return the next bytes of a received message that is too long for one answer.

    After its last piece, the message is deleted.
    """
    offset = fields[1]
    if not 0 <= offset < len(who.received):
        raise OperationError(Code.BAD_VALUE)
    piece = who.received[offset : offset + ANSWER_MAX_BYTES]
    if offset + len(piece) == len(who.received):
        room.forget_bytes(who)
    return piece


def test(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Return whether an activity is over."""
    handle = room.find(fields[0])
    with suppress(OperationError):  # true means that the activity is over
        room.dependencies.start(handle)
    room.dependencies.told(handle)
    return ints(handle.activity.is_over)


def cancel(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """End an activity before it is done."""
    room.comms.cancel(room.find(fields[0]).activity)
    return NOTHING


def forget(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Forget an activity, because the program will not wait for it."""
    room.drop(fields[0])
    return NOTHING


def wait_any(room: Rsg, who: Participant, fields: Fields, numbers: bytes) -> bytes | None:
    """Wait until one of several activities is over."""
    timeout_s = fields[0]
    if not numbers or len(numbers) % 8:
        raise OperationError(Code.BAD_REQUEST)
    handles = [room.find(number) for number in unpack(f"<{len(numbers) // 8}q", numbers)]
    for handle in handles:
        with suppress(OperationError):
            room.dependencies.start(handle)
    for place, handle in enumerate(handles):
        if handle.activity.is_over:
            room.dependencies.told(handle)
            return ints(place)
    waiting = room.wait(who, handles, is_any=True)
    if timeout_s >= 0:
        waiting.timer = room.moments.after(timeout_s, partial(room.answer, who, Code.NONE, b"", (-1,)))
    return None


def activity(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the state of an activity, how much of it is left, and when it began and ended."""
    of = room.find(fields[0]).activity
    return pack("<qddd", of.state, room.left(of), of.start_s, of.finish_s)


def hold(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Suspend an activity, or resume it."""
    of = room.find(fields[0]).activity
    if fields[1]:
        room.hold(of)
    else:
        room.release(of)
    return NOTHING


def priority(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Set the priority of an execution at its core, or of a read or write at its disk."""
    of, share = room.find(fields[0]).activity, checked_priority(fields[1])
    if isinstance(of, Made) and WEIGHT in of.terms:
        of.terms[WEIGHT] = share
        return NOTHING
    if not isinstance(of, (Execution, Io)):
        raise OperationError(Code.BAD_VALUE)
    if isinstance(of, Io):
        room.disks.set_priority(of, share)
        return NOTHING
    of.priority = share
    if not of.is_over:
        room.places.cores.restart(of)
    return NOTHING
