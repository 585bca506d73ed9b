"""Applications of several processes: where a storage is fair per application, Vidal's answers hold as for one process each."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.io.reference import Phases
from tests.system.io.runs import Instance, ends
from tests.system.io.test_vidal_exact import DISSIMILAR, HRR_COUNTS, HRR_EXAMPLE, periodic

pytestmark = pytest.mark.slow
F = Fraction
FLOWS = (4, 1, 2, 5, 1)
"""The processes of the first, the second … application."""
FAIR: dict[str, tuple[list[Phases], list[int]]] = {
    "E1": ([[(F(0), F(1))], [(F(1, 100), F(1, 100)), (F(1), F(0))]], []),
    "E4": ([periodic(4, 2, 10)] * 2, [80, 80]),
    "E4 of four": ([periodic(2, 2, 5)] * 4, [50] * 4),
    "E5": ([periodic(3, 2, 1)] * 2, [7, 7]),
    "E6": (DISSIMILAR, [125, 125]),
}
"""Applications, and the seconds after which each ends under fair sharing; E1's are 1 + ε and 1 + 3 ε."""


def test_an_application_of_many_flows_has_one_share(simunix: Simunix, tmp_path: Path) -> None:
    instances = [Instance(applications, None, flows=FLOWS) for applications, _ in FAIR.values()]
    instances.append(Instance(HRR_EXAMPLE, None, flows=FLOWS))
    found = ends(simunix, tmp_path, instances, fair_per="application")
    expected = [[F(101, 100), F(103, 100)], *(times for _, times in list(FAIR.values())[1:])]
    for name, times, values in zip(FAIR, found, expected, strict=False):
        for time, value in zip(times, values, strict=True):
            assert abs(time - value) <= F(1, 10**6), (name, [float(each) for each in times])
    assert abs(max(found[-1]) - (F("2.5") * max(HRR_COUNTS) + sum(HRR_COUNTS))) <= F(1, 10**6)  # E2 and E3: 23


def test_else_its_flows_take_more_than_that(simunix: Simunix, tmp_path: Path) -> None:
    """Four processes beside one have 4/5 of the disk: 2 kB take 2.5 s, and the other application has the disk then."""
    once = [periodic(3, 2, 1)] * 2
    (times,) = ends(simunix, tmp_path, [Instance(once, None, flows=(4, 1))])
    assert [float(time) for time in times] == pytest.approx([5.5, 7.0], abs=1e-6)
