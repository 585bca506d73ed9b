"""The program beside slurmctld that keeps power caps: its arithmetic, without a Slurm."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest

from simunix.rjms.slurm.power.guest import power_cap
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


def test_no_job_gets_more_time_than_its_partition_allows() -> None:
    controller = Controller(plan())
    controller.longest, controller.partition_of = (
        {"short": 4000.0, "long": math.inf},
        {"1": "short", "2": "long,short", "3": "long"},
    )
    assert controller.fitting(("1", 2, 3600.0, 482), 100) is None
    assert controller.fitting(("2", 2, 3600.0, 482), 100) is None
    assert controller.fitting(("3", 2, 3600.0, 482), 100) == (304, pytest.approx(4860))


QUEUE = """\
7|4|5:00|watts:964|batch|JobHeldUser
8+0|1|5:00|watts:241|batch|None
9|2|5:00|gpu:1,watts:482|batch|Nodes required for job are DOWN, DRAINED or reserved
8+1|3|5:00|watts:723|batch|None
10|2-4|5:00|watts:482|batch|Licenses
"""


def test_jobs_that_cannot_start_are_passed_and_parts_are_one_job(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, ...]] = []
    monkeypatch.setattr(power_cap, "run", lambda *argv: said.append(argv) or QUEUE)
    controller = Controller(plan())
    assert controller.pending() == [("8", 4, 300, 964), ("9", 2, 300, 482)]
    said.clear()
    controller.change("8", 4 * 152, 600)
    controller.change("9", 2 * 152, 600)
    assert [argv[2:] for argv in said] == [
        ("JobId=8+0", "Licenses=watts:152", "TimeLimit=10"),
        ("JobId=8+1", "Licenses=watts:456", "TimeLimit=10"),
        ("JobId=9", "Licenses=watts:304", "TimeLimit=10"),
    ]
    said.clear()
    controller.limits["9"] = 240
    controller.states.insert(0, (300, 3e9))
    controller.restore()
    assert ("JobId=7", "Licenses=watts:1200", "TimeLimit=5") in [argv[2:] for argv in said]
    assert ("JobId=9", "Licenses=watts:600", "TimeLimit=4") in [argv[2:] for argv in said]
