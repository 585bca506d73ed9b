"""A capsule: the folder that repeats one failing run to the byte, on any computer with the same programs.

capsule.json      what failed, with which seed, and what the run depended on
scenario.yaml     the scenario as it was, without the faults that the exploration added (the nemesis)
choices.jsonl     the choices that are not 0
inputs/           other files that the scenario reads: traces, platforms
run/              the results of the failing run
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rsg_server.choices.places import PLACES
from rsg_server.choices.source import Choice
from rsg_server.errors import SimunixError, described, quoted
from rsg_server.whole_files import whole_file
from simunix import __version__
from simunix.results.choices_file import NAME as CHOICES
from simunix.results.choices_file import ChoicesFile, read_choices, write_choices
from simunix.results.run_json import read_record

NAME = "capsule.json"
SCENARIO = "scenario.yaml"
INPUTS = "inputs"
RUN = "run"
Event = dict[str, Any]
_KEYS: dict[str, type] = {
    "folder": str,
    "overrides": list,
    "events": list,
    "seed": int,
    "random_seed": int,
    "strategy": str,
    "signature": str,
    "findings": list,
    "digest": str,
    "programs": dict,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Capsule:
    """All that is needed to repeat a failing run. Relative paths of the scenario are relative to `folder`, the folder
    of the original scenario, as long as that folder exists. `events` are the faults that the exploration added,
    `programs` the checksums of the executed programs by path. `seed` is the seed of the exploration, `random_seed` the
    run's own seed, from which programs get their random numbers. `test` is the node id of the test that pytest
    explored, "" for a scenario; with a test, `random_seed` is the number that was added to the test's own seed.
    """

    folder: str
    overrides: tuple[str, ...]
    events: tuple[dict[str, Any], ...]
    seed: int
    random_seed: int
    strategy: str
    signature: str
    findings: tuple[dict[str, Any], ...]
    digest: str
    programs: dict[str, str]
    choices: tuple[Choice, ...]
    count: int = -1
    test: str = ""

    @property
    def all_overrides(self) -> tuple[str, ...]:
        """The settings (--set) of the run, with its faults."""
        return (*self.overrides, f"events+={json.dumps(list(self.events))}") if self.events else self.overrides


def keep_inputs(folder: Path, inputs: Iterable[Path], path: Path) -> None:
    """Copy the files that a scenario reads from its own folder into the capsule at `path`."""
    for file in inputs:
        if file.resolve().is_relative_to(folder.resolve()):
            copy = path / INPUTS / file.resolve().relative_to(folder.resolve())
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


def folder_of(capsule: Capsule, path: Path) -> Path:
    """Return the folder to which paths are relative in a replay of the capsule at `path`: the original folder if it
    still exists.
    """
    original, copies = Path(capsule.folder), path / INPUTS
    names = [copy.relative_to(copies) for copy in copies.rglob("*") if copy.is_file()] if copies.is_dir() else []
    is_whole = original.is_dir() and all((original / name).is_file() for name in names)
    return original if is_whole or not names else copies


def write_capsule(capsule: Capsule, scenario: Path | None, path: Path) -> None:
    """Write a capsule into a folder, which may contain `run` and the inputs already; the capsule of a test has no scenario."""
    path.mkdir(parents=True, exist_ok=True)
    if scenario is not None and scenario.resolve() != (path / SCENARIO).resolve():
        shutil.copyfile(scenario, path / SCENARIO)
    write_choices(path / CHOICES, ChoicesFile(frozenset(PLACES), capsule.count, capsule.choices))
    record = {"simunix": __version__, **{name: getattr(capsule, name) for name in _KEYS}}
    if capsule.test:
        record["test"] = capsule.test
    with whole_file(path / NAME) as file:
        file.write(json.dumps(record, indent=2) + "\n")


def read_capsule(path: Path) -> Capsule:
    """Read the capsule in a folder. Raises SimunixError with file and key."""
    file = path / NAME
    try:
        record = json.loads(file.read_bytes())
    except OSError as error:
        raise SimunixError(f"{described(error)}; give the folder of a capsule, as simunix explore writes it") from error
    except (ValueError, RecursionError) as error:
        raise SimunixError(f"{file}: not JSON ({error}); give a capsule as simunix explore wrote it") from error
    if not isinstance(record, dict):
        raise SimunixError(f"{file}: expected an object; give a capsule as simunix explore wrote it")
    for name, kind in _KEYS.items():
        if type(record.get(name)) is not kind:
            raise SimunixError(f"{file}: {name}: expected {kind.__name__}, got {quoted(record.get(name))}")
    choices = read_choices(path / CHOICES)
    values: dict[str, Any] = {name: tuple(record[name]) if kind is list else record[name] for name, kind in _KEYS.items()}
    return Capsule(**values, choices=choices.taken, count=choices.count, test=str(record.get("test", "")))


def scenario_capsule(path: Path) -> Capsule:
    """Read the capsule of a scenario, whose run simunix itself can repeat.

    Raises SimunixError, also for the capsule of a test.
    """
    capsule = read_capsule(path)
    if capsule.test:
        again = f"pytest '{capsule.test}' --simunix-replay={path.resolve()}"
        raise SimunixError(f"{path}: the capsule of a test, which only pytest can repeat: {again}")
    return capsule


def programs_of(run: Path) -> dict[str, str]:
    """Return the checksums of the programs of a run, by path."""
    programs = read_record(run / "run.json").get("programs") or {}
    return {str(entry["path"]): str(entry["sha256"]) for entry in programs.values()}


def changed_programs(capsule: Capsule, run: Path) -> list[str]:
    """Return the programs whose files have changed since the capsule's run, by path."""
    now = programs_of(run)
    return sorted(path for path, checksum in capsule.programs.items() if now.get(path, checksum) != checksum)
