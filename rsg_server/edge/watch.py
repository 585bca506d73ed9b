"""Makes the messages to viewers of a running emulation: first the whole state, then what has changed since.

Invariant: viewers change nothing. The state is read between two slices of turns; no other part of the emulation knows
of viewers.

One `Board` has the state for all viewers. The board reads the state of the kernel (rsg_server.kernel) at most as often
as LOOK_SHARE allows, however many viewers there are. For each viewer the server keeps one number, up to which change
the viewer has been told. A viewer that reads slowly gets fewer messages; each message has the state of the moment at
which it was made.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rsg_server.edge.service import Service

VIEWERS_MOST = 64
LOOK_LEAST_S = 0.05
LOOK_SHARE = 0.02
"""The most of the server's time, as a part of 1, that reading the state may take."""
REASONS_MOST = 20
"""The most reasons why the run cannot be repeated that a message to viewers contains; there is at most one for each
program that has joined.
"""


@dataclass(slots=True)
class HostEntry:
    """What viewers learn about a host: its condition (on, stopping, off or booting), and its number of processes.

    `change` numbers the change.
    """

    power: str
    processes: int
    change: int


class Board:
    """The state of a run, with a number for each change, from 1 on."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._hosts: dict[str, HostEntry] = {}
        """The entries of hosts by name, in the order of their last changes, the latest last."""
        self._change = 0
        self._next_look = self._looked = 0.0
        self._looked_ns = service.kernel.now_ns
        self._speed: float | None = None
        self.viewers = 0

    @property
    def change(self) -> int:
        """The number of the latest change that has been found."""
        return self._change

    def look(self) -> None:
        """Read the kernel, unless the last look is so recent that all looks together would take more than LOOK_SHARE."""
        begun = time.monotonic()
        if begun < self._next_look:
            return
        self._note_speed(begun)
        kernel = self._service.kernel
        for name, state in kernel.hosts.items():
            self._note_host(name, kernel.faults.power.what(name), len(state.processes))
        kernel.log.flush()  # viewers read the log as well
        ended = time.monotonic()
        self._next_look = ended + max(LOOK_LEAST_S, (ended - begun) / LOOK_SHARE)

    def _note_speed(self, wall_s: float) -> None:
        now_ns = self._service.kernel.now_ns
        if self._looked:
            self._speed = (now_ns - self._looked_ns) / 1e9 / max(wall_s - self._looked, 1e-9)
        self._looked, self._looked_ns = wall_s, now_ns

    def _note_host(self, name: str, power: str, processes: int) -> None:
        entry = self._hosts.get(name)
        if entry is not None and entry.power == power and entry.processes == processes:
            return
        self._change += 1
        self._hosts.pop(name, None)
        self._hosts[name] = HostEntry(power, processes, self._change)

    def message(self, since: int) -> dict[str, Any]:
        """Return the message for a viewer that has received all changes up to number `since`, which is 0 for a new viewer.

        `hosts` has [power, processes] of each host that has changed, in the platform's order for a new viewer.
        """
        service = self._service
        kernel = service.kernel
        changed = dict(self._changed(since))
        reasons = kernel.disturbances.reasons
        return {
            "virtual_ns": kernel.now_ns,
            "paused": service.paused,
            "pace": service.options.pace,
            "speed": 0.0 if service.paused else self._speed,
            "turns": kernel.log.turns,
            "processes": len(kernel.processes),
            "disturbances": reasons[:REASONS_MOST],
            "links_down": sorted(kernel.network.down),
            "hosts": changed if since else {name: changed[name] for name in kernel.hosts},
        }

    def _changed(self, since: int) -> Iterator[tuple[str, list[object]]]:
        for name, entry in reversed(self._hosts.items()):
            if entry.change <= since:
                return
            yield name, [entry.power, entry.processes]
