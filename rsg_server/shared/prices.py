"""Tells the shims, by words in shared memory, how much virtual time calls and computing cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rsg_server._native import lib
from rsg_server.protocol import PAGE_FIELDS

_READ_COST: Final = PAGE_FIELDS["read_cost_ns"]
_POLL_COST: Final = PAGE_FIELDS["poll_cost_ns"]
_CALL_COST: Final = PAGE_FIELDS["call_cost_ns"]
_CHARGE_LEAST_NS: Final = PAGE_FIELDS["charge_least_ns"]
_CHARGE_LEAST_CYCLES: Final = PAGE_FIELDS["charge_least_cycles"]
_TSC_NS: Final = PAGE_FIELDS["tsc_ns"]
_LATE: Final = PAGE_FIELDS["late_ns"]
_LATE_CYCLE: Final = PAGE_FIELDS["late_cycle_ns"]
_LATE_SEED: Final = PAGE_FIELDS["late_seed"]
_REPLAYS_CHARGES: Final = PAGE_FIELDS["replays_charges"]
_OVERHEADS: Final = {
    name: PAGE_FIELDS[name] for name in ("trap_overhead_ns", "preload_overhead_ns", "read_overhead_ns", "coarse_overhead_ns")
}
_CYCLE_SHIFT: Final = 32


@dataclass(frozen=True, slots=True)
class Costs:
    """The virtual ns that calls cost: a clock read, a poll that does not wait, any other system call."""

    read_ns: int = 50
    poll_ns: int = 1000
    call_ns: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """How late timed waits end on `hosts` in a perturbed run (csrc/shim/turn/lateness.c), as means in ns.

    Each timed wait ends later by `wait_ns` on average. A timed wait of a second or more ends, in addition, later by
    `cycle_ns` on average. `seed` seeds the random numbers.
    """

    hosts: frozenset[str]
    wait_ns: int
    cycle_ns: int
    seed: int


class Prices:
    """The prices of calls, which are the same throughout the run, and how computing is measured under `cpu_policy: charged`."""

    def __init__(self, words: memoryview, costs: Costs) -> None:
        self._words = words
        words[_READ_COST] = costs.read_ns
        words[_POLL_COST] = costs.poll_ns
        words[_CALL_COST] = costs.call_ns

    def tell_lateness(self, lateness: Lateness) -> None:
        """Tell the shims by how much timed waits end late on hosts whose flags say so."""
        words = self._words
        words[_LATE], words[_LATE_CYCLE], words[_LATE_SEED] = lateness.wait_ns, lateness.cycle_ns, lateness.seed

    def tell_charging(self, least_ns: int, tsc_ns: int, replays: bool) -> None:
        """Tell the shims how computing is measured under `cpu_policy: charged`.

        CPU time of less than `least_ns` is not charged until more has been used. `tsc_ns` is the length of a cycle of
        the time stamp counter, in units of 2^-32 ns. `replays` says that charges come from a recording.
        """
        words = self._words
        words[_CHARGE_LEAST_NS] = least_ns
        words[_CHARGE_LEAST_CYCLES] = (least_ns << _CYCLE_SHIFT) // tsc_ns
        words[_TSC_NS] = tsc_ns
        words[_REPLAYS_CHARGES] = lib.REPLAY_GOES_ON if replays else lib.REPLAY_NONE

    def tell_departure(self) -> None:
        """Tell the shims that a replay has departed from its recording."""
        self._words[_REPLAYS_CHARGES] = lib.REPLAY_HAS_DEPARTED

    def overheads(self) -> dict[str, int]:
        """Return the CPU time that simunix itself adds to each kind of call, as measured (csrc/shim/entry/calibrate.c)."""
        return {name: self._words[word] for name, word in _OVERHEADS.items()}
