"""The table of Remote SimGrid's operations: the function of each, the fields of its request, and which threads may use it.

A wrong request is answered with an error. Nothing that a program sends here can end the program, let alone the server.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

from rsg_server._native import lib
from rsg_server.rsg.errors import Code, OperationError
from rsg_server.rsg.lives import START
from rsg_server.rsg.operations import activities, actors, dependencies, disks, places, synchronisation
from rsg_server.rsg.operations.answers import Fields, ints, text

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg

Do = Callable[["Rsg", "Participant | None", Fields, bytes], bytes | None]
Told = tuple[Code, bytes]

RESUME: int = lib.RSG_RESUME
CONNECT: int = lib.RSG_CONNECT
RUN: int = lib.RSG_RUN
AWAIT_HOST: int = lib.RSG_AWAIT_HOST
END: int = lib.RSG_END
_TIME = struct.Struct("<d")


class Row:
    """An operation: the fields of its request; whether the operation only asks, and is answered at once; whether only
    actors may use it.
    """

    __slots__ = ("do", "fields", "is_question", "only_actors")

    def __init__(
        self, fields: str, do: Callable[..., bytes | None], is_question: bool = False, only_actors: bool = True
    ) -> None:
        self.fields = struct.Struct("<" + fields)
        self.do: Do = do
        self.is_question = is_question
        self.only_actors = only_actors


def question(fields: str, do: Do) -> Row:
    """Return the row of an operation that changes nothing for others; every thread may use it."""
    return Row(fields, do, is_question=True, only_actors=False)


def order(fields: str, do: Do) -> Row:
    """Return the row of an operation that any thread may use, and that gives the turn back."""
    return Row(fields, do, only_actors=False)


ROWS: dict[int, Row] = {
    lib.RSG_CREATE: order("q", actors.create),
    lib.RSG_CREATED: Row("q", actors.created),
    lib.RSG_END: Row("", actors.end, is_question=True),
    lib.RSG_JOIN: Row("qd", actors.join),
    lib.RSG_KILL: order("q", actors.kill),
    lib.RSG_SUSPEND: order("q", actors.suspend),
    lib.RSG_CONTINUE: order("q", actors.go_on),
    lib.RSG_DAEMONIZE: Row("", actors.daemonize),
    lib.RSG_ACTOR: question("q", actors.actor),
    lib.RSG_MIGRATE: order("qq", actors.migrate),
    lib.RSG_ACTORS: question("q", actors.actors),
    lib.RSG_KILL_TIME: order("qd", actors.kill_time),
    lib.RSG_HELP: question("q", actors.help_actor),
    lib.RSG_DISMISS: order("q", actors.dismiss),
    lib.RSG_CLOCK: question("", actors.clock),
    lib.RSG_SLEEP: Row("d", actors.sleep),
    lib.RSG_YIELD: Row("", actors.pass_by),
    lib.RSG_HOST: question("", places.host),
    lib.RSG_HOST_AT: question("q", places.host_at),
    lib.RSG_HOST_STATE: question("q", places.host_state),
    lib.RSG_HOST_SPEED: question("qq", places.host_speed),
    lib.RSG_HOST_TURN: order("qq", places.host_turn),
    lib.RSG_HOST_PSTATE: order("qq", places.host_pstate),
    lib.RSG_HOST_PROPERTY: question("q", places.host_property),
    lib.RSG_LINK: question("", places.link),
    lib.RSG_LINK_AT: question("q", places.link_at),
    lib.RSG_LINK_STATE: question("q", places.link_state),
    lib.RSG_LINK_TURN: order("qq", places.link_turn),
    lib.RSG_LINK_SET: order("qdd", places.link_set),
    lib.RSG_ROUTE: question("qq", places.route),
    lib.RSG_MAILBOX: question("", activities.mailbox),
    lib.RSG_MAILBOX_STATE: question("q", activities.mailbox_state),
    lib.RSG_RECEIVER: order("qq", activities.receiver),
    lib.RSG_STAGE: Row("", activities.stage, is_question=True),
    lib.RSG_PUT: Row("qqddd", activities.put),
    lib.RSG_GET: Row("qqdd", activities.get),
    lib.RSG_SENDTO: Row("qqqdd", activities.send_between),
    lib.RSG_EXECUTE: Row("qqddd", activities.execute),
    lib.RSG_PARALLEL: Row("qq", activities.parallel),
    lib.RSG_WAIT: Row("qd", activities.wait),
    lib.RSG_TAKE: Row("qq", activities.take, is_question=True),
    lib.RSG_TEST: Row("q", activities.test),
    lib.RSG_CANCEL: Row("q", activities.cancel),
    lib.RSG_FORGET: question("q", activities.forget),
    lib.RSG_WAIT_ANY: Row("d", activities.wait_any),
    lib.RSG_ACTIVITY: question("q", activities.activity),
    lib.RSG_HOLD: Row("qq", activities.hold),
    lib.RSG_PRIORITY: Row("qd", activities.priority),
    lib.RSG_START: Row("qq", dependencies.start),
    lib.RSG_SUCCESSOR: Row("qqq", dependencies.successor, is_question=True),
    lib.RSG_DEPENDENCIES: question("qq", dependencies.dependencies),
    lib.RSG_SET_TERM: Row("qqd", dependencies.set_term, is_question=True),
    lib.RSG_DISK_AT: question("qq", disks.disk_at),
    lib.RSG_DISK_STATE: question("q", disks.disk_state),
    lib.RSG_IO: Row("qqqdd", disks.io),
    lib.RSG_MUTEX: question("", synchronisation.mutex),
    lib.RSG_LOCK: Row("q", synchronisation.lock),
    lib.RSG_TRY_LOCK: Row("q", synchronisation.try_lock),
    lib.RSG_UNLOCK: Row("q", synchronisation.unlock),
    lib.RSG_SEMAPHORE: question("q", synchronisation.semaphore),
    lib.RSG_ACQUIRE: Row("qd", synchronisation.acquire),
    lib.RSG_RELEASE: order("q", synchronisation.release),
    lib.RSG_SEMAPHORE_STATE: question("q", synchronisation.semaphore_state),
    lib.RSG_BARRIER: question("q", synchronisation.barrier),
    lib.RSG_ARRIVE: Row("q", synchronisation.arrive),
    lib.RSG_CONDITION: question("", synchronisation.condition),
    lib.RSG_CONDITION_WAIT: Row("qqd", synchronisation.condition_wait),
    lib.RSG_NOTIFY: order("qq", synchronisation.notify),
}


def operate(room: Rsg, thread: Actor, operation: int, blocked: int, request: bytes) -> Told | None:
    """Carry out an operation for a thread. Return the answer, or None if the thread has given the turn back."""
    room.moments.follow()
    room.caller = thread
    who = room.by_thread.get(thread.number)
    try:
        if operation == RESUME:
            return _resume(room, thread, who, blocked)
        if operation == CONNECT:
            return _connect(room, thread, blocked, request)
        if operation == RUN:
            return _run(room, thread, blocked, request)
        if operation == AWAIT_HOST:
            return _await_host(room, thread, blocked, request)
        return _do(room, thread, who, operation, blocked, request)
    except OperationError as failure:
        return failure.code, b""
    finally:
        room.caller = None
        room.places.returning.discard(thread)


def _do(room: Rsg, thread: Actor, who: Participant | None, operation: int, blocked: int, request: bytes) -> Told | None:
    row = ROWS.get(operation)
    if row is None or len(request) < row.fields.size:
        raise OperationError(Code.BAD_REQUEST)
    if row.only_actors and who is None:
        raise OperationError(Code.NO_ACTOR)
    if who is not None and who.is_over and not row.is_question:
        raise OperationError(Code.KILLED)
    if not row.is_question:
        room.count()
    code = Code.NONE
    room.is_at_once = False
    try:
        answer = row.do(room, who, row.fields.unpack_from(request), request[row.fields.size :])
    except OperationError as failure:
        code, answer = failure.code, b""
    if row.is_question or room.is_at_once:
        assert answer is not None
        return code, answer
    if who is None:
        room.tell(thread, code, answer or b"")
        return None
    if answer is None:
        room.park(thread, blocked)
    elif who.is_suspended:
        who.held = (code, answer)
        who.waits_for = "another actor that lets it go on (suspended)"
        room.park(thread, blocked)
    else:
        room.tell(thread, code, answer)
    return None


def _resume(room: Rsg, thread: Actor, who: Participant | None, blocked: int) -> Told | None:
    """Continue a thread's operation, during which the thread has run a signal's handler."""
    if who is not None and who.held is not None and not who.is_suspended:
        told, who.held = who.held, None
        who.waits_for = ""
        return told
    if (who is None or not who.waits_for) and not room.lives.is_runner(thread) and thread not in room.places.awaited:
        raise OperationError(Code.BAD_REQUEST)
    room.park(thread, blocked)
    return None


def _connect(room: Rsg, thread: Actor, blocked: int, request: bytes) -> Told | None:
    """Make the thread an actor, which goes on when the actors begin."""
    if len(request) < 8:
        raise OperationError(Code.BAD_REQUEST)
    who = room.lives.connect(thread, struct.unpack_from("<q", request)[0], text(request[8:]))
    who.waits_for = START
    who.greeting = ints(who.pid)
    room.park(thread, blocked)
    room.lives.has_connected(who)
    return None


def _run(room: Rsg, thread: Actor, blocked: int, request: bytes) -> Told | None:
    """Make the thread wait until all actors have ended."""
    if len(request) < _TIME.size or thread.number in room.by_thread:
        raise OperationError(Code.BAD_REQUEST)
    room.park(thread, blocked)
    room.lives.run(thread, _TIME.unpack_from(request)[0])
    return None


def _await_host(room: Rsg, thread: Actor, blocked: int, request: bytes) -> Told | None:
    """Make the thread, which is no actor, wait until a host is switched on."""
    if len(request) < 8 or thread.number in room.by_thread:
        raise OperationError(Code.BAD_REQUEST)
    host = room.places.host(struct.unpack_from("<q", request)[0])
    if not room.places.is_off(host):
        return Code.NONE, b""
    room.park(thread, blocked)
    room.places.awaited[thread] = host.name
    return None
