"""Executions that share the cores of one host: when is which of them done?

The model is SimGrid's CPU model (Cas01): an execution uses one core at most, and each of n executions with equal rights on a
host of C cores of S flop/s gets

    S · min(1, C / n)  flop/s.

With weights (nice) and affinity masks, shares.py says which part of a core each gets, with accounts (cgroups) accounts.py.
Executions of one weight, mask and account have one rate, so such a group keeps one number, its *service*: the flops that each
of its executions has got since the group was last empty. Each execution keeps the service at which it is done.

*Guests* take cores as well, but somebody else keeps their books: the executions of Remote SimGrid, whose dates are finer than
nanoseconds (rsg_server/rsg/cores.py).

Time is given from outside, as a duration in nanoseconds, whole or not: there is no clock here.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from rsg_server.processor.accounts import Account, shares_of_groups
from rsg_server.processor.load import Shape
from rsg_server.processor.shares import Demand, shares

NS = 10**9
FOREVER_NS = float(1 << 63)
Guest = tuple[float, float]
"""(weight, the part of a core that the guest has at most)."""


class Execution:
    """Flops that somebody computes, with a weight, on the cores of a mask, for an account if its cgroup has one.

    `done_at`, the group's service at the end, is valid while the execution runs; `left` while it does not.
    """

    __slots__ = ("account", "done_at", "left", "mask", "owner", "runs", "started", "weight")

    def __init__(self, owner: object, flops: float, weight: int, mask: int, account: Account | None = None) -> None:
        self.account = account
        self.owner = owner
        self.left = flops
        self.weight = weight
        self.mask = mask
        self.done_at = 0.0
        self.started = 0
        self.runs = False

    @property
    def key(self) -> tuple[int, int, int]:
        """What executions of one rate have in common."""
        return (self.weight, self.mask, 0 if self.account is None else self.account.number)

    def __repr__(self) -> str:
        return f"execution of {self.owner!r}, {self.left:.0f} flops left"


class Group:
    """The executions of one weight, mask and account: all have the same rate."""

    def __init__(self, account: Account | None = None) -> None:
        self.account = account
        self.queue: list[tuple[float, int, Execution]] = []  # heap by done_at; ties in the order of the starts
        self.running = 0
        self.service = 0.0
        self.rate_flops = 0.0

    def first(self) -> Execution | None:
        """The execution that is done first."""
        while self.queue and not self._is_valid(self.queue[0]):
            heapq.heappop(self.queue)
        return self.queue[0][2] if self.queue else None

    @staticmethod
    def _is_valid(entry: tuple[float, int, Execution]) -> bool:
        return entry[2].runs and entry[2].started == entry[1]

    def until_ns(self, execution: Execution) -> float:
        """The time until an execution is done, at the present rate."""
        return max(0.0, (execution.done_at - self.service) * NS / self.rate_flops) if self.rate_flops else FOREVER_NS

    def add(self, execution: Execution) -> None:
        """Run an execution from now on."""
        self.running += 1
        execution.runs = True
        execution.done_at = self.service + execution.left
        heapq.heappush(self.queue, (execution.done_at, execution.started, execution))

    def remove(self, execution: Execution) -> None:
        """Run an execution no longer."""
        self.running -= 1
        execution.runs = False
        execution.left = max(0.0, execution.done_at - self.service)


class Sharing:
    """The cores of one host, and the executions on them."""

    def __init__(self, cores: int, speed_flops: float) -> None:
        self.every_core = (1 << cores) - 1
        self._speed_flops = speed_flops
        self._groups: dict[tuple[int, int, int], Group] = {}
        self._accounts: list[Account] = []  # those for which something computes now
        self._started = 0
        self._guests: Sequence[Guest] = ()
        self._guests_cores = 0.0
        self.running = 0  # executions that compute, or wait for a core
        self.shape: Shape = ()

    def rate_flops(self, execution: Execution) -> float:
        """The rate of a running execution, flop/s."""
        return self._groups[execution.key].rate_flops

    @property
    def own_cores(self) -> float:
        """How many cores the executions use together."""
        used = sum(group.rate_flops * group.running for group in self._groups.values())
        return used / self._speed_flops if used else 0.0

    @property
    def used_cores(self) -> float:
        """How many cores the executions and the guests use together."""
        return self.own_cores + self._guests_cores

    @property
    def wanting(self) -> int:
        """How many executions and guests compute, or wait for a core."""
        return self.running + len(self._guests)

    def share_with(self, guests: Sequence[Guest]) -> None:
        """From now on these use cores, too, each on any core."""
        self._guests = guests
        self._share()

    def change_speed(self, speed_flops: float) -> None:
        """Each core computes so many flop/s from now on."""
        self._speed_flops = speed_flops
        self._share()

    def start(self, execution: Execution) -> None:
        """Run an execution from now on."""
        self._started += 1
        execution.started = self._started
        group = self._groups.get(execution.key)
        if group is None:
            group = self._groups[execution.key] = Group(execution.account)
        group.add(execution)
        self._share()

    def stop(self, execution: Execution) -> None:
        """Run an execution no longer; its `left` tells the flops that are missing."""
        if execution.runs:
            self._remove(execution)
            self._share()

    def _remove(self, execution: Execution) -> None:
        key = execution.key
        group = self._groups[key]
        group.remove(execution)
        if not group.running:  # no execution refers to the service: start again from 0, where floating point is finest
            del self._groups[key]

    def _share(self) -> None:
        keys = sorted(self._groups)  # the order of the starts must not show, not even in the last bit
        demands: list[Demand] = [(key[0], key[1], self._groups[key].running, 1.0) for key in keys]
        demands += [(weight, self.every_core, 1, most) for weight, most in self._guests]
        if any(key[2] for key in keys) or self._accounts:
            rates = self._share_by_accounts(keys, demands)
        else:
            rates = shares(demands) if demands else []
        self._guests_cores = sum(rates[len(keys) :])
        rates = rates[: len(keys)]
        for key, rate in zip(keys, rates, strict=True):
            self._groups[key].rate_flops = self._speed_flops * rate
        self.running = sum(group.running for group in self._groups.values())
        shape = [(key[1], rate * self._groups[key].running) for key, rate in zip(keys, rates, strict=True)]
        self.shape = tuple([*shape, (self.every_core, self._guests_cores)] if self._guests else shape)

    def _share_by_accounts(self, keys: list[tuple[int, int, int]], demands: list[Demand]) -> list[float]:
        owners = [self._groups[key].account for key in keys]
        found = {above.number: above for owner in owners if owner is not None for above in owner.up()}
        self._accounts = [found[number] for number in sorted(found)]
        return shares_of_groups(demands, [*owners, *([None] * len(self._guests))]) if demands else []

    def share_anew(self) -> None:
        """An account has another weight or quota from now on."""
        self._share()

    def advance(self, elapsed_ns: float) -> None:
        """Let time pass, at most until the first execution is done; what is rounded up to whole nanoseconds may be more."""
        for group in self._groups.values():
            group.service += group.rate_flops * elapsed_ns / NS
        for account in self._accounts:
            account.active_ns += elapsed_ns
            if account.is_bounded:
                account.bounded_ns += elapsed_ns

    def first(self) -> Execution | None:
        """The execution that is done first unless others start or stop before; of several the one that was started first."""
        found: tuple[float, int, Execution] | None = None
        for group in self._groups.values():
            execution = group.first()
            assert execution is not None
            entry = (group.until_ns(execution), execution.started, execution)
            if found is None or entry < found:
                found = entry
        return found[2] if found is not None else None

    def until_ns(self, execution: Execution) -> float:
        """The time until a running execution is done, unless others start or stop before."""
        return self._groups[execution.key].until_ns(execution)

    def finish(self, first: Execution, slack_ns: float = 1.0) -> list[Execution]:
        """End the first execution, whose time has come, and all that lack less than `slack_ns`; in the order of their starts.

        `first` ends however its last bits were rounded, so that time always goes on.
        """
        own = self._groups[first.key]
        own.service = max(own.service, first.done_at)
        done = []
        for group in list(self._groups.values()):
            due = group.service + group.rate_flops * slack_ns / NS
            while (execution := group.first()) is not None and execution.done_at <= due:
                self._remove(execution)
                execution.left = 0.0
                done.append(execution)
        self._share()
        return sorted(done, key=_start)


def _start(execution: Execution) -> int:
    return execution.started
