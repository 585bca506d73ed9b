"""Some runs under random signals; `python -m tests.endurance.kills` has as many as there is time for."""

from __future__ import annotations

import pytest

from tests.endurance.kills import torture


@pytest.mark.endurance
@pytest.mark.parametrize("seed", [1])
def test_random_signals(seed: int) -> None:
    tally, wrong = torture(600, seed, count=12)
    assert tally["runs"] == 12
    assert not wrong
