"""SimGrid's examples, written for its Python module, print the same dates here, to twelve decimals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.system.rsg.running import HERE, PLATFORMS, script, script_in_simgrid, simgrid_is_there

EXAMPLES = sorted((HERE / "examples").glob("*.py"))
FAST = ("ping_pong", "master_workers")
OTHER_PLATFORMS = {
    "exec_dvfs": "energy_platform",
    "exec_cores": "multicore_machine",
    "io_async": "hosts_with_disks",
    "io_disk_raw": "hosts_with_disks",
    "platform_profile": "small_platform_profile",
    "platform_failures": "small_platform_failures",
}
"""The platform of an example that does not use SimGrid's small_platform.xml."""

NUMBER = re.compile(r"-?\d+\.\d{12}\b")
"""A date; its last decimals differ by what additions in another order round."""


def dated_lines(text: str) -> list[tuple[float, str]]:
    """The date and the rest of each line; lines of one date in the order of their texts, since SimGrid promises none."""
    found = [(float(match[0]), NUMBER.sub("#", line)) for line in text.splitlines() if (match := NUMBER.search(line))]
    return sorted(found, key=lambda item: (round(item[0], 9), item[1]))


def assert_same_dates(ours: str, simgrid_s: str) -> None:
    """Both have printed the same lines, with dates that are equal to 1e-9 s."""
    found, expected = dated_lines(ours), dated_lines(simgrid_s)
    assert [text for _, text in found] == [text for _, text in expected]
    assert expected and [date for date, _ in found] == pytest.approx([date for date, _ in expected], abs=1e-9, rel=0)


@pytest.mark.skipif(not simgrid_is_there(), reason="SimGrid's Python module is not installed (Debian: python3-simgrid)")
@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=() if path.stem in FAST else pytest.mark.slow, id=path.stem) for path in EXAMPLES]
)
def test_dates_are_simgrid_s(path: Path) -> None:
    platform = PLATFORMS / f"{OTHER_PLATFORMS.get(path.stem, 'small_platform')}.xml"
    assert_same_dates(*(run(platform, path) for run in (script, script_in_simgrid)))


@pytest.mark.skipif(not simgrid_is_there(), reason="SimGrid's Python module is not installed (Debian: python3-simgrid)")
@pytest.mark.parametrize(
    ("name", "platform"), [("exec_ptask", "small_platform"), ("exec_ptask_cores", "three_multicore_hosts")]
)
def test_dates_of_parallel_tasks_are_simgrid_s(name: str, platform: str) -> None:
    xml, path = PLATFORMS / f"{platform}.xml", HERE / f"tasks/{name}.py"
    assert_same_dates(script(xml, path, options=("--model", "ptask_L07")), script_in_simgrid(xml, path))
