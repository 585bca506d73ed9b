"""CPU time as an activity: the executions that actors ask for share the cores of their host fairly.

rsg_server/processor/ has the model; here are the actors that compute, and the events at which they are done. What an actor's
nice value and its affinity mask are is asked when it begins to compute; a mask that changes meanwhile counts from then on.
Executions of a stopped process wait.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from rsg_server.clock.timeline import Event, Timeline
from rsg_server.observers import Observers
from rsg_server.processor.accounts import Account
from rsg_server.processor.load import Load
from rsg_server.processor.overload import Overload
from rsg_server.processor.shares import weight
from rsg_server.processor.sharing import Execution, Guest, Sharing
from rsg_server.protocol import Wake

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.process.actor import Actor
    from rsg_server.process.parking import Parking
    from rsg_server.process.process import Process
    from rsg_server.shared.clock import Clock

RAW_NICE = 20
"""The kernel's getpriority(2) answers 20 - nice, which is never 0."""


SLICE_NS = 750_000
"""How long Linux lets a thread compute, for each doubling of the cores, before another one gets the core.

That is base_slice of the fair scheduler (kernel/sched/fair.c), before it the least granularity: 0.75 ms, 1.5 ms on two cores,
2.25 ms on four, 3 ms on eight and more.
"""
MOST_DOUBLED = 8
"""With more cores a slice is no longer."""


@dataclass(frozen=True, slots=True)
class Use:
    """What the cores of a host have done."""

    load: Load
    overload: Overload


class Processor:
    """The cores of one host, and the event at which the first of the executions on them is done."""

    def __init__(
        self, clock: Clock, timeline: Timeline, host: Host, finished: Callable[[Execution], None], use: Use | None = None
    ) -> None:
        self._clock, self._timeline = clock, timeline
        self._use = use
        self._finished = finished
        self._sharing = Sharing(host.cores, host.speed_flops)
        self._updated_ns = 0
        self._event: Event | None = None
        self.on_load: Observers[float] = Observers()  # told how many cores are in use, whenever that may have changed
        self.on_change: Observers[[]] = Observers()  # told when what computes here may have another share

    def change_speed(self, speed_flops: float) -> None:
        """Each core computes so many flop/s from now on."""
        self._update()
        self._sharing.change_speed(speed_flops)
        self._plan()

    def share_with(self, guests: Sequence[Guest]) -> float:
        """From now on these guests use cores, too. Returns how many cores the executions have beside them."""
        self._update()
        self._sharing.share_with(guests)
        self._schedule()
        return self._sharing.own_cores

    @property
    def own_cores(self) -> float:
        """How many cores the executions use."""
        return self._sharing.own_cores

    @property
    def every_core(self) -> int:
        """The mask of all cores."""
        return self._sharing.every_core

    @property
    def running(self) -> int:
        """How many executions compute, or wait for a core."""
        return self._sharing.running

    def start(self, execution: Execution) -> None:
        """Run an execution from now on."""
        self._update()
        self._sharing.start(execution)
        if self._use is not None:
            self._use.overload.begin(_program(execution))
        self._plan()

    def stop(self, execution: Execution) -> None:
        """Run an execution no longer; its `left` tells the flops that are missing."""
        if execution.runs:
            self._update()
            self._sharing.stop(execution)
            self._ended(execution)
            self._plan()

    def share_anew(self) -> None:
        """An account has another weight or quota from now on."""
        self._update()
        self._sharing.share_anew()
        self._plan()

    def _update(self) -> None:
        now_ns = self._clock.now_ns
        if self._use is not None:
            elapsed_ns = now_ns - self._updated_ns
            self._use.load.pass_time(now_ns, elapsed_ns, self._sharing.wanting, self._sharing.shape)
            self._use.overload.pass_time(now_ns, elapsed_ns)
        self._sharing.advance(now_ns - self._updated_ns)
        self._updated_ns = now_ns

    def use(self) -> tuple[Use, int]:
        """What the cores have done up to now, and how many executions and guests compute or wait for one."""
        assert self._use is not None
        self._update()
        return self._use, self._sharing.wanting

    def _plan(self) -> None:
        """Plan an event for the end of the first execution, once those who share the cores know of the change."""
        self.on_change.tell()
        self._schedule()

    def _schedule(self) -> None:
        """Durations are rounded up to the nanosecond."""
        if self.on_load:
            self.on_load.tell(self._sharing.used_cores)
        if self._event is not None:
            self._event.cancel()
            self._event = None
        first = self._sharing.first()
        if first is not None:
            left_ns = math.ceil(self._sharing.until_ns(first))
            self._event = self._timeline.add(self._clock.now_ns + left_ns, lambda: self._finish(first))

    def _finish(self, first: Execution) -> None:
        """End `first`, and every execution that lacks less than a nanosecond of computing."""
        self._event = None
        self._update()
        done = self._sharing.finish(first)
        self._plan()
        for execution in done:
            self._ended(execution)
        for execution in done:
            self._finished(execution)

    def _ended(self, execution: Execution) -> None:
        if self._use is not None:
            self._use.overload.end(_program(execution))


def _program(execution: Execution) -> str:
    return os.path.basename(cast("Actor", execution.owner).process.program)


