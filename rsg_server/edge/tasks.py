"""The tasks of the service: coroutines of one thread, which wait for events, for a descriptor and for real time.

The service, the control socket and its callers need no more of a library for tasks than this page. trio, which they used
before, took a quarter of the processor time of a small command's whole run to be imported.

Tasks go on in the order in which what they waited for has come.
"""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator

READABLE, WRITABLE = select.POLLIN, select.POLLOUT
Body = Coroutine["Until", None, object]


class Event:
    """Something that happens once, and that any number of tasks wait for."""

    def __init__(self) -> None:
        self.has_come = False
        self.waits: dict[Until, None] = {}
        """Those who wait for this, in the order in which they came."""

    def set(self) -> None:
        """Have those who wait for this go on."""
        self.has_come = True
        for wait in list(self.waits):
            wait.end()

    async def wait(self) -> None:
        """Return once this has happened."""
        if not self.has_come:
            await Until(self)


class Until:
    """A wait of a task until the first of these comes: an event, a descriptor that is ready, the end of some seconds.

    A descriptor is waited for by one task at a time. One that is closed meanwhile counts as ready.
    """

    def __init__(self, *events: Event, fd: int = -1, ready: int = READABLE, seconds: float | None = None) -> None:
        self.events = events
        self.fd = fd
        self.ready = ready
        self.ends_at = None if seconds is None else time.monotonic() + seconds
        self._ended: Callable[[Until], None] | None = None

    def __await__(self) -> Generator[Until, None, None]:
        yield self

    def begin(self, ended: Callable[[Until], None]) -> None:
        """Call `ended` when the wait ends, which it may have done already."""
        self._ended = ended
        for event in self.events:
            event.waits[self] = None
        if any(event.has_come for event in self.events):
            self.end()

    def end(self) -> None:
        """One of those that are waited for has come."""
        ended, self._ended = self._ended, None
        for event in self.events:
            event.waits.pop(self, None)
        if ended is not None:
            ended(self)


class Task:
    """A coroutine that has begun. Shielded, it comes to its own end even if that of the run comes first."""

    def __init__(self, body: Body) -> None:
        self.body = body
        self.is_shielded = False
        self.until: Until | None = None
        """What it waits for; None once it is to go on."""


class Tasks:
    """Runs the tasks of one thread. An error of any task ends all."""

    def __init__(self) -> None:
        self._tasks: dict[Task, None] = {}
        self._due: deque[Task] = deque()
        self._calls: deque[Callable[[], None]] = deque()
        self._poll = select.poll()
        self._by_fd: dict[int, Until] = {}
        self._timed: dict[Until, None] = {}
        self._alarm = -1
        self._running: Task | None = None

    def run(self, body: Body) -> None:
        """Run this task to its end, and beside it those that are started; close what still waits then and is not shielded."""
        self._alarm = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._poll.register(self._alarm, READABLE)
        try:
            first = self.start(body)
            while first in self._tasks:
                self._go_on()
            while self._close_those_that_wait():
                self._go_on()
        finally:
            for task in list(self._tasks):
                self._close(task)
            alarm, self._alarm = self._alarm, -1
            self._poll.unregister(alarm)
            os.close(alarm)

    def start(self, body: Body) -> Task:
        """Start a task, which runs up to its first wait at once."""
        task = Task(body)
        self._tasks[task] = None
        self._step(task)
        return task

    def shield(self) -> None:
        """Have the task that calls this come to its own end, whatever ends the run meanwhile."""
        if self._running is not None:
            self._running.is_shielded = True

    def call_soon(self, function: Callable[[], None]) -> None:
        """Have a function called between two tasks; from the handler of a signal, too, which may come at any place of these."""
        self._calls.append(function)
        if self._alarm >= 0:
            os.eventfd_write(self._alarm, 1)

    # One round

    def _go_on(self) -> None:
        """Wait until something comes, then run each task that is due once."""
        for fd, _ in self._poll.poll(self._patience_ms()):
            if fd == self._alarm:
                os.eventfd_read(fd)
            elif fd in self._by_fd:
                self._by_fd[fd].end()
        while self._calls:
            self._calls.popleft()()
        now = time.monotonic()
        for wait in [each for each in self._timed if each.ends_at is not None and each.ends_at <= now]:
            wait.end()
        for _ in range(len(self._due)):
            self._step(self._due.popleft())

    def _patience_ms(self) -> float | None:
        """How long nothing but descriptors can make a task due; None: for ever."""
        if self._due or self._calls:
            return 0
        moments = [wait.ends_at for wait in self._timed if wait.ends_at is not None]
        return max(0.0, min(moments) - time.monotonic()) * 1000 if moments else None

    def _step(self, task: Task) -> None:
        """Run a task up to its next wait, or to its end."""
        outer, self._running = self._running, task
        try:
            wait = task.body.send(None)
        except BaseException as end:
            del self._tasks[task]
            if not isinstance(end, StopIteration):
                raise
        else:
            self._begin(task, wait)
        finally:
            self._running = outer

    def _begin(self, task: Task, wait: Until) -> None:
        task.until = wait
        if wait.fd >= 0:
            self._by_fd[wait.fd] = wait
            self._poll.register(wait.fd, wait.ready)
        if wait.ends_at is not None:
            self._timed[wait] = None
        wait.begin(lambda wait: self._end(task, wait))

    def _end(self, task: Task, wait: Until) -> None:
        self._forget(wait)
        task.until = None
        self._due.append(task)

    def _forget(self, wait: Until) -> None:
        self._timed.pop(wait, None)
        if self._by_fd.get(wait.fd) is wait:
            del self._by_fd[wait.fd]
            self._poll.unregister(wait.fd)

    def _close_those_that_wait(self) -> bool:
        """Close the tasks that wait, but for those that are shielded; whether any task is left."""
        for task in [each for each in self._tasks if each.until is not None and not each.is_shielded]:
            self._close(task)
        return bool(self._tasks)

    def _close(self, task: Task) -> None:
        """End a task where it waits: its `finally` clauses run."""
        self._tasks.pop(task, None)
        with contextlib.suppress(ValueError):
            self._due.remove(task)
        if task.until is not None:
            self._forget(task.until)
            for event in task.until.events:
                event.waits.pop(task.until, None)
        task.body.close()


async def checkpoint() -> None:
    """Let the other tasks go on."""
    await Until(seconds=0)


async def sleep(seconds: float) -> None:
    """Wait for some real time."""
    await Until(seconds=seconds)
