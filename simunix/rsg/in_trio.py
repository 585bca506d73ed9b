"""Activities in programs that use trio: the task that waits for one leaves the actor's other tasks running.

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
"""trio's own limit of threads is for those that compute: here each waits, and the number of waits decides."""


class Helping(threading.local):
    """What the calling thread is: helper number `number` of the actor `actor`."""

    number = 0
    actor = 0


helping = Helping()


def _help(actor: int) -> int:
    """Have the calling thread wait on behalf of an actor; the number of the helper that it is."""
    if helping.actor != actor:
        number = ffi.new("int64_t *")
        check(lib.rsg_help(actor, number), f"actor {actor}")
        helping.actor, helping.number = actor, int(number[0])
    return helping.number


class _Wait(Generic[T]):
    """An operation that another thread makes. `undo` gives back what the operation has got and nobody waits for any more."""

    def __init__(self, actor: int, operation: Callable[[], T], undo: Callable[[], object] | None) -> None:
        self._actor, self._operation, self._undo = actor, operation, undo
        self._is_left = self._is_done = False
        self._helper = 0

    def make(self) -> T | None:
        """In the other thread: make the operation."""
        if self._is_left:
            return None
        self._helper = _help(self._actor)
        try:
            result = self._operation()
        except ActorKilled:  # dismissed: the thread helps nobody any more
            helping.actor = 0
            raise
        finally:
            self._helper = 0
        self._is_done = True
        self._undo_if_left()
        return result

    def leave(self) -> None:
        """In the task's thread: nobody waits for the operation any more."""
        self._is_left = True
        if self._helper:
            lib.rsg_dismiss(self._helper)
        self._undo_if_left()

    def _undo_if_left(self) -> None:
        if self._is_left and self._is_done and self._undo is not None:
            self._undo()
            self._undo = None


async def _made(operation: Callable[[], T], undo: Callable[[], object] | None = None) -> T:
    """Return the result of an operation that takes time."""
    wait = _Wait(this_actor.get_pid(), operation, undo)
    try:
        result = await trio.to_thread.run_sync(wait.make, abandon_on_cancel=True, limiter=THREADS)
    except trio.Cancelled:
        wait.leave()
        raise
    return result  # type: ignore[return-value]  # None only for a wait that was left, which has raised Cancelled


def run(main: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    """`trio.run` for the function of an actor: one that is killed raises ActorKilled, and not a group of exceptions with it."""
    try:
        return trio.run(main, *arguments)
    except BaseExceptionGroup as group:
        if group.subgroup(ActorKilled) is not None:
            raise ActorKilled(f"actor {this_actor.get_pid()}" if not _is_over() else "") from None
        raise


def _is_over() -> bool:
    return bool(lib.rsg_actor(0, ffi.new("struct rsg_actor_state *")))


# Waits for activities that go on when the wait is cancelled


async def wait(activity: A) -> A:
    """Wait for the end of an activity. The activity goes on if this wait is cancelled, and may be waited for again."""
    await _made(activity.wait)
    return activity


async def wait_for(activity: A, timeout: float) -> A:
    """As `wait`, for so many seconds. Raises TimeoutException after that, and then a communication is over for both sides."""
    await _made(lambda: activity.wait_for(timeout))
    return activity


async def wait_any(activities: Sequence[Activity]) -> int:
    """Wait for the first that is over: its place."""
    return await _made(lambda: Activity.wait_any(activities))


async def wait_all(activities: Sequence[Activity]) -> None:
    """Wait for the end of all."""
    for activity in activities:
        await wait(activity)


async def join(actor: Actor) -> None:
    """Wait for the end of an actor."""
    await _made(actor.join)


# Activities that are cancelled with the wait


async def _to_its_end(activity: A) -> A:
    try:
        return await wait(activity)
    except trio.Cancelled:
        with contextlib.suppress(ActorKilled):
            activity.cancel()
        raise


async def get(mailbox: Mailbox) -> Any:
    """Receive a payload. The get is cancelled with the task: a put that has met it finds the network failed."""
    comm: Comm = mailbox.get_async()[0]
    await _to_its_end(comm)
    return comm.get_payload()


async def put(mailbox: Mailbox, payload: Any, size: float) -> None:
    """Send a payload as so many simulated bytes, and wait until it has come. The put is cancelled with the task."""
    await _to_its_end(mailbox.put_async(payload, size))


async def execute(flops: float, priority: float = 1.0) -> None:
    """Compute on the actor's host. The execution is cancelled with the task."""
    execution: Exec = this_actor.exec_init(flops).set_priority(priority)
    await _to_its_end(execution.start())


async def sendto(source: Host, destination: Host, size: float) -> None:
    """Move so many bytes between two hosts. The transfer is cancelled with the task."""
    await _to_its_end(Comm.sendto_async(source, destination, size))


# Synchronisation


async def acquire(semaphore: Semaphore) -> None:
    """Wait until one may pass; a task that is cancelled has not passed."""
    await _made(semaphore.acquire, semaphore.release)


async def arrive(barrier: Barrier) -> bool:
    """Wait for the others at a barrier; True for the one that comes last. A task that is cancelled does not count there."""
    return await _made(barrier.wait)
