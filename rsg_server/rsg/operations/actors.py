"""The operations of Remote SimGrid on actors: beginning, end, suspension, time."""

from __future__ import annotations

from struct import pack
from typing import TYPE_CHECKING

from rsg_server._native import lib
from rsg_server.rsg.errors import Code, OperationError
from rsg_server.rsg.operations.answers import NOTHING, NUMBERS_MAX, Fields, ints, named, text

if TYPE_CHECKING:
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg


def create(room: Rsg, who: Participant | None, fields: Fields, name: bytes) -> bytes:
    """Announce a new actor, whose thread will connect later."""
    return ints(room.lives.announce(text(name), room.places.host(fields[0]), who).pid)


def created(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Make the caller wait until an actor that it has announced has connected."""
    child = room.participants.get(fields[0])
    if child is None or child.thread is not None:
        return NOTHING
    child.creator = who
    who.waits_for = f"the first word of actor {child}"
    return None


def end(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """End the caller's actor; the thread itself goes on."""
    assert who.thread is not None
    room.by_thread.pop(who.thread.number, None)
    room.lives.end(who)
    return NOTHING


def join(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Make the caller wait for the end of an actor. An unknown actor counts as ended."""
    pid, timeout_s = fields
    other = room.participants.get(pid)
    if other is None:
        return ints(0)
    if other is who:
        raise OperationError(Code.BAD_VALUE)
    room.lives.join(who, other, timeout_s)
    who.waits_for = f"the end of actor {other}"
    return None


def kill(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """End an actor, or all actors but the caller."""
    if fields[0] == -1:
        for other in list(room.participants.values()):
            if other is not who:
                room.lives.kill(other)
        return NOTHING
    other = named(room, who, fields[0])
    room.lives.kill(other)
    if other is who:
        raise OperationError(Code.KILLED)
    return NOTHING


def kill_time(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Set a date at which an actor is killed."""
    if fields[1] != fields[1]:
        raise OperationError(Code.NEGATIVE)
    room.lives.kill_at(named(room, who, fields[0]), fields[1])
    return NOTHING


def suspend(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Suspend an actor. If it is the caller itself, the answer comes when it is resumed."""
    room.lives.suspend(named(room, who, fields[0]))
    return NOTHING


def go_on(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Resume a suspended actor."""
    room.lives.go_on(named(room, who, fields[0]))
    return NOTHING


def daemonize(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Make the caller a daemon: the run does not wait for its end."""
    room.lives.daemonize(who)
    return NOTHING


def actor(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the numbers of an actor, of its parent and of its host, its flags and its name."""
    of = named(room, who, fields[0])
    flags = (lib.RSG_IS_DAEMON if of.is_daemon else 0) | (lib.RSG_IS_SUSPENDED if of.is_suspended else 0)
    return ints(of.pid, of.parent_pid, room.places.number_of(of.host), flags) + of.name.encode()


def migrate(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Move an actor to another host, where it computes and communicates from now on."""
    room.places.move(named(room, who, fields[0]), room.places.host(fields[1]))
    return NOTHING


def actors(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the numbers of the actors, from a given number on."""
    return ints(*[pid for pid in room.participants if pid >= fields[0]][:NUMBERS_MAX])


def help_actor(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Make the calling thread wait on behalf of an actor from now on."""
    other = room.participants.get(fields[0])
    if other is None or room.caller is None:
        raise OperationError(Code.NO_ACTOR)
    return ints(room.lives.help(room.caller, other))


def dismiss(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """End the service of a helper. Activities that it waits for go on."""
    room.lives.dismiss(fields[0])
    return NOTHING


def clock(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return the date, in seconds since the start."""
    return pack("<d", room.date_s)


def sleep(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Make the caller wait for so many seconds. 0 or less takes no time at all."""
    duration_s = fields[0]
    if duration_s != duration_s:
        raise OperationError(Code.NEGATIVE)
    if duration_s <= 0:
        return NOTHING
    room.lives.sleep(who, duration_s)
    who.waits_for = f"the date {room.date_s + duration_s:.6f} s"
    return None


def pass_by(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Let the other actors that are ready at this date go first."""
    return NOTHING
