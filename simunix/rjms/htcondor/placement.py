"""How many nodes a job needs, and how many cores on each: HTCondor does not divide the cores of a job among nodes itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rsg_server.errors import SimunixError


@dataclass(frozen=True, slots=True)
class Shape:
    """So many slots with so many cores each; one slot is an ordinary job, several are one of the parallel universe."""

    slots: int
    cores: int


def shape(cores: int, nodes: Sequence[int], where: str) -> Shape:
    """Return the fewest slots that hold `cores`, all of one size, on nodes that have so many cores.

    Slots are equal, so that a job may get some cores more than it asks for: 17 cores on nodes of 16 are 2 slots of 9.
    Raises SimunixError, led by `where`, for a job that is larger than the pool.
    """
    for size in range(min(cores, max(nodes)), 0, -1):
        slots = -(-cores // size)
        if sum(node // size for node in nodes) >= slots:
            return Shape(slots, -(-cores // slots))
    raise SimunixError(f"{where}: {cores} cores, but all nodes together have {sum(nodes)}")
