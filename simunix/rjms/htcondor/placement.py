"""Choose how many nodes a job gets, and how many cores on each, because HTCondor itself does not divide a job's cores
among nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rsg_server.errors import SimunixError


@dataclass(frozen=True, slots=True)
class Shape:
    """A number of slots with equal numbers of cores. One slot is an ordinary job; several slots are a job of the
    parallel universe.
    """

    slots: int
    cores: int


def shape(cores: int, nodes: Sequence[int], where: str) -> Shape:
    """Return the fewest slots of equal size that hold `cores` cores, for nodes with the given numbers of cores.

    Because slots are equal, a job may get a few cores more than it asks for: 17 cores on nodes of 16 become 2 slots of
    9. Raises SimunixError, beginning with `where`, for a job larger than the pool.
    """
    for size in range(min(cores, max(nodes)), 0, -1):
        slots = -(-cores // size)
        if sum(node // size for node in nodes) >= slots:
            return Shape(slots, -(-cores // slots))
    raise SimunixError(f"{where}: {cores} cores, but all nodes together have {sum(nodes)}")
