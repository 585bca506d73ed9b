"""SimGrid's examples, written for its Python module, print the same dates here, to twelve decimals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.system.rsg.running import HERE, PLATFORMS, script, script_in_simgrid, simgrid_is_there

EXAMPLES = sorted((HERE / "examples").glob("*.py"))
FAST = ("ping_pong", "master_workers")
OTHER_PLATFORMS = {"exec_dvfs": "energy_platform"}
"""The platform of an example that does not use SimGrid's small_platform.xml."""

NUMBER = re.compile(r"-?\d+\.\d{12}\b")
"""A date; its last decimals differ by what additions in another order round."""


@pytest.mark.skipif(not simgrid_is_there(), reason="SimGrid's Python module is not installed (Debian: python3-simgrid)")
@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=() if path.stem in FAST else pytest.mark.slow, id=path.stem) for path in EXAMPLES]
)
def test_dates_are_simgrid_s(path: Path) -> None:
    platform = PLATFORMS / f"{OTHER_PLATFORMS.get(path.stem, 'small_platform')}.xml"
    ours, simgrid_s = script(platform, path), script_in_simgrid(platform, path)
    assert NUMBER.sub("#", ours) == NUMBER.sub("#", simgrid_s)
    dates, expected = ([float(number) for number in NUMBER.findall(text)] for text in (ours, simgrid_s))
    assert expected and dates == pytest.approx(expected, abs=1e-9, rel=0)
