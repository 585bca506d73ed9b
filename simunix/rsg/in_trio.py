"""Wait for activities of Remote SimGrid in programs that use trio: while a task waits for an activity, the actor's
other tasks run.

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(in_trio.execute, 1e9)
            payload = await in_trio.get(Mailbox.by_name("box"))

    in_trio.run(main)

trio's own waits (trio.sleep, sockets) are calls that the emulation answers in virtual time as those of any other program. An
operation of an actor is a call as well, in which the calling thread stays: so a thread of trio's makes it, on behalf of the
actor (librsg: rsg_help). All tasks of one trio.run are one actor, and its program has one of these for each actor at most.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Generic, TypeVar

import trio

from simunix.rsg import this_actor
from simunix.rsg._librsg import ffi, lib
from simunix.rsg.activity import Comm, Exec
from simunix.rsg.actor import Actor
from simunix.rsg.errors import ActorKilled, check
from simunix.rsg.mailbox import Mailbox
from simunix.rsg.places import Host
from simunix.rsg.synchronisation import Barrier, Semaphore
from simunix.rsg.waiting import Activity

T = TypeVar("T")
A = TypeVar("A", bound=Activity)
THREADS = trio.CapacityLimiter(1 << 20)
"""The limit of threads for waits. trio's default limit is meant for threads that compute; here each thread only waits.
"""


class Helping(threading.local):
    """The calling thread as a helper: helper number `number` of the actor `actor`."""

    number = 0
    actor = 0


helping = Helping()


def _help(actor: int) -> int:
    """Make the calling thread a helper that waits on behalf of an actor; return the helper's number."""
    if helping.actor != actor:
        number = ffi.new("int64_t *")
        check(lib.rsg_help(actor, number), f"actor {actor}")
        helping.actor, helping.number = actor, int(number[0])
    return helping.number


class _Wait(Generic[T]):
    """An operation that another thread makes. `undo` reverses an operation whose result is no longer wanted."""

    def __init__(self, actor: int, operation: Callable[[], T], undo: Callable[[], object] | None) -> None:
        self._actor, self._operation, self._undo = actor, operation, undo
        self._is_left = self._is_done = False
        self._helper = 0

    def make(self) -> T | None:
        """Make the operation; called in the other thread."""
        if self._is_left:
            return None
        self._helper = _help(self._actor)
        try:
            result = self._operation()
        except ActorKilled:  # the thread has been dismissed and helps no actor any more
            helping.actor = 0
            raise
        finally:
            self._helper = 0
        self._is_done = True
        self._undo_if_left()
        return result

    def leave(self) -> None:
        """Note that the task no longer waits for the operation; called in the task's thread."""
        self._is_left = True
        if self._helper:
            lib.rsg_dismiss(self._helper)
        self._undo_if_left()

    def _undo_if_left(self) -> None:
        if self._is_left and self._is_done and self._undo is not None:
            self._undo()
            self._undo = None


async def _made(operation: Callable[[], T], undo: Callable[[], object] | None = None) -> T:
    """Return the result of an operation that takes time, made by another thread."""
    wait = _Wait(this_actor.get_pid(), operation, undo)
    try:
        result = await trio.to_thread.run_sync(wait.make, abandon_on_cancel=True, limiter=THREADS)
    except trio.Cancelled:
        wait.leave()
        raise
    return result  # type: ignore[return-value]  # None only for a wait that was left, which has raised Cancelled


def run(main: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """Run the function of an actor with `trio.run`. If the actor is killed, raise ActorKilled and not an exception
    group with it.
    """
    try:
        return trio.run(main, *arguments)
    except BaseExceptionGroup as group:
        if group.subgroup(ActorKilled) is not None:
            raise ActorKilled(f"actor {this_actor.get_pid()}" if not _is_over() else "") from None
        raise


def _is_over() -> bool:
    return bool(lib.rsg_actor(0, ffi.new("struct rsg_actor_state *")))


# Waits after whose cancellation the activity goes on


async def wait(activity: A) -> A:
    """Wait for the end of an activity, and return it. If the task is cancelled, the activity goes on, and may be waited
    for again.
    """
    await _made(activity.wait)
    return activity


async def wait_for(activity: A, timeout: float) -> A:
    """Wait for the end of an activity, for at most `timeout` seconds, and return it. Raises TimeoutException when the
    time is over; a communication is then over for both sides.
    """
    await _made(lambda: activity.wait_for(timeout))
    return activity


async def wait_any(activities: Sequence[Activity]) -> int:
    """Wait until the first of the activities has ended; return its index."""
    return await _made(lambda: Activity.wait_any(activities))


async def wait_all(activities: Sequence[Activity]) -> None:
    """Wait for the end of all activities."""
    for activity in activities:
        await wait(activity)


async def join(actor: Actor) -> None:
    """Wait for the end of an actor."""
    await _made(actor.join)


# Activities that are cancelled together with the wait


async def _to_its_end(activity: A) -> A:
    try:
        return await wait(activity)
    except trio.Cancelled:
        with contextlib.suppress(ActorKilled):
            activity.cancel()
        raise


async def get(mailbox: Mailbox) -> Any:
    """Receive a payload from a mailbox. If the task is cancelled, the get is cancelled, and a put that it has met
    raises NetworkFailureException.
    """
    comm: Comm = mailbox.get_async()[0]
    await _to_its_end(comm)
    return comm.get_payload()


async def put(mailbox: Mailbox, payload: Any, size: float) -> None:
    """Send a payload to a mailbox as `size` simulated bytes, and wait until the payload has arrived. If the task is
    cancelled, the put is cancelled.
    """
    await _to_its_end(mailbox.put_async(payload, size))


async def execute(flops: float, priority: float = 1.0) -> None:
    """Compute `flops` on the actor's host. If the task is cancelled, the execution is cancelled."""
    execution: Exec = this_actor.exec_init(flops).set_priority(priority)
    await _to_its_end(execution.start())


async def sendto(source: Host, destination: Host, size: float) -> None:
    """Transfer `size` bytes between two hosts. If the task is cancelled, the transfer is cancelled."""
    await _to_its_end(Comm.sendto_async(source, destination, size))


# Synchronisation


async def acquire(semaphore: Semaphore) -> None:
    """Acquire a semaphore. A task that is cancelled has not acquired it."""
    await _made(semaphore.acquire, semaphore.release)


async def arrive(barrier: Barrier) -> bool:
    """Wait for the others at a barrier; return true for the last one to arrive. A task that is cancelled does not count
    as arrived.
    """
    return await _made(barrier.wait)