class Cpu:
    """The processors of all hosts, and the executions by the number of their actor.

    `on_load` is told a host and how many of its cores executions use, whenever that may have changed.
    """

    def __init__(
        self,
        clock: Clock,
        timeline: Timeline,
        parking: Parking,
        tell: Callable[[str], None] | None = None,
        account_of: Callable[[Process], Account | None] | None = None,
    ) -> None:
        self._clock, self._timeline, self._parking = clock, timeline, parking
        self._tell = tell  # of hosts that are oversubscribed; None: what the cores do is not counted
        self._processors: dict[str, Processor] = {}
        self._executions: dict[int, Execution] = {}
        self._speeds: dict[str, float] = {}  # of hosts that were given another one before anything computed there
        self._account_of = account_of  # of processes in cgroups
        self.on_load: Observers[str, float] = Observers()
        self.on_change: Observers[Host] = Observers()  # told when executions on a host may have another share

    def _processor(self, actor: Actor) -> Processor:
        return self._processor_of(actor.process.host.host)

    def _processor_of(self, host: Host) -> Processor:
        if host.name not in self._processors:
            tell = self._tell
            use = Use(Load(host.cores), Overload(host.name, host.cores, tell)) if tell is not None else None
            processor = self._processors[host.name] = Processor(self._clock, self._timeline, host, self.finished, use)
            processor.on_change.connect(partial(self.on_change.tell, host))
        return self._processors[host.name]

    def keeps_books(self, host: Host) -> bool:
        """Whether anything has computed on a host, or somebody wants to know its load, or /proc tells it."""
        return host.name in self._processors or bool(self.on_load) or self._tell is not None

    def share_with(self, host: Host, guests: Sequence[Guest]) -> float:
        """From now on these guests use cores of a host, too. Returns how many cores the executions have beside them."""
        return self._metered(host).share_with(guests)

    def own_cores(self, host: Host) -> float:
        """How many cores of a host executions use."""
        processor = self._processors.get(host.name)
        return 0.0 if processor is None else processor.own_cores

    def use(self, host: Host) -> tuple[Use, int]:
        """What the cores of a host have done up to now, and how many executions compute or wait for one."""
        return self._processor_of(host).use()

    def slice_ns(self, host: Host) -> int:
        """How long a thread may compute on a host before others do: a slice while all cores are in use, else 0."""
        processor = self._processors.get(host.name)
        if processor is None or processor.running < host.cores:
            return 0
        return SLICE_NS * min(host.cores, MOST_DOUBLED).bit_length()

    def overloads(self) -> dict[str, Overload]:
        """The hosts that were oversubscribed, by name, in the order in which computing began on them."""
        if self._tell is None:
            return {}
        found = {name: processor.use()[0].overload for name, processor in self._processors.items()}
        return {name: overload for name, overload in found.items() if overload.windows}

    def change_speed(self, host: str, speed_flops: float) -> None:
        """Each core of a host computes so many flop/s from now on."""
        if host in self._processors:
            self._processors[host].change_speed(speed_flops)
        else:
            self._speeds[host] = speed_flops

    def _metered(self, host: Host) -> Processor:
        """The processor of a host, at the host's present speed, that tells its load."""
        processor = self._processor_of(host)
        if self.on_load and not processor.on_load:
            processor.on_load.connect(partial(self.on_load.tell, host.name))
        if host.name in self._speeds:
            processor.change_speed(self._speeds.pop(host.name))
        return processor

    def start(self, actor: Actor, flops: int, raw_nice: int = 0) -> None:
        """Have a parked actor compute; the end of that wakes the actor. `raw_nice` is 20 - nice, 0: not said."""
        processor = self._metered(actor.process.host.host)
        execution = Execution(
            actor, float(flops), weight(RAW_NICE - (raw_nice or RAW_NICE)), actor.affinity or processor.every_core
        )
        execution.account = self._account(actor)
        self._executions[actor.number] = execution
        processor.start(execution)

    def _account(self, actor: Actor) -> Account | None:
        return None if actor.process.cgroup is None or self._account_of is None else self._account_of(actor.process)

    def share_anew(self, host: Host) -> None:
        """Groups of threads of a host have other weights or quotas from now on."""
        if host.name in self._processors:
            self._processors[host.name].share_anew()

    def end(self, actor: Actor) -> int:
        """End an actor's execution. Returns the missing flops, rounded up; 0 if the actor does not compute."""
        execution = self._executions.pop(actor.number, None)
        if execution is None:
            return 0
        self._processor(actor).stop(execution)
        return math.ceil(execution.left)

    def finished(self, execution: Execution) -> None:
        """Wake the actor of an execution that is done."""
        actor = cast("Actor", execution.owner)
        self._executions.pop(actor.number, None)
        self._parking.wake(actor, Wake.READY)

    def moved(self, actor: Actor) -> None:
        """Go on with an actor's execution on the processors, and for the account, that the actor has from now on."""
        execution = self._executions.get(actor.number)
        if execution is None:
            return
        processor, runs, account = self._processor(actor), execution.runs, self._account(actor)
        mask = actor.affinity or processor.every_core
        if execution.mask == mask and execution.account is account:
            return
        processor.stop(execution)
        execution.mask, execution.account = mask, account
        if runs:
            processor.start(execution)

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
