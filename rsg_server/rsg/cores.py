"""The cores on which programs of Remote SimGrid compute, and which they share with all other programs of a host.

In the engine that moves flows, the cores of a host are a link: executions share the cores as flows share a link, and no
execution has more than one core. If other programs (whose calls the shim intercepts) compute on the host, too
(rsg_server/process/cpu.py), rsg_server/processor/shares.py divides the cores among both: an execution of priority 1
counts as a thread of nice 0. Then each of the two sides computes its own part. In rsg_server/processor/ the executions
of Remote SimGrid are called guests. The capacity of the link is reduced by what the other programs use, so that the
rest is the sum of the executions' fair shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.platform.link import Link, SharingPolicy
from rsg_server.processor.shares import weight

if TYPE_CHECKING:
    from rsg_server.network.engine import FlowEngine
    from rsg_server.platform.host import Host
    from rsg_server.process.cpu import Cpu
    from rsg_server.processor.sharing import Guest
    from rsg_server.rsg.activity import Execution
    from rsg_server.rsg.places import Places
    from rsg_server.rsg.room import Rsg

ORDINARY = float(weight(0))


class Cores:
    """Starts executions, and divides the cores among the executions and the intercepted programs."""

    def __init__(self, room: Rsg, places: Places, cpu: Cpu, engine: FlowEngine) -> None:
        self._room, self._places, self._cpu, self._engine = room, places, cpu, engine
        self._links: dict[str, Link] = {}
        # the executions of each host, by its name, in the order of their starts
        self._executions: dict[str, dict[Execution, None]] = {}
        cpu.on_change.connect(self._others_changed)

    def executions(self, host: Host) -> list[Execution]:
        """Return the executions that compute on a host."""
        return list(self._executions.get(host.name, ()))

    def load(self, host: Host) -> float:
        """Return how many flop/s of a host's cores are in use."""
        others = self._cpu.own_cores(host) * self.speed(host)
        return others + sum(self._engine.rate(execution.flow) for execution in self.executions(host))

    def speed(self, host: Host) -> float:
        return self._places.speed(host) * self._places.available(host)

    def link(self, host: Host) -> Link:
        found = self._links.get(host.name)
        if found is None:
            name = f"the cores of host {host.name}"
            found = self._links[host.name] = Link(name, self.speed(host) * host.cores, 0.0, SharingPolicy.SHARED)
        return found

    def compute(self, execution: Execution, flops: float) -> None:
        """Start an execution on the cores of its host."""
        host = execution.host
        speed = self.speed(host)
        bound = min(speed, execution.bound) if execution.bound > 0 else speed
        flow = self._engine.compute(self.link(host), flops, execution.priority, bound)
        self._room.started(execution, flow)
        self._executions.setdefault(host.name, {})[execution] = None
        self._divide(host)

    def ended(self, execution: Execution) -> None:
        """Give the cores of an execution that has ended to the others of its host."""
        if self._executions.get(execution.host.name, {}).pop(execution, self) is None:
            self._divide(execution.host)

    def restart(self, execution: Execution) -> None:
        """Continue an execution under other terms: another speed, priority or bound."""
        left = self._engine.remaining_bytes(execution.flow)
        del self._room.flows[execution.flow]
        self._engine.cancel(execution.flow)
        self.compute(execution, left)

    def move(self, execution: Execution, host: Host) -> None:
        """Continue an execution on another host."""
        before, execution.host = execution.host, host
        del self._executions[before.name][execution]
        self.restart(execution)
        self._divide(before)

    def change_speed(self, host: Host) -> None:
        """Set the speed of a host's cores. Executions there continue at the new speed."""
        if host.name not in self._links:
            return
        self._engine.change("bandwidth", self._links[host.name], self.speed(host) * host.cores)
        for execution in self.executions(host):
            self.restart(execution)

    # Cores shared with intercepted programs

    def _others_changed(self, host: Host) -> None:
        """Divide the cores of a host anew, because an intercepted program has begun or ended computing there."""
        if self._executions.get(host.name):
            self._room.moments.follow()
            self._divide(host)
            self._room.moments.is_unsettled = True

    def changed(self, execution: Execution) -> None:
        """Divide the cores of a host anew, because an execution is suspended or resumed. A suspended execution uses no core."""
        self._divide(execution.host)

    def _divide(self, host: Host) -> None:
        """Tell the executions and the intercepted programs how much of the cores the other side uses."""
        if not self._cpu.keeps_books(host):
            return
        speed = self.speed(host)
        computing = (one for one in self._executions.get(host.name, ()) if not self._engine.is_held(one.flow))
        guests = [_guest(execution, speed) for execution in computing]
        others = self._cpu.share_with(host, guests)
        if host.name in self._links:
            self._engine.reserve(self._links[host.name], others * speed)


def _guest(execution: Execution, speed: float) -> Guest:
    most = min(1.0, execution.bound / speed) if execution.bound > 0 and speed > 0 else 1.0
    return ORDINARY * execution.priority, most
