"""Delta debugging: finds a smallest part of a list that still has the property of the whole list.

Zeller, Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28 (2002), algorithm ddmin, but
several tests of one round are made at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Holds = Callable[[list[list[Item]]], list[Item] | None]
"""A function that returns the first of the candidates, in their order, that still has the property, perhaps made
smaller by the test; None if no candidate has it.
"""


def shrink(items: Sequence[Item], holds: Holds[Item]) -> list[Item]:
    """Return a part of `items` from which no single element can be left out, as far as `holds` has had the time to
    test. The whole list `items` must have the property. The result of `holds` replaces the candidate, so a test may
    leave out more elements than it was asked to.
    """
    whole = list(items)
    if not whole:
        return whole
    none = holds([[]])
    if none is not None:
        return none
    parts = 2
    while len(whole) >= 2:
        size = -(-len(whole) // parts)
        chunks = [whole[begin : begin + size] for begin in range(0, len(whole), size)]
        without = [[item for other in chunks if other is not chunk for item in other] for chunk in chunks]
        candidates = [*chunks, *without] if len(chunks) > 2 else chunks
        smaller = holds([each for each in candidates if len(each) < len(whole)])
        if smaller is not None and len(smaller) < len(whole):
            parts = max(min(parts - 1, len(smaller)), 2)
            whole = smaller
        elif size == 1:
            break
        else:
            parts = min(parts * 2, len(whole))
    return whole
