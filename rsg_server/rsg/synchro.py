"""Mutexes, semaphores, barriers and condition variables. All serve waiting actors in the order of their arrival."""

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
    """A lock, which passes to the first actor that waits."""

    def __init__(self) -> None:
        self.owner: Participant | None = None
        self.queue: deque[Participant] = deque()
        self.after_wait: dict[int, int] = {}  # by pid: an actor that comes from a condition variable, with its answer


class Semaphore:
    """A semaphore: `capacity` actors may pass, more only after a release."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.queue: deque[Participant] = deque()


class Barrier:
    """A barrier: all that wait go on when `expected` actors have come."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.queue: deque[Participant] = deque()


class Condition:
    """A condition variable; each waiting actor has a mutex that it takes back at the end."""

    def __init__(self) -> None:
        self.queue: deque[Participant] = deque()
        self.mutexes: dict[int, Mutex] = {}
        self.timers: dict[int, Timer] = {}


Object = Mutex | Semaphore | Barrier | Condition
Kind = TypeVar("Kind", Mutex, Semaphore, Barrier, Condition)


class Synchro:
    """All objects, by the number that their maker got."""

    def __init__(self, room: Rsg) -> None:
        self._room = room
        self.objects: list[Object] = []

    def add(self, made: Object) -> int:
        """Add a new object, and return its number."""
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
        """Return the mutex with a number."""
        return self._find(number, Mutex)

    def find_semaphore(self, number: int) -> Semaphore:
        """Return the semaphore with a number."""
        return self._find(number, Semaphore)

    def find_barrier(self, number: int) -> Barrier:
        """Return the barrier with a number."""
        return self._find(number, Barrier)

    def find_condition(self, number: int) -> Condition:
        """Return the condition variable with a number."""
        return self._find(number, Condition)

    def forget(self, who: Participant) -> None:
        """Pass the mutexes of an ended actor to the next actors, since nobody else could give them back."""
        for mutex in list(who.mutexes):
            self._pass_on(mutex)

    # Mutex

    def lock(self, who: Participant, mutex: Mutex) -> bool:
        """Take a mutex, or queue for it; True if the actor has it at once, else the answer comes when it gets the mutex."""
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

    # Semaphore

    def acquire(self, who: Participant, semaphore: Semaphore, timeout_s: float) -> bool:
        """Pass a semaphore, or queue; True if the actor passes at once, else the answer comes then, or at the timeout."""
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
        """Let the first waiting actor pass, or else the next that comes."""
        if semaphore.queue:
            self._room.answer(semaphore.queue.popleft(), fields=(0,))
        else:
            semaphore.capacity += 1

    # Barrier

    def arrive(self, who: Participant, barrier: Barrier) -> bool:
        """Wait at a barrier, or open it; True if the actor is the last that was missing."""
        if len(barrier.queue) + 1 >= barrier.expected:
            while barrier.queue:
                self._room.answer(barrier.queue.popleft(), fields=(0,))
            return True
        barrier.queue.append(who)
        who.abandon = partial(_leave, barrier, who)
        return False

    # Condition variable

    def wait(self, who: Participant, condition: Condition, mutex: Mutex, timeout_s: float) -> None:
        """Give the mutex back and wait. The answer comes when the actor has the mutex again: 1 after a timeout, else 0."""
        self.unlock(who, mutex)
        condition.queue.append(who)
        condition.mutexes[who.pid] = mutex
        if timeout_s >= 0:
            condition.timers[who.pid] = self._room.moments.after(timeout_s, partial(self._take_back, who, condition, 1))
        who.abandon = partial(_leave_condition, condition, who)

    def notify(self, condition: Condition, is_for_all: bool) -> None:
        """Make the first actor that waits, or all, take their mutexes back."""
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
