"""`recorded:` of a scenario: the closing words compare a run with one that was made elsewhere."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.report.recorded import check, closing_words
from simunix.rjms.scenario import load
from simunix.scenario.model import Scenario
from tests.unit.simunix.report.runs import record

SCENARIO = "name: example\nhosts: [{name: a}]\nrecorded: there\n"
PYTHON = {"path": "/usr/bin/python3.11", "sha256": "a" * 64, "package": "python3.11-minimal 3.11.2-6+deb12u9"}
PACKAGES = "/ package libc6:amd64 2.36\n/ package make:amd64 4\n/ plugin slurm/gres_gpu\n"


def run(folder: Path, digest: str, packages: str | None = PACKAGES, scenario: str | None = SCENARIO, **more: object) -> Path:
    """The folder of a run with this digest; None stands for a file that was not copied."""
    folder.mkdir()
    found = dataclasses.replace(record(), events_sha256=digest, **{"programs": {"/usr/bin/python3": PYTHON}, **more})  # type: ignore[arg-type]
    found.write(folder / "run.json")
    for name, text in (("packages.txt", packages), ("scenario.yaml", scenario)):
        if text is not None:
            (folder / name).write_text(text)
    return folder


def said(tmp_path: Path, here: Path) -> str:
    """The closing words without the names of folders."""
    return closing_words(tmp_path / "there", here, here).replace(f"{tmp_path}/", "")


def test_the_recorded_log(tmp_path: Path) -> None:
    run(tmp_path / "there", "d" * 64, "/ package libc6:amd64 2.41\n", seed=3)
    assert said(tmp_path, run(tmp_path / "here", "d" * 64)) == "The event log is the recorded one (there), to the byte."


def test_another_build_of_a_program(tmp_path: Path) -> None:
    run(tmp_path / "there", "d" * 64)
    other = {**PYTHON, "sha256": "b" * 64, "package": "python3.11-minimal 3.11.7-1"}
    assert said(tmp_path, run(tmp_path / "here", "e" * 64, programs={"/usr/bin/python3": other})) == (
        "The event log differs from the recorded one (dddddddddddddddd…): /usr/bin/python3: python3.11-minimal 3.11.7-1 "
        "(bbbbbbbbbbbb) here, python3.11-minimal 3.11.2-6+deb12u9 (aaaaaaaaaaaa) there."
    )


def test_what_was_asked_comes_first_then_programs_plugins_packages(tmp_path: Path) -> None:
    run(tmp_path / "there", "d" * 64, seed=1)
    packages = "/ package libc6:amd64 2.41\n/ package only-here:all 1\n/ plugin slurm/gres_gpu\n/ plugin slurm/auth_jwt\n"
    other = {**PYTHON, "sha256": "b" * 64, "package": None}
    here = run(tmp_path / "here", "e" * 64, packages, seed=2, programs={"/usr/bin/python3": other})
    assert said(tmp_path, here) == (
        "The event log differs from the recorded one (dddddddddddddddd…): seed: 2 here, 1 there; /usr/bin/python3: "
        "bbbbbbbbbbbb here, python3.11-minimal 3.11.2-6+deb12u9 (aaaaaaaaaaaa) there; plugin slurm/auth_jwt is only here; "
        "and 1 more (simunix report --why here there)."
    )


def test_a_key_of_the_scenario(tmp_path: Path) -> None:
    run(tmp_path / "there", "d" * 64)
    here = run(tmp_path / "here", "e" * 64, scenario=SCENARIO.replace("{name: a}", "{name: a, cores: 2}"), overrides=["pace=2"])
    assert "hosts[0].cores: 2 here, – there; pace: 2 here, – there." in said(tmp_path, here)


def test_without_a_copy_of_the_scenario_its_keys_are_not_compared(tmp_path: Path) -> None:
    run(tmp_path / "there", "d" * 64, packages=None, scenario=None)
    assert "nothing that run.json, packages.txt and scenario.yaml tell is different" in said(
        tmp_path, run(tmp_path / "here", "e" * 64)
    )


def test_nothing_is_recorded_yet(tmp_path: Path) -> None:
    assert said(tmp_path, run(tmp_path / "here", "e" * 64)) == (
        "No run is recorded in there yet: copy run.json, packages.txt and scenario.yaml of here there."
    )


def loaded(folder: Path) -> Scenario:
    (folder / "s.yaml").write_text(SCENARIO)
    return load(folder / "s.yaml")


def test_a_record_that_no_run_wrote_is_refused_at_the_start(tmp_path: Path) -> None:
    scenario = loaded(tmp_path)
    check(scenario, tmp_path)  # one that is still to be made
    (tmp_path / "there").mkdir()
    for text, message in (("[]", "expected an object"), ("{}", "no events_sha256"), ("{", "not JSON")):
        (tmp_path / "there" / "run.json").write_text(text)
        with pytest.raises(SimunixError, match=rf"^{tmp_path}/s\.yaml:3: recorded: .*/run\.json: {message}"):
            check(scenario, tmp_path)
