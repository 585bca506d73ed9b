"""Mutexes, semaphores, barriers and condition variables: all serve those that wait in the order in which they came."""

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
    """A lock, which goes over to the first that waits."""

    def __init__(self) -> None:
        self.owner: Participant | None = None
        self.queue: deque[Participant] = deque()
        self.after_wait: dict[int, int] = {}  # by pid: an actor that comes from a condition variable, with its answer


class Semaphore:
    """So many may pass until others release."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.queue: deque[Participant] = deque()


class Barrier:
    """All go on when so many have come."""

    def __init__(self, expected: int) -> None:
        self.expected = expected
        self.queue: deque[Participant] = deque()


class Condition:
    """A condition variable; each that waits brings the mutex that it gets back."""

    def __init__(self) -> None:
        self.queue: deque[Participant] = deque()
        self.mutexes: dict[int, Mutex] = {}
        self.timers: dict[int, Timer] = {}


Object = Mutex | Semaphore | Barrier | Condition
Kind = TypeVar("Kind", Mutex, Semaphore, Barrier, Condition)


class Synchro:
    """All objects, by the number that their maker was told."""

    def __init__(self, room: Rsg) -> None:
        self._room = room
        self.objects: list[Object] = []

    def add(self, made: Object) -> int:
        """The number of a new object."""
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
        """The mutex of a number."""
        return self._find(number, Mutex)

    def find_semaphore(self, number: int) -> Semaphore:
        """The semaphore of a number."""
        return self._find(number, Semaphore)

    def find_barrier(self, number: int) -> Barrier:
        """The barrier of a number."""
        return self._find(number, Barrier)

    def find_condition(self, number: int) -> Condition:
        """The condition variable of a number."""
        return self._find(number, Condition)

    def forget(self, who: Participant) -> None:
        """An actor is no more: the mutexes that it has go to the next, as nobody else could give them back."""
        for mutex in list(who.mutexes):
            self._pass_on(mutex)

    # Mutex

    def lock(self, who: Participant, mutex: Mutex) -> bool:
        """Whether the actor has the mutex at once; else it is answered when it has."""
        if mutex.owner is who:
            raise OperationError(Code.BAD_VALUE)
        if mutex.owner is None:
            self._own(who, mutex)
            return True
        mutex.queue.append(who)
        who.abandon = partial(_leave, mutex, who)
        return False

    def unlock(self, who: Participant, mutex: Mutex) -> None:
        """Give a mutex to the first that waits for it."""
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
        """Whether the actor passes at once; else it is answered when it does, or when the time is over."""
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
        """Let the first that waits pass, or the next that comes."""
        if semaphore.queue:
            self._room.answer(semaphore.queue.popleft(), fields=(0,))
        else:
            semaphore.capacity += 1

    # Barrier

    def arrive(self, who: Participant, barrier: Barrier) -> bool:
        """Whether the actor is the last that was missing."""
        if len(barrier.queue) + 1 >= barrier.expected:
            while barrier.queue:
                self._room.answer(barrier.queue.popleft(), fields=(0,))
            return True
        barrier.queue.append(who)
        who.abandon = partial(_leave, barrier, who)
        return False

    # Condition variable

    def wait(self, who: Participant, condition: Condition, mutex: Mutex, timeout_s: float) -> None:
        """Give the mutex back and wait; the answer comes when the actor has the mutex again, 1 if the time was over before."""
        self.unlock(who, mutex)
        condition.queue.append(who)
        condition.mutexes[who.pid] = mutex
        if timeout_s >= 0:
            condition.timers[who.pid] = self._room.moments.after(timeout_s, partial(self._take_back, who, condition, 1))
        who.abandon = partial(_leave_condition, condition, who)

    def notify(self, condition: Condition, is_for_all: bool) -> None:
        """Have the first that waits, or all, take their mutexes back."""
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
