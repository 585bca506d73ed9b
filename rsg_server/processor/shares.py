"""How much of a core each thread gets: weighted max-min fairness between the threads that compute on one host.

A thread runs on one core at a time, and only on those of its affinity mask. So rates x (in cores) are possible if no thread has
more than one core, and no set S of cores has more to do for the threads that may use no other core than S holds:

    x_i ≤ most_i ≤ 1        Σ x_i over the threads whose mask lies within S ≤ |S|

Whatever satisfies this can be scheduled: such rates are a bipartite graph's fractional matching, and time slices realise it. Of
all such rates the fair ones are chosen: a common level u rises, x_i = min(most_i, weight_i · u), until some set S is full; its
threads keep what they have, its cores are taken out of the masks of all others, and u rises on for these.

Linux's fair scheduler shares one run queue by weight, and balances its run queues in time; this is what it tends to, without
its granularity (sched(7)). What Linux does besides is not modelled: caches, wake-up preemption, autogroups, hyperthreads.
"""

from __future__ import annotations

WEIGHTS = (
    *(88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916),
    *(9548, 7620, 6100, 4904, 3906, 3121, 2501, 1991, 1586, 1277),
    *(1024, 820, 655, 526, 423, 335, 272, 215, 172, 137),
    *(110, 87, 70, 56, 45, 36, 29, 23, 18, 15),
)
"""Weight of each nice value from -20 to 19: `sched_prio_to_weight` of kernel/sched/core.c in Linux."""
LEAST_NICE = -20
SETS_MAX = 512
"""So many sets of cores are looked at; more need masks that overlap in many ways. Beyond that, only whole components count,
and a set between them may be given more than it has."""

Demand = tuple[float, int, int, float]
"""(weight, affinity mask, how many threads have these, the part of a core that each has at most: 1 but for bounded ones)."""


def weight(nice: int) -> int:
    """The weight of a nice value; beyond the ends that of the end."""
    return WEIGHTS[min(max(nice - LEAST_NICE, 0), len(WEIGHTS) - 1)]


def shares(demands: list[Demand]) -> list[float]:
    """The part of a core that each thread of each demand gets. No mask is empty; their order does not matter."""
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
    """The set of cores that is full first as the level rises, and at which level; no cores if none is ever full."""
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
    """The level at which threads that want more than `size` cores use these; those with much weight have their most first."""
    limited = sorted(members, key=_limit)
    total, room = sum(weight * count for weight, _, count, _ in limited), float(size)
    for weight, _, count, most in limited:
        if weight * room <= total * most:
            break
        total -= weight * count
        room -= most * count
    return room / total


def _limit(member: Demand) -> tuple[float, int]:
    """The level at which threads have all that they may have."""
    return member[3] / member[0], member[2]


def _unions(masks: list[int]) -> list[int]:
    """All masks, and the unions of masks that overlap: a set that is full first is one of these."""
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
    """The unions of masks that are connected by overlaps; they are disjoint."""
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
