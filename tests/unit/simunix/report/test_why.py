"""`simunix report --why`: what two runs differ in first, of their inputs, packages and events."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from simunix.cli.main import main
from simunix.results.dependencies import listed, owners, packages
from simunix.roots.tree import RootTree
from tests.unit.simunix.report.runs import record

LOG = ['{"t":0,"event":"process_start"}', '{"t":5,"event":"signal"}']


def run(folder: Path, digest: str, lines: list[str], versions: str = "2.36", **more: object) -> str:
    """A run directory with this digest, these events and this version of a package."""
    folder.mkdir()
    dataclasses.replace(record(), events_sha256=digest, **more).write(folder / "run.json")  # type: ignore[arg-type]
    (folder / "events.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "packages.txt").write_text(f"/ package libc6:amd64 {versions}\n/ plugin slurm/gres_gpu.so\n")
    (folder / "scenario.yaml").write_text("name: example\n")
    return str(folder)


def said(capsys: pytest.CaptureFixture[str], *folders: str) -> list[str]:
    """What the command prints."""
    assert main(["report", "--why", *folders]) == 0
    return capsys.readouterr().out.splitlines()


def test_equal_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, run(tmp_path / "a", "d1", LOG), run(tmp_path / "b", "d1", LOG)) == [
        "the event logs are the same to the byte (d1…)"
    ]


def test_input_package_and_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run(tmp_path / "a", "d1", LOG, seed=1)
    other = run(tmp_path / "b", "d2", [LOG[0], '{"t":6,"event":"signal"}'], "2.41", seed=2, disturbances=["a program joined"])
    assert said(capsys, first, other) == [
        "the event logs differ: d1… and d2…",
        "b cannot be repeated to the byte: a program joined",
        "input: seed: 1 | 2",
        "package: / package libc6:amd64: 2.36 | 2.41",
        'event: line 2: {"t":5,"event":"signal"} | {"t":6,"event":"signal"}',
    ]


def scenario(folder: str, text: str) -> str:
    """The run directory, with another scenario."""
    Path(folder, "scenario.yaml").write_text(text)
    return folder


def test_the_key_that_matters_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = scenario(run(tmp_path / "a", "d1", LOG), "name: one\npace: 5\nhosts: [{name: a, cores: 4}]\nuntil: 5\n")
    other = scenario(run(tmp_path / "b", "d2", LOG), "name: two\npace: 6\nhosts: [{name: a, cores: 8}]\nuntil: 5\n")
    assert said(capsys, first, other)[1] == "input: scenario.hosts[0].cores: 4 | 8 (and 2 more)"
    third = scenario(run(tmp_path / "c", "d3", LOG, seed=7, isolation="none"), "name: two\npace: 6\n")
    assert said(capsys, other, third)[1].startswith("input: seed: 0 | 7 (and ")
    fourth = scenario(run(tmp_path / "d", "d4", LOG), "name: one\npace: 7\nhosts: [{name: a, cores: 4}]\nuntil: 5\n")
    assert said(capsys, first, fourth)[1] == "input: scenario.pace: 5 | 7"


def test_the_package_that_matters_comes_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [run(tmp_path / name, name, LOG) for name in "ab"]
    for folder, version in zip(folders, "12", strict=True):
        kinds = ("adduser:all", "libc6:amd64", "zsh:amd64")
        Path(folder, "packages.txt").write_text("".join(f"/ package {kind} {version}\n" for kind in kinds))
    assert said(capsys, *folders)[2] == "package: / package libc6:amd64: 1 | 2 (and 2 more)"
    third = run(tmp_path / "c", "c", LOG, simunix="9.9")
    assert said(capsys, folders[0], third)[2].startswith("package: simunix: ")


def test_only_turns_differ(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = said(capsys, run(tmp_path / "a", "d1", LOG), run(tmp_path / "b", "d2", LOG))
    assert lines[1:3] == ["input: no difference", "package: no difference"]
    assert "--log-turns" in lines[3]


def test_a_run_without_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, other = run(tmp_path / "a", "d1", LOG), run(tmp_path / "b", "d2", LOG)
    (tmp_path / "b" / "run.json").unlink()
    assert main(["report", "--why", first, other]) == 2
    assert "no run.json" in capsys.readouterr().err
    assert main(["report", "--why", first]) == 2


def test_packages_of_a_root(tmp_path: Path) -> None:
    status = tmp_path / "var/lib/dpkg/status"
    status.parent.mkdir(parents=True)
    status.write_text(
        "Package: b\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2\n\n"
        "Package: a\nStatus: install ok installed\nArchitecture: all\nSource: x (1)\nVersion: 1.0-1\nDescription: y\n\n"
        "Package: gone\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1\n"
    )
    assert packages(RootTree(tmp_path)) == ["a:all 1.0-1", "b:amd64 2"]
    assert listed([RootTree(tmp_path)])[0] == f"{tmp_path} package a:all 1.0-1"
    assert json.dumps(listed([RootTree(tmp_path / "none")])) == "[]"


def test_the_package_of_a_program(tmp_path: Path) -> None:
    """Lists name files as packages spell them: below /bin as well as below /usr/bin, of one architecture or of several."""
    info = tmp_path / "var/lib/dpkg/info"
    info.mkdir(parents=True)
    stanza = "Package: {}\nStatus: install ok installed\nArchitecture: amd64\nVersion: {}\n\n"
    (info.parent / "status").write_text(stanza.format("bash", "5.2-3") + stanza.format("slurmd", "22.05.8-4"))
    (info / "bash.list").write_text("/.\n/bin\n/bin/bash\n")
    (info / "slurmd:amd64.list").write_text("/.\n/usr/sbin/slurmd-wlm\n")
    (info / "removed.list").write_text("/.\n/usr/bin/mine\n")
    files = [tmp_path / name for name in ("usr/bin/bash", "usr/sbin/slurmd-wlm", "usr/sbin/slurmd", "usr/bin/mine")]
    assert owners(RootTree(tmp_path), files) == {files[0]: "bash 5.2-3", files[1]: "slurmd 22.05.8-4"}
    assert owners(RootTree(tmp_path / "none"), []) == {}
