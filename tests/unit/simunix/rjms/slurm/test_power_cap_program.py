"""The program beside slurmctld that keeps power caps: its arithmetic, without a Slurm."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from simunix.rjms.slurm.power.guest.power_cap import Controller, excess, limit_s


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5:00", 300), ("1:00:01", 3601), ("2-03:00:00", 2 * 86400 + 3 * 3600), ("UNLIMITED", math.inf), ("0:30", 30)],
)
def test_time_limits_as_squeue_writes_them(text: str, seconds: float) -> None:
    assert limit_s(text) == seconds


def test_joules_above_a_power_limit() -> None:
    running = [(200.0, 10.0), (100.0, 30.0)]
    assert excess(running, 50, 150, 100) == (350 - 150) * 10 + 0 * 20
    assert excess(running, 50, 100, 100) == (350 - 100) * 10 + (150 - 100) * 20
    assert excess(running, 50, 100, 20) == (350 - 100) * 10 + (150 - 100) * 10  # what is behind the end does not count
    assert excess([], 50, 100, 100) == 0


def plan(**more: Any) -> dict[str, Any]:
    now = time.time()
    cap = {"name": "c", "announced": now - 10, "start": now + 1000, "end": now + 2000, "licenses": 500, "each": 150, "off": ""}
    states = [[241, 2.7e9], [152, 2.0e9], [76, 1.35e9]]
    return {"caps": [cap], "total": 2410, "states": states, "margin": 60, "interval": 30, "is_even": False, **more}


def test_a_job_gets_the_fastest_power_state_that_fits() -> None:
    controller = Controller(plan())
    assert controller.fitting(("1", 2, 600.0, 482), 0) == (482, 600)  # over before the cap begins
    assert controller.fitting(("2", 2, 3600.0, 482), 0) == (482, 3600)
    assert controller.fitting(("3", 2, 3600.0, 482), 100) == (304, pytest.approx(3600 * 2.7 / 2.0))
    assert controller.fitting(("3", 2, 4860.0, 304), 0) == (482, pytest.approx(3600))  # lowered before, with more time
    assert controller.fitting(("4", 2, 3600.0, 482), 350) is None
    assert controller.fitting(("5", 2, math.inf, 482), 300) == (152, math.inf)


def test_even_frequencies_do_not_depend_on_what_runs() -> None:
    controller = Controller(plan(is_even=True))
    assert controller.fitting(("1", 2, 3600.0, 482), 400) == (152, 7200)
    assert controller.fitting(("2", 2, 600.0, 482), 400) == (482, 600)
