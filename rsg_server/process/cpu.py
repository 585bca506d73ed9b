"""Lets actors compute: the executions that they ask for share the cores of their host, and end after some virtual time.

The rule of sharing is in rsg_server/processor/. This module connects it with the actors that compute, and with the
events at which they have finished. An actor's nice value and affinity mask are read when it begins to compute; a mask
that changes during an execution has its effect from then on. Executions of a stopped process wait.
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
"""The kernel's getpriority(2) returns 20 minus the nice value, which is never 0."""


SLICE_NS = 750_000
"""How long (ns) Linux lets a thread compute before another one gets the core. Each doubling of the cores adds as much again.

The time is base_slice of Linux's fair scheduler (kernel/sched/fair.c), in older kernels sched_min_granularity: 0.75 ms,
1.5 ms on two cores, 2.25 ms on four, 3 ms on eight and more.
"""
MOST_DOUBLED = 8
"""The number of cores above which the time slice of Linux's scheduler does not grow any more."""


@dataclass(frozen=True, slots=True)
class Use:
    """The records about a host's cores: their load, and whether they were oversubscribed."""

    load: Load
    overload: Overload


class Processor:
    """The cores of one host, and the event at which the first of the executions on them has finished."""

    def __init__(
        self, clock: Clock, timeline: Timeline, host: Host, finished: Callable[[Execution], None], use: Use | None = None
    ) -> None:
        self._clock, self._timeline = clock, timeline
        self._use = use
        self._finished = finished
        self._sharing = Sharing(host.cores, host.speed_flops)
        self._updated_ns = 0
        self._event: Event | None = None
        # observers get the number of cores in use, whenever that number may have changed
        self.on_load: Observers[float] = Observers()
        # observers are called when executions of this host may get another share of the cores
        self.on_change: Observers[[]] = Observers()

    def change_speed(self, speed_flops: float) -> None:
        """Set the speed of each core, in flop/s, from now on."""
        self._update()
        self._sharing.change_speed(speed_flops)
        self._plan()

    def share_with(self, guests: Sequence[Guest]) -> float:
        """Set the guests, the executions of Remote SimGrid, that also use cores from now on. Return how many cores are left."""
        self._update()
        self._sharing.share_with(guests)
        self._schedule()
        return self._sharing.own_cores

    @property
    def own_cores(self) -> float:
        """The number of cores that the executions of emulated threads use."""
        return self._sharing.own_cores

    @property
    def every_core(self) -> int:
        """The mask of all cores, a bit for each."""
        return self._sharing.every_core

    @property
    def running(self) -> int:
        """The number of executions that compute or wait for a core."""
        return self._sharing.running

    def start(self, execution: Execution) -> None:
        """Start an execution now."""
        self._update()
        self._sharing.start(execution)
        if self._use is not None:
            self._use.overload.begin(_program(execution))
        self._plan()

    def stop(self, execution: Execution) -> None:
        """Stop an execution; afterwards the execution's `left` is the number of flops that have not been computed."""
        if execution.runs:
            self._update()
            self._sharing.stop(execution)
            self._ended(execution)
            self._plan()

    def share_anew(self) -> None:
        """Divide the cores among the executions anew, because a group of threads has another weight or quota."""
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
        """Return how long the cores have been busy up to now, and how many executions and guests compute or wait for a core."""
        assert self._use is not None
        self._update()
        return self._use, self._sharing.wanting

    def _plan(self) -> None:
        """Plan the event for the end of the first execution. The observers of the number of used cores are called first."""
        self.on_change.tell()
        self._schedule()

    def _schedule(self) -> None:
        """Plan the event for the end of the first execution; the time until then is rounded up to the ns."""
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
        """End the execution `first`, and every execution that needs less than a nanosecond more."""
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
    """The processors of all hosts, and the executions on them by the number of their actor.

    The observers of `on_load` get the name of a host and the number of its cores in use, whenever that number may have
    changed.
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
        self._tell = tell  # called with warnings about oversubscribed hosts; None: the use of cores is not recorded
        self._processors: dict[str, Processor] = {}
        self._executions: dict[int, Execution] = {}
        self._speeds: dict[str, float] = {}  # the speed of hosts whose speed was changed before any thread computed there
        self._account_of = account_of  # returns the account to which the CPU time of a process is counted in its cgroup
        self.on_load: Observers[str, float] = Observers()
        # observers are called when executions of a host may get another share of the cores
        self.on_change: Observers[Host] = Observers()

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
        """Return whether the computing of a host is recorded, because a thread has computed there, or a part of the
        server asks for the host's load.
        """
        return host.name in self._processors or bool(self.on_load) or self._tell is not None

    def share_with(self, host: Host, guests: Sequence[Guest]) -> float:
        """Set the guests, the executions of Remote SimGrid, that also use cores of a host. Return how many cores are left."""
        return self._metered(host).share_with(guests)

    def own_cores(self, host: Host) -> float:
        """Return how many cores of a host the executions of emulated threads use."""
        processor = self._processors.get(host.name)
        return 0.0 if processor is None else processor.own_cores

    def use(self, host: Host) -> tuple[Use, int]:
        """Return how long a host's cores have been busy up to now, and how many executions and guests compute or wait."""
        return self._processor_of(host).use()

    def slice_ns(self, host: Host) -> int:
        """Return how long (ns) a thread may compute on a host before other threads get its core: a time slice while all
        cores are in use, else 0.
        """
        processor = self._processors.get(host.name)
        if processor is None or processor.running < host.cores:
            return 0
        return SLICE_NS * min(host.cores, MOST_DOUBLED).bit_length()

    def overloads(self) -> dict[str, Overload]:
        """Return the hosts that were oversubscribed, by name, in the order in which computing began on them."""
        if self._tell is None:
            return {}
        found = {name: processor.use()[0].overload for name, processor in self._processors.items()}
        return {name: overload for name, overload in found.items() if overload.windows}

    def change_speed(self, host: str, speed_flops: float) -> None:
        """Set the speed of each core of a host, in flop/s, from now on."""
        if host in self._processors:
            self._processors[host].change_speed(speed_flops)
        else:
            self._speeds[host] = speed_flops

    def _metered(self, host: Host) -> Processor:
        """Return the processor of a host, at the host's present speed, and with the observers of its load connected."""
        processor = self._processor_of(host)
        if self.on_load and not processor.on_load:
            processor.on_load.connect(partial(self.on_load.tell, host.name))
        if host.name in self._speeds:
            processor.change_speed(self._speeds.pop(host.name))
        return processor

    def start(self, actor: Actor, flops: int, raw_nice: int = 0) -> None:
        """Let a waiting actor compute `flops`; it is woken at the end.

        `raw_nice` is 20 - nice, or 0 for the normal nice value.
        """
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
        """Divide the cores of a host anew, because groups of threads have other weights or quotas."""
        if host.name in self._processors:
            self._processors[host.name].share_anew()

    def end(self, actor: Actor) -> int:
        """End the execution of an actor.

        Return the flops that were not computed, rounded up; 0 if the actor does not compute.
        """
        execution = self._executions.pop(actor.number, None)
        if execution is None:
            return 0
        self._processor(actor).stop(execution)
        return math.ceil(execution.left)

    def finished(self, execution: Execution) -> None:
        """Wake the actor of an execution that has finished."""
        actor = cast("Actor", execution.owner)
        self._executions.pop(actor.number, None)
        self._parking.wake(actor, Wake.READY)

    def moved(self, actor: Actor) -> None:
        """Continue the execution of an actor with the affinity mask and the account that the actor has now."""
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
