"""Mutexes, semaphores, barriers and condition variables, for actors of all programs that know their numbers."""

from __future__ import annotations

from types import TracebackType

from simunix.rsg._librsg import lib
from simunix.rsg.connection import call, number, real


class Mutex:
    """A lock, which goes to those that wait in the order in which they came."""

    def __init__(self) -> None:
        self._number = number(lib.rsg_mutex)

    def lock(self) -> None:
        """Wait for it."""
        call(lib.rsg_lock, self._number, about="lock")

    def try_lock(self) -> bool:
        """Take it if nobody has it."""
        return bool(number(lib.rsg_try_lock, self._number))

    def unlock(self) -> None:
        """Give it back."""
        call(lib.rsg_unlock, self._number, about="unlock")

    def __enter__(self) -> Mutex:
        self.lock()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.unlock()


class Semaphore:
    """So many may pass until others release."""

    def __init__(self, capacity: int) -> None:
        self._number = number(lib.rsg_semaphore, capacity, about=f"semaphore of capacity {capacity}")

    def acquire(self) -> None:
        """Wait until one may pass."""
        self.acquire_timeout(-1.0)

    def acquire_timeout(self, timeout: float) -> bool:
        """Wait until one may pass, for so many seconds; True if the time is over before."""
        return bool(number(lib.rsg_acquire, self._number, timeout))

    def release(self) -> None:
        """Let one more pass."""
        call(lib.rsg_release, self._number)

    @property
    def capacity(self) -> int:
        """How many may pass now."""
        return number(lib.rsg_semaphore_capacity, self._number)

    @property
    def would_block(self) -> bool:
        """Whether the next has to wait."""
        return self.capacity <= 0

    def __enter__(self) -> Semaphore:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


class Barrier:
    """All go on when so many have come."""

    def __init__(self, expected: int) -> None:
        self._number = number(lib.rsg_barrier, expected, about=f"barrier for {expected} actors")

    def wait(self) -> bool:
        """Wait for the others; True for the one that comes last."""
        return bool(number(lib.rsg_arrive, self._number))


class ConditionVariable:
    """Actors that have locked a mutex wait here for others to notify them."""

    def __init__(self) -> None:
        self._number = number(lib.rsg_condition)

    def wait(self, mutex: Mutex) -> None:
        """Give the mutex back, wait for a notification, and take the mutex again."""
        self.wait_for(mutex, -1.0)

    def wait_for(self, mutex: Mutex, timeout: float) -> bool:
        """Wait for so many seconds; True if the time is over before a notification came."""
        return bool(number(lib.rsg_condition_wait, self._number, mutex._number, timeout, about="condition variable"))

    def wait_until(self, mutex: Mutex, date: float) -> bool:
        """Wait until a date; True if the time is over before a notification came."""
        return self.wait_for(mutex, max(0.0, date - real(lib.rsg_clock)))

    def notify_one(self) -> None:
        """Let the first that waits go on."""
        call(lib.rsg_notify, self._number, 0)

    def notify_all(self) -> None:
        """Let all go on."""
        call(lib.rsg_notify, self._number, 1)
