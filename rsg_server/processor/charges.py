"""Charges: under the CPU policy `charged`, the CPU time that actors (threads) have used passes in virtual time.

Charges are recorded, and may come from a recording. The shims measure CPU time (csrc/shim/turn/cpu_charge.c). This file
turns the CPU time into flops, by the speed that a run's configuration gives one core of this computer. So an emulated
host with that speed takes as long as this computer did.
"""

from __future__ import annotations

import os
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from rsg_server._native import lib
from rsg_server.observers import Observers
from rsg_server.platform.host import Host
from rsg_server.processor.costs import CostTable, write_costs
from rsg_server.processor.policies import CHARGED, MODELLED, Policies
from rsg_server.processor.recording import Charge, Recorder, read_charges

NS = 10**9
MOST_NS: Final[int] = lib.CHARGE_MOST_NS
MOST_POINTS: Final[int] = lib.CHARGE_MOST_POINTS
SCALE_BITS: Final = 32
NS_SHIFT: Final[int] = lib.CHARGE_NS_SHIFT
"""The most ns and points in a charge, which the server checks since a shim may be wrong; and how a charge is encoded."""
NICE, PREEMPTED, EXEC, END = lib.CHARGE_NICE, lib.CHARGE_PREEMPTED, lib.CHARGE_EXEC, lib.CHARGE_END
POINT_SHIFT: Final[int] = lib.CHARGE_POINT_SHIFT
"""Where the number of points begins in the second number of a charge; see PARK_CHARGE in csrc/shared/protocol.h."""
ALL_CHARGED = Policies(default=CHARGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Charging:
    """How computing is charged in a run. CPU time of less than `least_ns` is not charged until more has been used."""

    least_ns: int = 50_000  # Linux lets a timer be late by as much (PR_SET_TIMERSLACK)
    policies: Policies = ALL_CHARGED
    reference_flops: float = 1e9  # the speed of a core of this computer, in flop/s
    recording: Path | None = None  # the file to which charges are written
    replay: Path | None = None  # the recording that is replayed
    costs: Path | None = None  # the file for how much was computed before which system calls
    # the costs for modelled programs: ns by program and system call
    prices: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


class Charges:
    """The charges of a run. Observers of `on_departure` are called once, if a replay departs from its recording.

    From then on the shims charge what the table of costs says, as under the CPU policy `modelled`.
    """

    def __init__(self, options: Charging, table: CostTable) -> None:
        self.options, self.table = options, table
        self.on_departure: Observers[str] = Observers()
        self._seen: set[str] = set()  # the file names of the programs that have run
        self.count = 0
        self.total_ns = 0
        self.by_program: defaultdict[str, int] = defaultdict(int)  # ns by the program's file name
        self.has_departed = False
        self.has_calibrated = False  # whether a program was told to measure what system calls cost under simunix
        self._recorder = Recorder(options.recording) if options.recording is not None else None
        self._left: dict[int, int] = {}  # the flops that are left of an interrupted charge, by the actor's number
        self._cpu_ns: dict[int, int] = {}  # for an actor that is in an exec: the value of its CPU clock before the exec
        self._expected: deque[Charge] = deque(read_charges(options.replay)) if options.replay is not None else deque()
        self._next: dict[int, deque[Charge]] = {}
        for charge in self._expected:
            self._next.setdefault(charge.actor, deque()).append(charge)

    @property
    def replays(self) -> bool:
        """Whether the charges come from a recording."""
        return self.options.replay is not None

    def has_prices(self, policy: str) -> bool:
        """Return whether the costs of a program with this policy are read from the table, not measured.

        In a replay they are read after its departure from the recording.
        """
        return policy == MODELLED or self.replays

    def policy_of(self, program: str, of_process: str, host: str) -> str:
        """Return the CPU policy of a program that runs; the arguments are those of `Policies.of`."""
        self._seen.add(os.path.basename(program))
        return self.options.policies.of(program, of_process, host)

    def never_seen(self) -> dict[str, list[str]]:
        """Return the programs that have a policy of their own and have not run, each with the programs of similar names
        that have.
        """
        # imported here, since only an error message needs the module, and every run loads this file
        from difflib import get_close_matches

        return {
            name: get_close_matches(name, self._seen, n=1) for name in self.options.policies.programs if name not in self._seen
        }

    def charge(self, actor: int, cpu_ns: int, place: int, clock_ns: int, now_ns: int) -> int:
        """Record a charge, and return its CPU time in ns. The arguments are those of PARK_CHARGE."""
        if not 0 <= cpu_ns <= MOST_NS or not 0 <= place >> POINT_SHIFT <= MOST_POINTS:
            raise ValueError(f"a charge of {cpu_ns} ns")
        charge = Charge(actor, place >> POINT_SHIFT, bool(place & PREEMPTED), cpu_ns, now_ns, bool(place & END))
        if self.replays and not self.has_departed:
            charge = self._recorded(charge)
        if self._recorder is not None:
            self._recorder.write(charge)
        if place & EXEC:
            self._cpu_ns[actor] = clock_ns
        self.count += 1
        self.total_ns += charge.cpu_ns
        return charge.cpu_ns

    def scale(self, host: Host) -> int:
        """Return the CPU time on a host that corresponds to one ns on this computer, in units of 2^-32."""
        return round(self.options.reference_flops / host.speed_flops * (1 << SCALE_BITS))

    def cpu_ns(self, charged_ns: int, host: Host) -> int:
        """Return the CPU time (ns) that a charge takes on a host while nobody else computes there; the shims compute
        the same.
        """
        return charged_ns * self.scale(host) >> SCALE_BITS

    def flops(self, actor: int, cpu_ns: int, host: Host) -> int:
        """Return the flops of an actor's charge of some CPU time (ns of a host), with what is left of its charge before."""
        return round(cpu_ns * host.speed_flops / NS) + self._left.pop(actor, 0)

    def _recorded(self, asked: Charge) -> Charge:
        """Return the charge that the recording has for an actor at this point of its run."""
        own = self._next.get(asked.actor)
        found = own.popleft() if own else None
        cpu_ns = found.cpu_ns if found is not None else 0
        charge = Charge(asked.actor, asked.points, asked.is_preempted, cpu_ns, asked.now_ns, asked.is_end)
        expected = self._expected.popleft() if self._expected else None
        if charge != expected:
            self._depart(expected, charge)
        return charge

    def _depart(self, expected: Charge | None, charge: Charge) -> None:
        self.has_departed = True
        self._next.clear()
        self._expected.clear()
        there = f"actor {expected.actor} at {expected.now_ns / NS:.9f} s" if expected is not None else "no further charge"
        self.on_departure.tell(
            f"departs from the recording at charge {self.count + 1}: actor {charge.actor} at {charge.now_ns / NS:.9f} s, "
            f"recorded: {there}; from here on computing takes what the table of costs says (modelled)"
        )

    def next_of(self, actor: int) -> int:
        """Return the next charge that the recording has for an actor, and its moment, as PARK_CHARGE encodes them; 0:
        there is none.
        """
        own = self._next.get(actor)
        if not own:
            return 0
        charge = own[0]
        return charge.cpu_ns << NS_SHIFT | 1 + 2 * charge.points + charge.is_preempted

    def is_preempted_next(self, actor: int) -> bool:
        """Return whether an actor's next charge in the recording was made because the turn was taken from the actor."""
        own = self._next.get(actor)
        return own is not None and len(own) > 0 and own[0].is_preempted

    def ended(self, actor: int, left: int) -> int:
        """Store, for the actor's next charge, the flops that a signal has left uncomputed; return when the next charge
        is due (`next_of`).
        """
        if left:
            self._left[actor] = left
        return self.next_of(actor)

    def take_clock_ns(self, actor: int) -> int:
        """Return the CPU clock of an actor before its exec, and forget it; -1 if no emulated program has called exec."""
        return self._cpu_ns.pop(actor, -1)

    def close(self) -> None:
        """Close the recording. A replay that ends before its recording has departed from it."""
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None
        if self.options.costs is not None and not self.replays and (measured := self.table.measured()):
            write_costs(self.options.costs, measured, self.by_program)
        self.table.close()
        if self._expected and not self.has_departed:
            self.has_departed = True
            self.on_departure.tell(f"ends before the recording does, which has {len(self._expected):,} more charges")
