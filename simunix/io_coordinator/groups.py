"""Exclusive groups (chapter V): which applications have the disk one after the other, and how much of it each group gets.

An application reads or writes `volume` bytes every `period` seconds. Of a group one application at a time has the disk, at the
bandwidth of the group, and the groups' bandwidths add up to the disk's. A group needs at least what its applications read and
write in the long run: the sum of volume / period.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Periodic:
    """An application: what it reads or writes each time, in bytes, and how long it is from one time to the next, in seconds."""

    volume: float
    period_s: float


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups as tuples of indices, the bandwidth of each, and the objective: the least is the best."""

    members: tuple[tuple[int, ...], ...]
    bandwidths: tuple[float, ...]
    objective: float


def partitions(count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to part 0, 1, 2 … into groups; members and groups rise."""
    if not count:
        yield ()
        return
    for parts in partitions(count - 1):
        for index, part in enumerate(parts):
            yield (*parts[:index], (*part, count - 1), *parts[index + 1 :])
        yield (*parts, (count - 1,))


def divided(applications: Sequence[Periodic], members: Sequence[Sequence[int]], bandwidth: float) -> Groups | None:
    """These groups with the bandwidths of the least objective; None if the disk is too slow for them.

    The objective is the greatest, over groups, of (greatest volume / least volume) · (bandwidth / the group's bandwidth): how
    many times longer than alone the smallest waits while the greatest has the disk. Where no group is held by its floor, all
    groups are as bad: bandwidths are as the ratios of volumes.
    """
    floors = [sum(applications[index].volume / applications[index].period_s for index in group) for group in members]
    ratios = [max(volumes) / min(volumes) for group in members if (volumes := [applications[i].volume for i in group])]
    held: set[int] = set()
    while True:
        free = [index for index in range(len(members)) if index not in held]
        left = bandwidth - sum(floors[index] for index in held)
        if left < 0 or (free and left <= 0):
            return None
        weight = sum(ratios[index] for index in free)
        shares = [floors[index] if index in held else left * ratios[index] / weight for index in range(len(members))]
        below = {index for index in free if shares[index] < floors[index]}
        if not below:
            break
        held |= below
    objective = max(ratio * bandwidth / share for ratio, share in zip(ratios, shares, strict=True))
    return Groups(tuple(tuple(group) for group in members), tuple(shares), objective)


def best_groups(applications: Sequence[Periodic], bandwidth: float) -> Groups | None:
    """The groups of the least objective, of several the first in the order of `partitions`; None if the disk is too slow.

    All ways are looked at: for a dozen applications at most.
    """
    found = [groups for members in partitions(len(applications)) if (groups := divided(applications, members, bandwidth))]
    return min(found, key=lambda groups: groups.objective) if found else None
