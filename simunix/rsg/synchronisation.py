"""Mutexes, semaphores, barriers and condition variables for actors of Remote SimGrid, in all programs that know their
numbers.
"""

from __future__ import annotations

from types import TracebackType

from simunix.rsg._librsg import lib
from simunix.rsg.connection import call, number, real


class Mutex:
    """A mutex; waiting actors get it in the order of their arrival."""

    def __init__(self) -> None:
        self._number = number(lib.rsg_mutex)

    def lock(self) -> None:
        """Lock the mutex; wait until it is free."""
        call(lib.rsg_lock, self._number, about="lock")

    def try_lock(self) -> bool:
        """Lock the mutex if it is free; return whether the caller has it."""
        return bool(number(lib.rsg_try_lock, self._number))

    def unlock(self) -> None:
        """Unlock the mutex."""
        call(lib.rsg_unlock, self._number, about="unlock")

    def __enter__(self) -> Mutex:
        self.lock()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.unlock()


class Semaphore:
    """A counting semaphore with a capacity."""

    def __init__(self, capacity: int) -> None:
        self._number = number(lib.rsg_semaphore, capacity, about=f"semaphore of capacity {capacity}")

    def acquire(self) -> None:
        """Acquire the semaphore; wait until it has capacity."""
        self.acquire_timeout(-1.0)

    def acquire_timeout(self, timeout: float) -> bool:
        """Acquire the semaphore, waiting for at most `timeout` seconds; return true if the time is over before."""
        return bool(number(lib.rsg_acquire, self._number, timeout))

    def release(self) -> None:
        """Release the semaphore, so that one more actor can acquire it."""
        call(lib.rsg_release, self._number)

    @property
    def capacity(self) -> int:
        """The number of actors that can acquire the semaphore now."""
        return number(lib.rsg_semaphore_capacity, self._number)

    @property
    def would_block(self) -> bool:
        """Whether the next actor to acquire the semaphore has to wait."""
        return self.capacity <= 0

    def __enter__(self) -> Semaphore:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


class Barrier:
    """A barrier: actors that arrive wait until a given number has arrived, and then all continue."""

    def __init__(self, expected: int) -> None:
        self._number = number(lib.rsg_barrier, expected, about=f"barrier for {expected} actors")

    def wait(self) -> bool:
        """Wait for the others at the barrier; return true for the last one to arrive."""
        return bool(number(lib.rsg_arrive, self._number))


class ConditionVariable:
    """A condition variable: actors that have locked a mutex wait here until another actor notifies them."""

    def __init__(self) -> None:
        self._number = number(lib.rsg_condition)

    def wait(self, mutex: Mutex) -> None:
        """Unlock the mutex, wait for a notification, and lock the mutex again."""
        self.wait_for(mutex, -1.0)

    def wait_for(self, mutex: Mutex, timeout: float) -> bool:
        """Wait for a notification for at most `timeout` seconds, without holding the mutex; return true if the time is
        over before.
        """
        return bool(number(lib.rsg_condition_wait, self._number, mutex._number, timeout, about="condition variable"))

    def wait_until(self, mutex: Mutex, date: float) -> bool:
        """Wait for a notification until a date, without holding the mutex; return true if the date comes before."""
        return self.wait_for(mutex, max(0.0, date - real(lib.rsg_clock)))

    def notify_one(self) -> None:
        """Wake the actor that has waited longest."""
        call(lib.rsg_notify, self._number, 0)

    def notify_all(self) -> None:
        """Wake all waiting actors."""
        call(lib.rsg_notify, self._number, 1)
