"""Mutexes, semaphores, barriers and condition variables of Remote SimGrid. All serve waiting actors in the order of arrival."""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from rsg_server.rsg.errors import Code, OperationError

if TYPE_CHECKING:
    from rsg_server.rsg.actor import Participant
    from rsg_server.rsg.moments import Timer
    from rsg_server.rsg.room import Rsg

OBJECTS_MAX = 1 << 20


class Mutex:
    """A lock that one actor has, and that passes to the first actor which waits for it."""

    def __init__(self) -> None:
        self.owner: Participant | None = None
        self.queue: deque[Participant] = deque()
        # actors that wait for the mutex after a wait at a condition variable, by the actor's number: the answer for
        # each actor
        self.after_wait: dict[int, int] = {}


class Semaphore:
    """A semaphore: `capacity` more actors may pass, further actors may pass only after a release."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.queue: deque[Participant] = deque()


class Barrier:
    """A barrier: all actors that wait go on when `expected` actors have come."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.queue: deque[Participant] = deque()


class Condition:
    """A condition variable. Each actor that waits has a mutex, which it takes again at the end of the wait."""

    def __init__(self) -> None:
        self.queue: deque[Participant] = deque()
        self.mutexes: dict[int, Mutex] = {}
        self.timers: dict[int, Timer] = {}


Object = Mutex | Semaphore | Barrier | Condition
Kind = TypeVar("Kind", Mutex, Semaphore, Barrier, Condition)


class Synchro:
    """All mutexes, semaphores, barriers and condition variables, by number."""

    def __init__(self, room: Rsg) -> None:
        self._room = room
        self.objects: list[Object] = []

    def add(self, made: Object) -> int:
        """Add an object, and return its number."""
        if len(self.objects) >= OBJECTS_MAX:
            raise OperationError(Code.MEMORY)
        self.objects.append(made)
        return len(self.objects) - 1

    def _find(self, number: int, kind: type[Kind]) -> Kind:
        found = self.objects[number] if 0 <= number < len(self.objects) else None
        if not isinstance(found, kind):
            raise OperationError(Code.UNKNOWN_OBJECT)
        return found

    def find_mutex(self, number: int) -> Mutex:
        """Return the mutex with a number. Raises OperationError if there is none."""
        return self._find(number, Mutex)

    def find_semaphore(self, number: int) -> Semaphore:
        """Return the semaphore with a number. Raises OperationError if there is none."""
        return self._find(number, Semaphore)

    def find_barrier(self, number: int) -> Barrier:
        """Return the barrier with a number. Raises OperationError if there is none."""
        return self._find(number, Barrier)

    def find_condition(self, number: int) -> Condition:
        """Return the condition variable with a number. Raises OperationError if there is none."""
        return self._find(number, Condition)

    def forget(self, who: Participant) -> None:
        """Pass the mutexes of an actor that has ended to the next actors, since no other actor can unlock them."""
        for mutex in list(who.mutexes):
            self._pass_on(mutex)

    # Mutexes

    def lock(self, who: Participant, mutex: Mutex) -> bool:
        """Take a mutex and return True; or let the actor wait for it and return False, in which case the answer comes later."""
        if mutex.owner is who:
            raise OperationError(Code.BAD_VALUE)
        if mutex.owner is None:
            self._own(who, mutex)
            return True
        mutex.queue.append(who)
        who.abandon = partial(_leave, mutex, who)
        return False

    def unlock(self, who: Participant, mutex: Mutex) -> None:
        """Give a mutex to the first actor that waits for it."""
        if mutex.owner is not who:
            raise OperationError(Code.NOT_OWNER)
        self._pass_on(mutex)

    def _own(self, who: Participant, mutex: Mutex) -> None:
        mutex.owner = who
        who.mutexes[mutex] = None

    def _pass_on(self, mutex: Mutex) -> None:
        if mutex.owner is not None:
            mutex.owner.mutexes.pop(mutex, None)
            mutex.owner = None
        if mutex.queue:
            who = mutex.queue.popleft()
            self._own(who, mutex)
            answer = mutex.after_wait.pop(who.pid, None)
            self._room.answer(who, fields=() if answer is None else (answer,))

    # Semaphores

    def acquire(self, who: Participant, semaphore: Semaphore, timeout_s: float) -> bool:
        """Pass a semaphore and return True; or let the actor wait and return False: the answer comes when the actor may
        pass, or at the timeout.
        """
        if semaphore.capacity > 0:
            semaphore.capacity -= 1
            return True
        semaphore.queue.append(who)
        timer = None
        if timeout_s >= 0:
            timer = self._room.moments.after(timeout_s, partial(self._room.answer, who, Code.NONE, b"", (1,)))
        who.abandon = partial(_leave, semaphore, who, timer)
        return False

    def release(self, semaphore: Semaphore) -> None:
        """Let the first waiting actor pass a semaphore; if none waits, let the next one pass that comes."""
        if semaphore.queue:
            self._room.answer(semaphore.queue.popleft(), fields=(0,))
        else:
            semaphore.capacity += 1

    # Barriers

    def arrive(self, who: Participant, barrier: Barrier) -> bool:
        """Let an actor wait at a barrier and return False; if the actor is the last one that was missing, let all go on
        and return True.
        """
        if len(barrier.queue) + 1 >= barrier.expected:
            while barrier.queue:
                self._room.answer(barrier.queue.popleft(), fields=(0,))
            return True
        barrier.queue.append(who)
        who.abandon = partial(_leave, barrier, who)
        return False

    # Condition variables

    def wait(self, who: Participant, condition: Condition, mutex: Mutex, timeout_s: float) -> None:
        """Give the mutex back, and let the actor wait.

        The answer comes when the actor has locked the mutex again: 1 after a timeout, else 0.
        """
        self.unlock(who, mutex)
        condition.queue.append(who)
        condition.mutexes[who.pid] = mutex
        if timeout_s >= 0:
            condition.timers[who.pid] = self._room.moments.after(timeout_s, partial(self._take_back, who, condition, 1))
        who.abandon = partial(_leave_condition, condition, who)

    def notify(self, condition: Condition, is_for_all: bool) -> None:
        """Let the first actor that waits, or all, take their mutexes again."""
        while condition.queue:
            self._take_back(condition.queue[0], condition, 0)
            if not is_for_all:
                return

    def _take_back(self, who: Participant, condition: Condition, answer: int) -> None:
        mutex = condition.mutexes[who.pid]
        _leave_condition(condition, who)
        if mutex.owner is None:
            self._own(who, mutex)
            self._room.answer(who, fields=(answer,))
        else:
            mutex.queue.append(who)
            mutex.after_wait[who.pid] = answer
            who.abandon = partial(_leave, mutex, who)
            who.waits_for = f"a mutex that {mutex.owner} has, after a condition variable"


def _leave(made: Mutex | Semaphore | Barrier, who: Participant, timer: Timer | None = None) -> None:
    if who in made.queue:
        made.queue.remove(who)
    if isinstance(made, Mutex):
        made.after_wait.pop(who.pid, None)
    if timer is not None:
        timer.cancel()


def _leave_condition(condition: Condition, who: Participant) -> None:
    if who in condition.queue:
        condition.queue.remove(who)
    condition.mutexes.pop(who.pid, None)
    timer = condition.timers.pop(who.pid, None)
    if timer is not None:
        timer.cancel()
