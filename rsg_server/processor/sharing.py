"""Computes when each of the executions that share the cores of one host is done.

The model is SimGrid's CPU model (Cas01): an execution uses one core at most, and each of n executions with equal rights
on a host of C cores of S flop/s gets

    S · min(1, C / n)  flop/s.

If the executions have weights (nice values) and affinity masks, shares.py computes which part of a core each gets; if
they have accounts (cgroups), accounts.py does. Executions of one weight, mask and account have one rate. So a group of
such executions stores one number, its *service*: the flops that each execution of the group has got since the group was
last empty. Each execution stores the service at which it is done.

*Guests* use cores as well, but other code computes when they are done: they are the executions of Remote SimGrid, whose
dates are finer than nanoseconds (rsg_server/rsg/cores.py).

This file has no clock: callers pass how many nanoseconds have passed, which may be fractions.
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
"""A guest: (weight, the most part of a core that it may have)."""


class Execution:
    """Flops that an actor computes, with a weight, on the cores of a mask, for the account of its cgroup if it has one.

    While the execution runs, `done_at` is the group's service at its end. While it does not run, `left` is the number
    of missing flops.
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
        """The key of the group to which the execution belongs: all executions of a group have the same rate."""
        return (self.weight, self.mask, 0 if self.account is None else self.account.number)

    def __repr__(self) -> str:
        return f"execution of {self.owner!r}, {self.left:.0f} flops left"


class Group:
    """The executions of one weight, mask and account, which all have the same rate."""

    def __init__(self, account: Account | None = None) -> None:
        self.account = account
        # a heap by done_at; of executions with equal done_at, the one that was started first comes first
        self.queue: list[tuple[float, int, Execution]] = []
        self.running = 0
        self.service = 0.0
        self.rate_flops = 0.0

    def first(self) -> Execution | None:
        """The execution that is done first; None if there is none."""
        while self.queue and not self._is_valid(self.queue[0]):
            heapq.heappop(self.queue)
        return self.queue[0][2] if self.queue else None

    @staticmethod
    def _is_valid(entry: tuple[float, int, Execution]) -> bool:
        return entry[2].runs and entry[2].started == entry[1]

    def until_ns(self, execution: Execution) -> float:
        """Return the time (ns) until an execution of the group is done at the present rate."""
        return max(0.0, (execution.done_at - self.service) * NS / self.rate_flops) if self.rate_flops else FOREVER_NS

    def add(self, execution: Execution) -> None:
        """Add an execution, which computes from now on."""
        self.running += 1
        execution.runs = True
        execution.done_at = self.service + execution.left
        heapq.heappush(self.queue, (execution.done_at, execution.started, execution))

    def remove(self, execution: Execution) -> None:
        """Remove an execution, which computes no longer."""
        self.running -= 1
        execution.runs = False
        execution.left = max(0.0, execution.done_at - self.service)


class Sharing:
    """The executions on the cores of one host, and the rate of each."""

    def __init__(self, cores: int, speed_flops: float) -> None:
        self.every_core = (1 << cores) - 1
        self._speed_flops = speed_flops
        self._groups: dict[tuple[int, int, int], Group] = {}
        self._accounts: list[Account] = []  # the accounts of the executions that compute now
        self._started = 0
        self._guests: Sequence[Guest] = ()
        self._guests_cores = 0.0
        self.running = 0  # the number of executions that compute, or wait for a core
        self.shape: Shape = ()

    def rate_flops(self, execution: Execution) -> float:
        """Return the rate of a running execution, in flop/s."""
        return self._groups[execution.key].rate_flops

    @property
    def own_cores(self) -> float:
        """The number of cores that the executions use together."""
        used = sum(group.rate_flops * group.running for group in self._groups.values())
        return used / self._speed_flops if used else 0.0

    @property
    def used_cores(self) -> float:
        """The number of cores that the executions and the guests use together."""
        return self.own_cores + self._guests_cores

    @property
    def wanting(self) -> int:
        """The number of executions and guests that compute, or wait for a core."""
        return self.running + len(self._guests)

    def share_with(self, guests: Sequence[Guest]) -> None:
        """Set the guests that use cores from now on, each on any core."""
        self._guests = guests
        self._share()

    def change_speed(self, speed_flops: float) -> None:
        """Set the speed of each core, in flop/s, from now on."""
        self._speed_flops = speed_flops
        self._share()

    def start(self, execution: Execution) -> None:
        """Start an execution now."""
        self._started += 1
        execution.started = self._started
        group = self._groups.get(execution.key)
        if group is None:
            group = self._groups[execution.key] = Group(execution.account)
        group.add(execution)
        self._share()

    def stop(self, execution: Execution) -> None:
        """Stop an execution; its `left` is then the number of flops that have not been computed."""
        if execution.runs:
            self._remove(execution)
            self._share()

    def _remove(self, execution: Execution) -> None:
        key = execution.key
        group = self._groups[key]
        group.remove(execution)
        # no execution refers to the service any more, so the service begins at 0 again, where floating point is most
        # exact
        if not group.running:
            del self._groups[key]

    def _share(self) -> None:
        # summed in a fixed order, so that the order of the starts has no influence, not even on the last bit
        keys = sorted(self._groups)
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
        """Compute the rates anew, because an account has another weight or quota."""
        self._share()

    def advance(self, elapsed_ns: float) -> None:
        """Let some ns pass, at most until the first execution is done.

        A time that was rounded up to whole nanoseconds may lie slightly after the end of that execution.
        """
        for group in self._groups.values():
            group.service += group.rate_flops * elapsed_ns / NS
        for account in self._accounts:
            account.active_ns += elapsed_ns
            if account.is_bounded:
                account.bounded_ns += elapsed_ns

    def first(self) -> Execution | None:
        """Return the execution that is done first, unless others start or stop; of several the one that was started first."""
        found: tuple[float, int, Execution] | None = None
        for group in self._groups.values():
            execution = group.first()
            assert execution is not None
            entry = (group.until_ns(execution), execution.started, execution)
            if found is None or entry < found:
                found = entry
        return found[2] if found is not None else None

    def until_ns(self, execution: Execution) -> float:
        """Return the time (ns) until the first running execution is done, unless others start or stop."""
        return self._groups[execution.key].until_ns(execution)

    def finish(self, first: Execution, slack_ns: float = 1.0) -> list[Execution]:
        """End the first execution, whose time has come, and all that need less than `slack_ns` more. Return them by
        their starts.

        The first execution ends whatever the rounding of its last bits, so that time always goes on.
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
