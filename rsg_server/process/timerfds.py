"""Timerfds: what an application uses as a timerfd is an eventfd of the kernel, to which the server writes expirations.

The server keeps a copy of each eventfd. No message tells when an application closes its last descriptor of an eventfd.
So the server searches all processes from time to time, and closes the eventfds of which only its own copy is left.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rsg_server.clock.timeline import Event
    from rsg_server.process.process import Process

FIRST_SWEEP = 256
"""How many timerfds there must be for the first search."""


@dataclass(eq=False, slots=True)
class TimerFd:
    """The server's copy of an eventfd that an application uses as a timerfd. `is_real` says that it counts CLOCK_REALTIME."""

    fd: int
    is_real: bool = False
    next_ns: int = 0
    interval_ns: int = 0
    event: Event | None = None

    def close(self) -> None:
        """Cancel the next expiration, and close the server's copy of the eventfd."""
        if self.event is not None:
            self.event.cancel()
        os.close(self.fd)


class TimerFds:
    """All timerfds, by the kernel's number of the eventfd, which stays the same through dup(2), fork(2), exec and
    SCM_RIGHTS.
    """

    def __init__(self) -> None:
        self.all: dict[int, TimerFd] = {}
        self._sweep_at = FIRST_SWEEP

    def create(self, is_real: bool) -> TimerFd:
        """Make a timerfd that is not armed, and return it."""
        fd = os.eventfd(0, os.EFD_CLOEXEC)
        try:
            number = eventfd_number("self", fd)
        except OSError:
            os.close(fd)
            raise
        assert number is not None
        self.all[number] = TimerFd(fd, is_real)
        return self.all[number]

    def of(self, process: Process, fd: int) -> TimerFd | None:
        """Return the timerfd at a descriptor of a process; None if it is no timerfd. Raises OSError if it is not open."""
        number = eventfd_number(process.global_pid, fd)
        return self.all.get(number) if number is not None else None

    def sweep(self, processes: Iterable[Process]) -> None:
        """Close the timerfds that no process has open, if the number of timerfds has doubled since the last time.

        So a new timerfd takes little time on average.
        """
        if len(self.all) < self._sweep_at:
            return
        if self._drop_unheld(processes):
            self._sweep_at = max(FIRST_SWEEP, 2 * len(self.all))

    def drop_dead(self, processes: Iterable[Process], events: int) -> bool:
        """If nothing but timerfds is due (of all `events`), close those that no process has open. Return whether there
        were any.

        Otherwise, after the end of all other activity, the clock would move to the deadline of a timer that no process
        has open any more.
        """
        armed = sum(timer.event is not None for timer in self.all.values())
        before = len(self.all)
        return armed == events and self._drop_unheld(processes) and len(self.all) < before

    def _drop_unheld(self, processes: Iterable[Process]) -> bool:
        """Close the timerfds that no process has open. Return False if the server cannot know now which timerfds are open."""
        held = held_eventfds(processes)
        if held is None:
            return False
        for number in [number for number in self.all if number not in held]:
            self.all.pop(number).close()
        return True

    def close(self) -> None:
        """Close all timerfds, at the end of the run."""
        for timer in self.all.values():
            timer.close()
        self.all.clear()


def eventfd_number(process: int | str, fd: int) -> int | None:
    """Return the kernel's number of the eventfd at a descriptor; None if it is no eventfd. Raises OSError if it is not open."""
    number = _field(f"/proc/{process}/fdinfo/{fd}", "eventfd-id:")
    return None if number is None else int(number)


def _field(path: str, name: str) -> str | None:
    with open(path) as lines:
        return next((line.split()[1] for line in lines if line.startswith(name)), None)


def held_eventfds(processes: Iterable[Process]) -> set[int] | None:
    """Return the kernel's numbers of all eventfds that processes have open; None if processes may have others.

    Processes may have others while a process has not sent HELLO, or while descriptors are on their way between two
    processes (SCM_RIGHTS).
    """
    found: set[int] = set()
    for process in processes:
        if process.pidfd < 0:
            return None
        folder = f"/proc/{process.global_pid}"
        try:
            for fd in os.listdir(f"{folder}/fd"):
                link = os.readlink(f"{folder}/fd/{fd}")
                if link.startswith("socket:") and _field(f"{folder}/fdinfo/{fd}", "scm_fds:") not in (None, "0"):
                    return None
                if link == "anon_inode:[eventfd]" and (number := eventfd_number(process.global_pid, int(fd))) is not None:
                    found.add(number)
        except OSError:
            return None  # the process has ended just now, or /proc does not show its descriptors
    return found
