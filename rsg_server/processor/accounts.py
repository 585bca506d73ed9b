"""Shares of groups of threads (cpu.weight and cpu.max of cgroups(7)): turns a tree of groups into threads' weights and bounds.

A group has siblings: the other computing groups of the group above, and the threads directly in that one. A group's
weight counts among those of its siblings. A thread's weight, seen from the root, is the product of the parts that the
thread, and each group above it, have of the weights of their siblings. A quota bounds the cores that all threads of a
group, and of the groups below it, get together. The quota holds at each moment; in Linux a group can use up its quota,
and then stands still until the period is over.
"""

from __future__ import annotations

from collections.abc import Sequence

from rsg_server.processor.shares import Demand, shares

NO_QUOTA = -1.0
_SLACK = 1e-9


class Account:
    """A group of threads: weight (1024: that of a thread of nice 0), quota in cores, and for how long it has computed
    or been bounded.
    """

    __slots__ = ("active_ns", "bounded_ns", "is_bounded", "number", "parent", "quota", "weight")

    def __init__(self, number: int, parent: Account | None, weight: float = 1024.0, quota: float = NO_QUOTA) -> None:
        self.number = number
        self.parent = parent
        self.weight = weight
        self.quota = quota
        self.active_ns = 0.0
        self.bounded_ns = 0.0
        self.is_bounded = False

    def up(self) -> list[Account]:
        """Return this account, then the accounts above it."""
        found, account = [self], self.parent
        while account is not None:
            found.append(account)
            account = account.parent
        return found


def shares_of_groups(demands: Sequence[Demand], accounts: Sequence[Account | None]) -> list[float]:
    """Return the part of a core that each thread of each demand gets.

    `accounts` has the group of each demand, at the same place; None: no group.
    """
    weights = _weights(demands, accounts)
    bounded = [(weights[at], mask, count, most) for at, (_, mask, count, most) in enumerate(demands)]
    members: dict[int, tuple[Account, list[int]]] = {}
    for at, account in enumerate(accounts):
        for above in account.up() if account is not None else ():
            above.is_bounded = False
            if above.quota >= 0.0:
                members.setdefault(above.number, (above, []))[1].append(at)
    rates = shares(bounded)
    while (over := _most_over(bounded, rates, members)) is not None:
        account, places = members[over]
        account.is_bounded = True
        total = sum(rates[at] * demands[at][2] for at in places)
        for at in places:
            weight, mask, count, most = bounded[at]
            bounded[at] = (weight, mask, count, min(most, rates[at] * account.quota / total))
        rates = shares(bounded)
    return rates


def _most_over(demands: Sequence[Demand], rates: Sequence[float], members: dict[int, tuple[Account, list[int]]]) -> int | None:
    """Return the place of the group that exceeds its quota most, as a multiple of it; None if no group exceeds its quota."""
    worst, found = 1.0 + _SLACK, None
    for number, (account, places) in sorted(members.items()):
        total = sum(rates[at] * demands[at][2] for at in places)
        times = total / account.quota if account.quota > 0.0 else (2.0 / _SLACK if total > 0.0 else 0.0)
        if times > worst:
            worst, found = times, number
    return found


def _weights(demands: Sequence[Demand], accounts: Sequence[Account | None]) -> list[float]:
    """Return the weights of threads, seen from the root of the groups."""
    totals: dict[int, float] = {}  # by account, 0 for the root: the sum of the weights of what computes directly in it
    counted: set[int] = set()
    for (weight, _, count, _), account in zip(demands, accounts, strict=True):
        totals[_number(account)] = totals.get(_number(account), 0.0) + weight * count
        for above in account.up() if account is not None else ():
            if above.number not in counted:
                counted.add(above.number)
                totals[_number(above.parent)] = totals.get(_number(above.parent), 0.0) + above.weight
    found = []
    for (weight, _, _, _), account in zip(demands, accounts, strict=True):
        part = weight / totals[_number(account)]
        for above in account.up() if account is not None else ():
            part *= above.weight / totals[_number(above.parent)]
        found.append(part)
    return found


def _number(account: Account | None) -> int:
    return 0 if account is None else account.number
