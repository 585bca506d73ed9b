"""Makes Python's collector of cyclic garbage run seldom: by default it would search the whole emulation and find little."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 20, 100)
"""Thresholds of gc.set_threshold: new objects, collections of the first and of the second generation."""


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Run the body with seldom collections: existing objects are never looked at, new ones only when there are many.

    The collector is restored at the end.
    """
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
