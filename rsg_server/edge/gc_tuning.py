"""Python's collector of cyclic garbage, tuned: it would look at the whole emulation again and again, and find little."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 20, 100)
"""Thresholds of gc.set_threshold: new objects, collections of the first and of the second generation."""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Never look at the objects that exist, look at new ones when there are many, and restore the collector at the end."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
