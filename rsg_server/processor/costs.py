"""The table of costs: how long programs compute before their system calls and clock reads, in memory shared with all processes.

Under the CPU policy `charged` the shims (csrc/shim/turn/cpu_costs.c) add up what they measure in the table. Under
`modelled` the server writes the table, and the shims read it. A run may have programs of both policies.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rsg_server._native import ffi, lib
from rsg_server.shared.tables import computing_costs
from rsg_server.whole_files import whole_file

PROGRAMS: Final[int] = lib.SIMUNIX_COST_PROGRAMS
CALLS: Final[int] = lib.SIMUNIX_COST_CALLS
CLOCK_READ: Final[int] = lib.SIMUNIX_COST_CLOCK_READ
IMAGE: Final[int] = lib.SIMUNIX_COST_IMAGE
POINTS: Final[int] = lib.SIMUNIX_COST_POINTS
NO_ROW: Final = -1
OWN_NAMES: Final = {CLOCK_READ: "clock_read", IMAGE: "image"}
"""The names of points (places where a thread may be charged) that are no system calls."""


@dataclass(frozen=True, slots=True)
class Cost:
    """How long (ns) a program has computed before so many points of one kind."""

    calls: int
    ns: int


FORMAT: Final = "simunix costs 1"
Costs = Mapping[str, Mapping[str, Cost]]
"""Costs by the program's name and the point's name."""


def _call_name(number: int) -> str:
    name = str(ffi.string(lib.syscall_name(number)).decode())
    return OWN_NAMES.get(number) or (name if name != "unknown" else str(number))


NUMBERS: Final = {_call_name(number): number for number in range(CALLS)}
_PLACE = f"{OWN_NAMES[CLOCK_READ]}@([0-9a-f]{{3}})"
_NAMES: Final = {number: name for name, number in NUMBERS.items()}


def point_name(number: int) -> str:
    """Return the name of a point: a system call's, a clock read's with its place (`clock_read@1a3`), or another name."""
    return _NAMES[number] if number < CALLS else f"{OWN_NAMES[CLOCK_READ]}@{number - CALLS:03x}"


def point_number(name: str) -> int | None:
    """Return the column of the table for a point's name; None if there is no such point."""
    place = re.fullmatch(_PLACE, name)
    return NUMBERS.get(name) if place is None else CALLS + int(place[1], 16)


def point_kind(name: str) -> str:
    """Return the name of a point without the place in the program."""
    return name.partition("@")[0]


class CostTable:
    """The table of costs of one run. `prices` are those of modelled programs, in ns by program and point."""

    def __init__(self, shared_fd: int, prices: Mapping[str, Mapping[str, int]]) -> None:
        self._table = computing_costs(shared_fd)
        self._prices = prices
        self._rows: dict[tuple[str, bool], int] = {}
        self.without_prices: set[str] = set()

    def row(self, program: str, is_modelled: bool, thread: str = "") -> int:
        """Return the row of the table for a program, or for its threads with a name.

        NO_ROW if the table is full, or if the program has no prices.
        """
        name = os.path.basename(program)
        key = f"{name}:{thread}" if thread else name
        if is_modelled and key not in self._prices:
            if thread:
                return self.row(program, is_modelled)
            self.without_prices.add(name)
            return NO_ROW
        row = self._rows.get((key, is_modelled))
        if row is not None:
            return row
        if len(self._rows) == PROGRAMS:
            return self.row(program, is_modelled) if thread else NO_ROW
        self._rows[key, is_modelled] = row = len(self._rows)
        if is_modelled:
            self._fill(row, self._prices[key])
        return row

    def _fill(self, row: int, prices: Mapping[str, int]) -> None:
        with self._table.rows() as rows:
            for point, ns in prices.items():
                if (number := point_number(point)) is not None:
                    rows[row][number].calls, rows[row][number].ns = 1, ns

    def measured(self) -> dict[str, dict[str, Cost]]:
        """Return the costs that the shims have added up in the table, by program and point."""
        with self._table.rows() as rows:
            return {name: _costs(rows[row]) for (name, is_modelled), row in self._rows.items() if not is_modelled}

    def close(self) -> None:
        """Release the mapping of the table."""
        self._table.close()


def _costs(row: Any) -> dict[str, Cost]:
    return {point_name(number): Cost(int(cost.calls), int(cost.ns)) for number, cost in enumerate(row) if cost.calls}


def write_costs(path: Path, measured: Costs, charged_ns: Mapping[str, int]) -> None:
    """Write the costs that a charged run has measured to a file, for `simunix calibrate`."""
    programs = {
        program: {
            "charged_ns": charged_ns.get(program, 0),
            "calls": {call: [cost.calls, cost.ns] for call, cost in sorted(costs.items())},
        }
        for program, costs in sorted(measured.items())
    }
    with whole_file(path) as file:
        file.write(json.dumps({"format": FORMAT, "programs": programs}, indent=1) + "\n")
