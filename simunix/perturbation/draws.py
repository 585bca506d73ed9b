"""Random numbers by name: the number for a job depends on the seed, the kind of number and the job's number, and on
nothing else.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

BITS = 53
"""The number of random bits of a uniform number: those of a float's mantissa."""


@dataclass(frozen=True, slots=True)
class Draws:
    """The random numbers of one kind.

    Equal seed, kind and key give an equal number, whatever other numbers are drawn, and in whatever order.
    """

    seed: int
    kind: str

    def number(self, key: object) -> int:
        """Return 64 random bits: BLAKE2b (RFC 7693) of seed, kind and key."""
        text = f"{self.seed}\0{self.kind}\0{key}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")

    def uniform(self, key: object) -> float:
        """Return a number between 0 and 1, both excluded, evenly distributed."""
        return ((self.number(key) >> (64 - BITS)) + 0.5) / (1 << BITS)

    def exponential(self, key: object, mean: float) -> float:
        """Return a number above 0, exponentially distributed."""
        return -mean * math.log(self.uniform(key))

    def factor(self, key: object, spread: float) -> float:
        """Return a factor above 0 with mean 1 and the standard deviation `spread`, lognormally distributed.

        The underlying normal distribution has the variance v = ln(1 + spread²) and the mean −v / 2.
        """
        variance = math.log1p(spread * spread)
        return math.exp(math.sqrt(variance) * _normal(self.uniform(key)) - variance / 2)


def _normal(probability: float) -> float:
    # imported here, since the import takes some milliseconds, and only perturbed runs need it
    from statistics import NormalDist

    return NormalDist().inv_cdf(probability)
