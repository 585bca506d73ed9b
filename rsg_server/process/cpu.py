"""CPU time as an activity: the executions that actors ask for share the cores of their host fairly.

The model is SimGrid's CPU model (Cas01): an execution uses one core at most, and each of n executions on a host of C cores of
S flop/s gets

    S · min(1, C / n)  flop/s.

All executions of a host run at one rate. So a host keeps one number, its *service*: the flops that each execution has got since
the host was last idle. Each execution keeps the service at which it is done. Executions of a stopped process wait.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from rsg_server.clock.timeline import Event
from rsg_server.protocol import Wake

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.process.actor import Actor
    from rsg_server.process.needs import Clock

NS = 10**9


class Execution:
    """Flops that an actor computes.

    `done_at`, the host's service at the end, is valid while the execution runs; `left` while it does not.
    """

    __slots__ = ("actor", "done_at", "left", "runs")

    def __init__(self, actor: Actor, flops: float) -> None:
        self.actor = actor
        self.left = flops
        self.done_at = 0.0
        self.runs = False

    def __repr__(self) -> str:
        return f"execution of {self.actor!r}, {self.left:.0f} flops left"


class Processor:
    """The cores of one host, and the executions on them."""

    def __init__(self, clock: Clock, host: Host, finished: Callable[[Execution], None]) -> None:
        self._clock = clock
        self._finished = finished
        self._cores = host.cores
        self._speed_flops = host.speed_flops
        self._queue: list[tuple[float, int, Execution]] = []  # heap by done_at; ties in the order of the starts
        self._started = 0
        self._running = 0
        self._service = 0.0
        self._updated_ns = 0
        self._event: Event | None = None

    @property
    def rate_flops(self) -> float:
        """The rate of each running execution, flop/s."""
        return self._speed_flops * min(1.0, self._cores / max(1, self._running))

    def start(self, execution: Execution) -> None:
        """Run an execution from now on."""
        self._update()
        self._running += 1
        self._started += 1
        execution.runs = True
        execution.done_at = self._service + execution.left
        heapq.heappush(self._queue, (execution.done_at, self._started, execution))
        self._plan()

    def stop(self, execution: Execution) -> None:
        """Run an execution no longer; its `left` tells the flops that are missing."""
        if execution.runs:
            self._update()
            self._remove(execution)
            self._plan()

    def _remove(self, execution: Execution) -> None:
        execution.runs = False
        execution.left = max(0.0, execution.done_at - self._service)
        self._running -= 1
        if not self._running:  # no execution refers to the service: start again from 0, where floating point is finest
            self._service = 0.0
            self._queue.clear()

    def _update(self) -> None:
        now_ns = self._clock.now_ns
        self._service += self.rate_flops * (now_ns - self._updated_ns) / NS if self._running else 0.0
        self._updated_ns = now_ns

    def _first(self) -> Execution | None:
        while self._queue and not (self._queue[0][2].runs and self._queue[0][2].done_at == self._queue[0][0]):
            heapq.heappop(self._queue)
        return self._queue[0][2] if self._queue else None

    def _plan(self) -> None:
        """Plan an event for the end of the first execution; durations are rounded up to the nanosecond."""
        if self._event is not None:
            self._event.cancel()
            self._event = None
        first = self._first()
        if first is not None and self.rate_flops > 0:
            left_ns = math.ceil((first.done_at - self._service) * NS / self.rate_flops)
            self._event = self._clock.timeline.add(self._clock.now_ns + max(0, left_ns), lambda: self._finish(first))

    def _finish(self, first: Execution) -> None:
        """End `first`, and every execution that lacks less than a nanosecond of computing."""
        self._event = None
        self._update()
        self._service = max(self._service, first.done_at)
        due = self._service + self.rate_flops / NS
        done = []
        while (execution := self._first()) is not None and execution.done_at <= due:
            heapq.heappop(self._queue)
            self._remove(execution)
            done.append(execution)
        self._plan()
        for execution in done:
            execution.left = 0.0
            self._finished(execution)


class Cpu:
    """The processors of all hosts, and the executions by the number of their actor."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._processors: dict[str, Processor] = {}
        self._executions: dict[int, Execution] = {}

    def _processor(self, actor: Actor) -> Processor:
        host = actor.process.host
        if host.name not in self._processors:
            self._processors[host.name] = Processor(self._clock, host.host, self.finished)
        return self._processors[host.name]

    def start(self, actor: Actor, flops: int) -> None:
        """Have a parked actor compute; the end of the computation wakes the actor."""
        execution = Execution(actor, float(flops))
        self._executions[actor.number] = execution
        self._processor(actor).start(execution)

    def end(self, actor: Actor) -> int:
        """End an actor's execution. Returns the missing flops, rounded up; 0 if the actor does not compute."""
        execution = self._executions.pop(actor.number, None)
        if execution is None:
            return 0
        self._processor(actor).stop(execution)
        return math.ceil(execution.left)

    def finished(self, execution: Execution) -> None:
        """Wake the actor of an execution that is done."""
        self._executions.pop(execution.actor.number, None)
        self._clock.wake(execution.actor, Wake.READY)

    def pause(self, actors: list[Actor]) -> None:
        """Pause the executions of actors whose process has been stopped."""
        for actor in actors:
            if (execution := self._executions.get(actor.number)) is not None:
                self._processor(actor).stop(execution)

    def resume(self, actors: list[Actor]) -> None:
        """Resume the executions of actors whose process has been continued."""
        for actor in actors:
            execution = self._executions.get(actor.number)
            if execution is not None and not execution.runs:
                self._processor(actor).start(execution)
