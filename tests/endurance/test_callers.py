"""Under each condition of the caller, one digest; `python -m tests.endurance.callers` has them in rounds."""

from __future__ import annotations

import functools

import pytest

from tests.endurance.callers import CONDITIONS, Seen, difference, seen


@functools.cache
def usual() -> Seen:
    """The run of a usual caller."""
    return seen("usual")


@pytest.mark.slow
@pytest.mark.parametrize("name", CONDITIONS)
def test_the_caller_decides_nothing(name: str) -> None:
    assert difference(name, usual()) == ""
    assert usual().is_deterministic
