"""Exclusive groups (chapter V of the thesis): choose which applications share a part of the disk's bandwidth, and how
large each part is.

An application reads or writes `volume` bytes every `period` seconds. Within a group, one application at a time uses the
disk, at the group's bandwidth. The bandwidths of all groups add up to the disk's. A group needs at least the sum of
volume / period of its applications.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Periodic:
    """A periodic application: `volume` is the bytes that it reads or writes in each period, `period` the seconds of a
    period.
    """

    volume: float
    period_s: float


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups as tuples of the applications' indices, the bandwidth of each group in bytes per second, and the
    objective, of which less is better.
    """

    members: tuple[tuple[int, ...], ...]
    bandwidths: tuple[float, ...]
    objective: float


def partitions(count: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield all partitions of the indices 0 … `count` − 1 into groups; members of a group, and groups, are in ascending
    order.
    """
    if not count:
        yield ()
        return
    for parts in partitions(count - 1):
        for index, part in enumerate(parts):
            yield (*parts[:index], (*part, count - 1), *parts[index + 1 :])
        yield (*parts, (count - 1,))


def divided(applications: Sequence[Periodic], members: Sequence[Sequence[int]], bandwidth: float) -> Groups | None:
    """Return these groups with the bandwidths that minimise the objective; None if the disk is too slow for the groups.

    The objective is the greatest value, over all groups, of (greatest volume / least volume) · (disk bandwidth /
    group's bandwidth). That is how many times longer than alone the smallest application waits while the greatest uses
    the disk. If no group needs its minimum bandwidth, the objective is equal for all groups: bandwidths are
    proportional to the ratios of volumes.
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
    """Return the groups with the least objective, of equal ones the first in the order of `partitions`; None if the
    disk is too slow.

    The function tries all partitions, which is feasible for up to a dozen applications.
    """
    found = [groups for members in partitions(len(applications)) if (groups := divided(applications, members, bandwidth))]
    return min(found, key=lambda groups: groups.objective) if found else None
