"""Waits until computing is done: an execution that a program asks for, or CPU time that is charged (`cpu_policy: charged`)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rsg_server.process.cpu import Cpu
from rsg_server.process.wait import ActorWait, DescriptorWords
from rsg_server.processor.charges import EXEC, NICE
from rsg_server.protocol import MOST_TOLD, WAKE_READY
from rsg_server.waits.table import Maker

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.cpu_timers import CpuTimers
    from rsg_server.processor.charges import Charges


class ComputeWait(ActorWait):
    """A wait that ends when the actor has computed so many flops. The actor gets the number of flops that are left.
    `raw_nice` is 20
    - nice, or 0.

    Raises ValueError for more than MOST_TOLD flops, which no shim asks for.
    """

    __slots__ = ("_cpu", "flops", "raw_nice")

    def __init__(self, cpu: Cpu, flops: int, raw_nice: int, c: int) -> None:
        super().__init__()
        if flops > MOST_TOLD:
            raise ValueError(f"a computation of {flops} flops")
        self._cpu, self.flops, self.raw_nice = cpu, flops, raw_nice

    def begin(self, actor: Actor) -> None:
        self._cpu.start(actor, self.flops, self.raw_nice)

    def end(self, actor: Actor, reason: int, value: int) -> tuple[int, int]:
        return reason, self._cpu.end(actor)

    def leave(self, actor: Actor) -> None:
        self._cpu.end(actor)

    def ends_by_itself(self) -> bool:
        return True

    def computes(self) -> bool:
        return True

    def describe(self, actor: Actor, descriptors: DescriptorWords) -> str:
        return f"the end of its computing, {self.flops} flops"


class ChargeMaker(Maker):
    """Makes the waits by which actors let the CPU time pass that they have used since their last charge."""

    def __init__(self, cpu: Cpu, timers: CpuTimers, charges: Charges | None) -> None:
        super().__init__(self.make)
        self.cpu, self.timers, self.charges = cpu, timers, charges

    def known_charges(self) -> Charges:
        """Return the charges of the run. Raises ValueError if there are none."""
        if self.charges is None:
            raise ValueError("a charge under the CPU policy free")
        return self.charges

    def make(self, a: int, b: int, c: int) -> ActorWait:
        return ChargeWait(self, a, b, c)


class ChargeRestMaker(ChargeMaker):
    """Makes waits for the rest of a charge, which was interrupted because a timer of CPU time expired."""

    def make(self, a: int, b: int, c: int) -> ActorWait:
        return ChargeRestWait(self, a, b, c)


class ChargeWait(ComputeWait):
    """A wait that ends when the charged CPU time has passed. The actor gets its next recorded charge, or the time for
    which it may compute.

    `busy_ns` is the CPU time that the actor has used, `points` is the kind of the charge and where in the program it
    was made, `prices_ns` is the virtual time that has passed for the prices of calls: see PARK_CHARGE in
    csrc/shared/protocol.h.
    """

    __slots__ = ("_maker", "busy_ns", "points", "prices_ns")

    def __init__(self, maker: ChargeMaker, busy_ns: int, points: int, prices_ns: int) -> None:
        super().__init__(maker.cpu, 0, points & NICE, 0)
        self._maker, self.busy_ns, self.points, self.prices_ns = maker, busy_ns, points, prices_ns

    def prepare(self, actor: Actor) -> tuple[int, int] | None:
        """Convert the charge into flops.

        If the charge has no flops, return the values with which the actor goes on at once, else None.
        """
        charges, timers = self._maker.known_charges(), self._maker.timers
        if self.over() is not None:
            return None
        host = actor.process.host.host
        self.flops = charges.flops(actor.number, timers.begin(actor, self.cpu_ns(actor, charges, timers)), host)
        return None if self.flops > 0 else timers.ended(actor, WAKE_READY, 0)

    def cpu_ns(self, actor: Actor, charges: Charges, timers: CpuTimers) -> int:
        """Return the CPU time that must pass for the charge. Raises ValueError for a charge that no shim makes."""
        process = actor.process
        charged_ns = charges.charge(actor.number, self.busy_ns, self.points, self.prices_ns, self.since_ns)
        charges.by_program[os.path.basename(process.program)] += charged_ns
        cpu_ns = charges.cpu_ns(charged_ns, process.host.host)
        if not self.points & EXEC:
            timers.count_prices(actor, self.prices_ns)
        return cpu_ns

    def end(self, actor: Actor, reason: int, value: int) -> tuple[int, int]:
        return self._maker.timers.ended(actor, reason, self._cpu.end(actor))


class ChargeRestWait(ChargeWait):
    """A wait that ends when the rest of an interrupted charge has passed; the actor was told the rest by WAKE_REST."""

    def cpu_ns(self, actor: Actor, charges: Charges, timers: CpuTimers) -> int:
        return timers.take_rest(actor)
