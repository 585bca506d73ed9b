"""What Vidal's applications take on an ideal disk, computed by a few lines of exact arithmetic that share no code with simunix.

An application is a list of phases (seconds of computing, seconds of I/O on the disk alone); applications are numbered from 1
on. All begin at 0, computing is unbounded, and of things that happen at one moment all are known before the disk is granted.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate

Phases = Sequence[tuple[Fraction, Fraction]]


@dataclass(eq=False)
class State:
    """An application on its way."""

    number: int
    phases: Phases
    at: int = 0
    requested: Fraction = Fraction(0)
    computed: Fraction = Fraction(0)
    written: Fraction = Fraction(0)
    end: Fraction | None = None
    left: list[Fraction] = field(default_factory=list)  # what it has to do alone from each phase on

    def __post_init__(self) -> None:
        self.left = [*accumulate(a + b for a, b in reversed(self.phases))][::-1]

    @property
    def volume(self) -> Fraction:
        """Of the phase that it is in."""
        return self.phases[self.at][1]

    @property
    def remaining(self) -> Fraction:
        """What it had to do alone when its last phase was over."""
        return self.left[self.at]


Key = Callable[[State, Fraction], Fraction | int]
POLICIES: dict[str, Key] = {
    "lowest-id": lambda state, now: 0,
    "longest-io": lambda state, now: -state.volume,
    "shortest-io": lambda state, now: state.volume,
    "shortest-remaining": lambda state, now: state.remaining,
    "longest-remaining": lambda state, now: -state.remaining,
    "fifo": lambda state, now: state.requested,
    "bandwidth": lambda state, now: state.written / now if now else 0,
    "stretch": lambda state, now: -now / (state.computed + state.written) if now else -1,
}


def exclusive(applications: Sequence[Phases], policy: str | Key) -> list[Fraction]:
    """When each application ends, if one has the disk at a time; of equals the lowest number is first."""
    key = POLICIES[policy] if isinstance(policy, str) else policy
    events: list[tuple[Fraction, int, bool, State]] = []
    waiting: list[State] = []
    states = [State(number, phases) for number, phases in enumerate(applications, 1)]
    is_busy = False

    def begin(state: State, now: Fraction) -> None:
        """Compute; a phase without I/O is followed by the next one at once."""
        while state.at < len(state.phases):
            computing, writing = state.phases[state.at]
            now += computing
            state.computed += computing
            if writing:
                heapq.heappush(events, (now, state.number, False, state))
                return
            state.at += 1
        state.end = now

    for state in states:
        begin(state, Fraction(0))
    while events:
        now = events[0][0]
        while events and events[0][0] == now:
            _, _, has_written, state = heapq.heappop(events)
            if has_written:
                is_busy = False
                state.written += state.volume
                state.at += 1
                begin(state, now)
            else:
                state.requested = now
                waiting.append(state)
        if waiting and not is_busy:
            chosen = min(waiting, key=lambda state: (key(state, now), state.number))
            waiting.remove(chosen)
            heapq.heappush(events, (now + chosen.volume, chosen.number, True, chosen))
            is_busy = True
    return [state.end for state in states if state.end is not None]


@dataclass(eq=False)
class Sharer:
    """An application that computes or writes: what is left of that."""

    phases: Phases
    at: int = 0
    is_writing: bool = False
    left: Fraction = Fraction(0)
    end: Fraction = field(default=Fraction(0))

    def proceed(self, now: Fraction) -> None:
        """Go on to the next thing that takes time."""
        while not self.left:
            if self.is_writing:
                self.at += 1
            self.is_writing = not self.is_writing
            if self.at == len(self.phases):
                self.end = now
                return
            self.left = self.phases[self.at][self.is_writing]


def shared(applications: Sequence[Phases]) -> list[Fraction]:
    """When each application ends, if all that write have an equal share of the disk."""
    states = [Sharer(phases, left=phases[0][0]) for phases in applications]
    now = Fraction(0)
    while True:
        for state in states:
            if state.at < len(state.phases):
                state.proceed(now)
        alive = [state for state in states if state.at < len(state.phases)]
        if not alive:
            return [state.end for state in states]
        share = Fraction(1, max(1, sum(state.is_writing for state in alive)))
        step = min(state.left / (share if state.is_writing else 1) for state in alive)
        now += step
        for state in alive:
            state.left -= step * (share if state.is_writing else 1)


def hrr(a: Fraction, b: Fraction, counts: Sequence[int]) -> Fraction:
    """Makespan of hierarchical round robin on a UNIFORM instance (theorem 2, with the floor that II.D.3 leaves out)."""
    n, m = max(counts), counts.count(max(counts))
    q, r = divmod(sum(counts) - m, n - 1)
    return a + m * b + (n - 1 - r) * max(a + b, q * b) + r * max(a + b, (q + 1) * b)


def hrr_orders(counts: Sequence[int]) -> list[list[int]]:
    """The place of each phase of each application in the schedule, from 0 on.

    The last round has one phase of each of the longest applications; all others wrap around, the longest first.
    """
    n, begin = max(counts), 0
    rounds: list[list[int]] = [[] for _ in counts]
    longest_first = sorted(range(len(counts)), key=lambda index: -counts[index])
    for index in longest_first:
        size = counts[index] - (counts[index] == n)
        rounds[index] = sorted((begin + step) % (n - 1) for step in range(size)) + [n - 1] * (counts[index] == n)
        begin = (begin + size) % (n - 1)
    places = sorted((number, rank, index) for rank, index in enumerate(longest_first) for number in rounds[index])
    orders: list[list[int]] = [[] for _ in counts]
    for order, (_, _, index) in enumerate(places):
        orders[index].append(order)
    return orders
