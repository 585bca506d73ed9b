"""Weighted max-min sharing in the plainest way: the mathematics of csrc/network/maxmin.h, for comparison with the C."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

INFINITE = float("inf")


@dataclass(frozen=True)
class Pipe:
    """A link: what it carries together, or, if fat, for each user."""

    capacity: float
    is_fat: bool = False


@dataclass(frozen=True)
class Use:
    """A variable: weight by link, penalty, bound."""

    weights: tuple[tuple[int, float], ...]
    penalty: float = 1.0
    bound: float = INFINITE


def share(pipes: Sequence[Pipe], uses: Sequence[Use]) -> list[float]:
    """The rate of each variable: raise a common level, and stop whoever meets a limit or a full link."""
    limited = [
        replace(use, bound=min([use.bound, *(pipes[link].capacity / weight for link, weight in use.weights)])) for use in uses
    ]
    rates: dict[int, float] = {}
    while len(rates) < len(limited):
        rising = [number for number in range(len(limited)) if number not in rates]
        levels: list[tuple[float, list[int]]] = [
            (limited[number].bound * limited[number].penalty, [number]) for number in rising
        ]
        for link, pipe in enumerate(pipes):
            users = [number for number in rising if link in dict(limited[number].weights)]
            if users and not pipe.is_fat:
                taken = sum(rates[number] * dict(limited[number].weights).get(link, 0.0) for number in rates)
                pull = sum(dict(limited[number].weights)[link] / limited[number].penalty for number in users)
                levels.append((max(0.0, pipe.capacity - taken) / pull, users))
        level, stopped = min(levels)
        for number in stopped:
            rates[number] = min(level / limited[number].penalty, limited[number].bound)
    return [rates[number] for number in range(len(limited))]
