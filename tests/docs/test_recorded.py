"""The runs that scenarios name as recorded are of these scenarios, and the README shows the recorded run of its demo."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simunix.results.run_json import read_record
from simunix.rjms.scenario import load
from tests.docs.pages import ROOT

RECORDED = [path for path in sorted((ROOT / "scenarios").glob("*.yaml")) if "\nrecorded: " in path.read_text()]


def folder_of(scenario: Path) -> Path:
    recorded = load(scenario).recorded
    assert recorded is not None
    return scenario.parent / recorded


@pytest.mark.parametrize("scenario", RECORDED, ids=lambda path: path.stem)
def test_the_recorded_run_is_of_the_scenario_as_it_is(scenario: Path) -> None:
    copy = folder_of(scenario) / "scenario.yaml"
    mend = f"{copy} is of another scenario: .ci/bare --record makes the demo's record anew"
    assert load(copy).model_dump() == load(scenario).model_dump(), mend
    record = read_record(folder_of(scenario) / "run.json")
    assert record["deterministic"] and record["overrides"] == []
    assert all(program["package"] for program in record["programs"].values())


def test_readme_shows_the_recorded_digest_and_its_builds() -> None:
    readme = (ROOT / "README.md").read_text()
    record = read_record(folder_of(ROOT / "scenarios/nasa-ipsc.yaml") / "run.json")
    shown = re.search(r"event log \(sha256\) +│ (\w+)… │", readme)
    assert shown is not None and str(record["events_sha256"]).startswith(shown[1])
    for program in ("/usr/sbin/slurmctld", "/usr/bin/python3"):
        version = record["programs"][program]["package"].split()[1]
        assert version in readme, f"{program}: {version}"
