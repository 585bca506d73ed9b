"""Metrics of a window against a worked example."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from simunix.metrics.jobs import job_table
from simunix.metrics.replay import slowdowns_within, steady_state, waits_within

# submission, start, finish, processors, state; the window is [100, 200)
ROWS = (
    (0, 40, 150, 8, "COMPLETED"),  # of the context: holds 8 of 16 processors for half of the window
    (100, 100, 110, 4, "COMPLETED"),
    (100, 120, 140, 4, "COMPLETED"),
    (110, 180, 230, 4, "COMPLETED"),  # started, not ended
    (120, 200, 260, 4, "COMPLETED"),  # not started
    (130, 190, 200, 2, "CANCELLED"),  # started, and cancelled
    (140, None, None, 2, "CANCELLED"),
)


@pytest.fixture
def jobs() -> pd.DataFrame:
    columns = ["submission_time", "starting_time", "finish_time", "requested_number_of_resources", "final_state"]
    return job_table(pd.DataFrame(ROWS, columns=columns))


def test_worked_example(jobs: pd.DataFrame) -> None:
    found = steady_state(jobs, jobs[1:], 100, 200, 16)
    assert found["jobs"] == 6
    assert found["launched"] == pytest.approx(4 / 6)
    assert found["completed"] == pytest.approx(2 / 6)
    held = 8 * 50 + 4 * 10 + 4 * 20 + 4 * 20 + 2 * 10
    assert found["utilisation"] == pytest.approx(held / (16 * 100))
    assert waits_within(jobs[1:], 200).tolist() == [0, 20, 70, np.inf, 60, np.inf]
    assert slowdowns_within(jobs[1:], 200).tolist() == [1, 2, np.inf, np.inf, np.inf, np.inf]
    assert found["median of wait"] == 70
    assert found["largest finite wait"] == 70
    assert found["median of slowdown"] == np.inf
    assert found["largest finite slowdown"] == 2


def test_nothing_to_say(jobs: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="at least one job"):
        steady_state(jobs, jobs[:0], 0, 1, 16)
