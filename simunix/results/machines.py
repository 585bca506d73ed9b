"""Number the cores of all hosts, host after host, as Batsim numbers machines; and choose the cores that each job had.

An RJMS's accounting says on which nodes a job ran and on how many cores, but not on which cores. simunix chooses the
cores as an RJMS does: the lowest free cores of each node, node after node, at least one core on each.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rsg_server.errors import SimunixError
from rsg_server.whole_files import whole_file
from simunix.columns import EXPECTED, read_columns, whole
from simunix.ranges import expand_hosts
from simunix.results.jobs_csv import JobRow

HEADER = ("host", "first", "cores")
CORES_MAX = 1 << 20
MEND = "give the folder of a run as simunix run left it"
ENDS, STARTS = 0, 1
"""Cores are freed before others are taken at the same moment."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")

Intervals = list[tuple[int, int]]


@dataclass(frozen=True)
class Machines:
    """The cores of every node, in the order of their numbers."""

    cores: Mapping[str, int]

    @cached_property
    def first(self) -> dict[str, int]:
        """The number of each host's first core."""
        found, total = {}, 0
        for host, count in self.cores.items():
            found[host] = total
            total += count
        return found

    @property
    def total(self) -> int:
        """The number of cores of all nodes."""
        return sum(self.cores.values())


def write_machines(path: Path, machines: Machines) -> None:
    """Write machines.csv."""
    with whole_file(path) as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows((host, machines.first[host], count) for host, count in machines.cores.items())


def read_machines(path: Path) -> Machines:
    """Read machines.csv. Raises SimunixError with file, line and column."""
    cores: dict[str, int] = {}
    total = 0
    for line, (host, first, count) in enumerate(read_columns(path, HEADER, (_host, whole, _cores), SimunixError, MEND), 2):
        if host in cores:
            raise SimunixError(f"{path}:{line}: host: {host[:60]!r} is there already; {MEND}")
        if first != total:
            raise SimunixError(f"{path}:{line}: first: expected {total}, the cores of the hosts above, got {first}; {MEND}")
        cores[host] = count
        total += count
    return Machines(cores)


def _host(text: str) -> str:
    """Read a host's name."""
    if not _NAME.fullmatch(text):
        raise ValueError(text)
    return text


def _cores(text: str) -> int:
    """Read a number of cores that a host can have."""
    found = whole(text)
    if not 0 < found <= CORES_MAX:
        raise ValueError(text)
    return found


EXPECTED[_host] = "the name of a host"
EXPECTED[_cores] = f"a whole number from 1 to {CORES_MAX:,}"


def intervals_text(intervals: Intervals) -> str:
    """Write intervals as Batsim's interval set: `0-3 5`."""
    return " ".join(str(low) if low == high else f"{low}-{high}" for low, high in intervals)


def parse_intervals(text: str) -> Intervals:
    """Read the intervals of a Batsim interval set. Raises ValueError."""
    pairs = (part.partition("-") for part in text.split())
    return [(int(low), int(high if dash else low)) for low, dash, high in pairs]


def merged(intervals: Iterable[tuple[int, int]]) -> Intervals:
    """Return the intervals sorted, with neighbours joined."""
    found: Intervals = []
    for low, high in sorted(intervals):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def lowest_bits(mask: int, count: int) -> int:
    """Return the `count` lowest bits that are set in `mask`; all bits if there are fewer."""
    if mask.bit_count() <= count:
        return mask
    kept = 0
    for _ in range(count):
        bit = mask & -mask
        kept |= bit
        mask ^= bit
    return kept


def bit_intervals(mask: int, offset: int) -> Intervals:
    """Return the runs of set bits as intervals, each bit's number raised by `offset`."""
    found: Intervals = []
    while mask:
        low = (mask & -mask).bit_length() - 1
        length = (~(mask >> low) & ((mask >> low) + 1)).bit_length() - 1
        found.append((offset + low, offset + low + length - 1))
        mask &= ~(((1 << length) - 1) << low)
    return found


class _Allocator:
    """Chooses cores for jobs; `free` has the free cores of every node, as bits of a number."""

    def __init__(self, machines: Machines) -> None:
        self.machines = machines
        self.free = {host: (1 << count) - 1 for host, count in machines.cores.items()}

    def take(self, hosts: Sequence[str], cores: int) -> dict[str, int]:
        """Take `cores` cores of hosts, and return them as bits, by host.

        If there are too few free cores, busy ones are taken as well: jobs may share cores, or the accounting's whole
        seconds are too coarse.
        """
        taken: dict[str, int] = {}
        left = cores
        for index, host in enumerate(hosts):
            wanted = max(1, min(left - (len(hosts) - index - 1), self.machines.cores[host]))
            taken[host] = lowest_bits(self.free[host], wanted) or 1
            left -= taken[host].bit_count()
        for host in hosts:
            if left <= 0:
                break
            more = lowest_bits(~taken[host] & ((1 << self.machines.cores[host]) - 1), left)
            taken[host] |= more
            left -= more.bit_count()
        for host, bits in taken.items():
            self.free[host] &= ~bits
        return taken

    def give_back(self, taken: Mapping[str, int]) -> None:
        """Free cores, given as bits of each host."""
        for host, bits in taken.items():
            self.free[host] |= bits

    def intervals(self, taken: Mapping[str, int]) -> Intervals:
        """Return cores, given as bits of each host, as intervals of Batsim's numbers."""
        return merged(pair for host, bits in taken.items() for pair in bit_intervals(bits, self.machines.first[host]))


def with_resources(rows: Sequence[JobRow], machines: Machines) -> list[JobRow]:
    """Return the rows with `allocated_resources`, the numbers of the job's cores; `allocated_hosts` is unchanged.

    A host that is not among the machines gets no numbers (a user's own slurm.conf may list such hosts).
    """
    allocator = _Allocator(machines)
    events: list[tuple[float, int, int]] = []
    for index, row in enumerate(rows):
        if row.starting_time is not None and row.finish_time is not None:
            events.append((row.starting_time, STARTS, index))
            if row.finish_time > row.starting_time:
                events.append((row.finish_time, ENDS, index))
    taken: dict[int, dict[str, int]] = {}
    texts: dict[int, str] = {}
    for _, kind, index in sorted(events):
        if kind == ENDS:
            allocator.give_back(taken.pop(index))
            continue
        row = rows[index]
        bits = allocator.take(_known_hosts(row.allocated_hosts, machines), row.allocated_cores)
        texts[index] = intervals_text(allocator.intervals(bits))
        taken[index] = bits
        if row.finish_time == row.starting_time:
            allocator.give_back(taken.pop(index))
    return [replace(row, allocated_resources=texts.get(index, "")) for index, row in enumerate(rows)]


def _known_hosts(text: str, machines: Machines) -> list[str]:
    try:
        return [name for name in expand_hosts(text) if name in machines.cores] if text else []
    except ValueError:
        return []
