"""Python's collector of cyclic garbage, which would look at the whole emulation again and again, for little of that kind."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = (50_000, 20, 100)


@contextmanager
def collected_seldom() -> Iterator[None]:
    """What is there now is never looked at, what comes is looked at when there is much of it; afterwards all is as before."""
    thresholds = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*SELDOM)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
