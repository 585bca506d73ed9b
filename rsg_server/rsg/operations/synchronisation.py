"""The operations of Remote SimGrid on mutexes, semaphores, barriers and condition variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.rsg.communications import checked
from rsg_server.rsg.errors import Code, OperationError
from rsg_server.rsg.operations.answers import NOTHING, Fields, ints
from rsg_server.rsg.synchro import Barrier, Condition, Mutex, Semaphore

if TYPE_CHECKING:
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.room import Rsg


def mutex(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Make a mutex, and return its number."""
    return ints(room.synchro.add(Mutex()))


def lock(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Make the caller wait for a mutex, and take it."""
    made = room.synchro.find_mutex(fields[0])
    if room.synchro.lock(who, made):
        return NOTHING
    who.waits_for = f"mutex {fields[0]}, which {made.owner} has"
    return None


def try_lock(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Take a mutex if it is free; return whether the caller has it."""
    made = room.synchro.find_mutex(fields[0])
    return ints(made.owner is None and room.synchro.lock(who, made))


def unlock(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes:
    """Unlock a mutex; the first waiting actor gets the mutex."""
    room.synchro.unlock(who, room.synchro.find_mutex(fields[0]))
    return NOTHING


def semaphore(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Make a semaphore, and return its number."""
    return ints(room.synchro.add(Semaphore(int(checked(fields[0])))))


def acquire(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Make the caller wait until a semaphore lets it pass."""
    if room.synchro.acquire(who, room.synchro.find_semaphore(fields[0]), fields[1]):
        return ints(0)
    who.waits_for = f"semaphore {fields[0]}"
    return None


def release(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Let one more actor pass a semaphore."""
    room.synchro.release(room.synchro.find_semaphore(fields[0]))
    return NOTHING


def semaphore_state(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Return how many actors may pass a semaphore now."""
    return ints(room.synchro.find_semaphore(fields[0]).capacity)


def barrier(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Make a barrier, and return its number."""
    if fields[0] < 1:
        raise OperationError(Code.BAD_VALUE)
    return ints(room.synchro.add(Barrier(fields[0])))


def arrive(room: Rsg, who: Participant, fields: Fields, _: bytes) -> bytes | None:
    """Make the caller wait at a barrier."""
    made = room.synchro.find_barrier(fields[0])
    if room.synchro.arrive(who, made):
        return ints(1)
    who.waits_for = f"barrier {fields[0]}, where {len(made.queue)} of {made.expected} are"
    return None


def condition(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Make a condition variable, and return its number."""
    return ints(room.synchro.add(Condition()))


def condition_wait(room: Rsg, who: Participant, fields: Fields, _: bytes) -> None:
    """Make the caller wait for a notification; the caller's mutex is unlocked until then."""
    made = room.synchro.find_condition(fields[0])
    room.synchro.wait(who, made, room.synchro.find_mutex(fields[1]), fields[2])
    if not who.waits_for:
        who.waits_for = f"condition variable {fields[0]}"


def notify(room: Rsg, who: Participant | None, fields: Fields, _: bytes) -> bytes:
    """Wake the first actor that waits at a condition variable, or all of them."""
    room.synchro.notify(room.synchro.find_condition(fields[0]), bool(fields[1]))
    return NOTHING
