"""Computes how much of a core each thread gets, by weighted max-min fairness among the computing threads of one host.

A thread runs on one core at a time, and only on those of its affinity mask. So rates x (in cores) are possible under
two conditions. No thread has more than one core. For each set S of cores, the threads that may use only cores of S have
together at most as many cores as S has:

    x_i ≤ most_i ≤ 1        Σ x_i over the threads whose mask lies within S ≤ |S|

All rates under these conditions can be scheduled: they are a fractional matching of a bipartite graph, which time
slices realise. The fair rates among the possible ones are computed as follows. A common level u rises, with x_i =
min(most_i, weight_i · u), until some set S is full. The threads of S keep their rates, the cores of S are removed from
the masks of all other threads, and u rises further for these other threads.

Linux's fair scheduler shares one run queue by weight, and balances its run queues in time; on average, threads get the
rates that this module computes, but for the granularity of time slices (sched(7)). Caches, wake-up preemption,
autogroups and hyperthreads are not modelled.
"""

from __future__ import annotations

WEIGHTS = (
    *(88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916),
    *(9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277),
    *(1024, 820, 655, 526, 423, 335, 272, 215, 172, 137),
    *(110, 87, 70, 56, 45, 36, 29, 23, 18, 15),
)
"""The weight of each nice value from -20 to 19: `sched_prio_to_weight` of Linux's kernel/sched/core.c."""
LEAST_NICE = -20
SETS_MAX = 512
"""The most sets of cores that are examined. Only masks that overlap in many ways need more.

If there are more, only whole connected components of cores are examined, and a smaller set of cores may be given more
threads than it has time for.
"""

Demand = tuple[float, int, int, float]
"""A demand: (weight, affinity mask, number of threads that have both, the most part of a core that each may have).

The last is 1, unless the threads are bounded by a quota.
"""


def weight(nice: int) -> int:
    """Return the weight of a nice value; a value outside of -20 to 19 counts as the nearest end."""
    return WEIGHTS[min(max(nice - LEAST_NICE, 0), len(WEIGHTS) - 1)]


def shares(demands: list[Demand]) -> list[float]:
    """Return the part of a core that each thread of each demand gets.

    No mask may be empty; the order of demands does not matter.
    """
    if len(demands) == 1:
        _, mask, count, most = demands[0]
        return [min(most, mask.bit_count() / count)]
    rates = [demand[3] for demand in demands]
    left = {index: demand[1] for index, demand in enumerate(demands)}
    while left:
        level, full = _first_full(demands, left)
        if not full:
            break
        for index in [index for index, mask in left.items() if not mask & ~full]:
            rates[index] = min(demands[index][3], demands[index][0] * level)
            del left[index]
        left = {index: mask & ~full for index, mask in left.items()}
    return rates


def _first_full(demands: list[Demand], left: dict[int, int]) -> tuple[float, int]:
    """Return the level at which a set of cores is full first as the level rises, and this set; no cores if none is ever
    full.
    """
    best: tuple[float, int] = (0.0, 0)
    for cores in _unions(sorted(set(left.values()))):
        members = [demands[index] for index, mask in left.items() if not mask & ~cores]
        size = cores.bit_count()
        if sum(count * most for _, _, count, most in members) > size:
            level = _level(members, size)
            if not best[1] or (level, cores) < best:
                best = (level, cores)
    return best


def _level(members: list[Demand], size: int) -> float:
    """Return the level at which threads that want more than `size` cores together use exactly these.

    Threads with much weight reach the most that they may have first.
    """
    limited = sorted(members, key=_limit)
    total, room = sum(weight * count for weight, _, count, _ in limited), float(size)
    for weight, _, count, most in limited:
        if weight * room <= total * most:
            break
        total -= weight * count
        room -= most * count
    return room / total


def _limit(member: Demand) -> tuple[float, int]:
    """Return the level at which threads of a demand have the most that they may have, then their number, which breaks ties."""
    return member[3] / member[0], member[2]


def _unions(masks: list[int]) -> list[int]:
    """Return all masks, and the unions of masks that overlap; the set that is full first is among them."""
    found = list(masks)
    known = set(masks)
    for place, one in enumerate(found):
        for other in found[:place]:
            union = one | other
            if one & other and union not in known:
                known.add(union)
                found.append(union)
        if len(found) > SETS_MAX:
            return [*found[:SETS_MAX], *_components(masks)]
    return found


def _components(masks: list[int]) -> list[int]:
    """Return the unions of masks that are connected by overlaps; these unions are disjoint."""
    found: list[int] = []
    for mask in masks:
        joined = mask
        apart = []
        for other in found:
            if other & joined:
                joined |= other
            else:
                apart.append(other)
        found = [*apart, joined]
    return found
