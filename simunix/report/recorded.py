"""Compare a run with the recorded run that its scenario names: whether the event logs are equal and, if not, what
differs.

The recorded run is a folder with that run's run.json and, if they were copied, its packages.txt and scenario.yaml.
"""

from __future__ import annotations

from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.report.differences import ABSENT, differences
from simunix.report.run_data import Run
from simunix.report.why import OF_PACKAGES, package_rows
from simunix.results.run_json import read_record
from simunix.scenario.located import located
from simunix.scenario.model import Scenario

FILES = "run.json, packages.txt and scenario.yaml"
KEY = "recorded"
NAMED = 3
"""The number of differences that are named; `simunix report --why` names all."""
NEEDLESS = ("scenario.recorded", "depends_on.list", "depends_on.packages", "input shim")
"""Beginnings of keys whose difference explains nothing: checksums of lists, counts, and a build by this computer's
compiler.
"""
ORDER = ("program ", "plugin ", "simunix", "rjms", "root[", "package ", "kernel", "depends_on.")
"""Beginnings of the keys about software, the likeliest reason first."""
Row = tuple[str, list[str]]


def check(scenario: Scenario, base: Path) -> None:
    """Raise SimunixError, with file, line and key, for a recorded run that cannot be compared with. A folder that does
    not exist yet is no error.

    `base` is the folder of the scenario.
    """
    if scenario.recorded is not None:
        with located(scenario):
            _check(base / scenario.recorded)


def _check(folder: Path) -> None:
    try:
        record = read_record(folder / "run.json")
    except FileNotFoundError:
        return
    except SimunixError as error:
        raise SimunixError(f"{KEY}: {error}") from error
    if not record.get("events_sha256"):
        raise SimunixError(f"{KEY}: {folder / 'run.json'}: no events_sha256; copy run.json of a run that has ended")


def closing_words(folder: Path, here: Path, shown: Path) -> str:
    """Return a line for the user that compares the run in the folder `here` with the recorded run in `folder`. `shown`
    is the name of `here` in messages.
    """
    try:
        there = Run(folder, "there", read_record(folder / "run.json"), None, None)
    except FileNotFoundError:
        return f"No run is recorded in {folder} yet: copy {FILES} of {shown} there."
    run = Run(here, "here", read_record(here / "run.json"), None, None)
    digests = [str(one.record.get("events_sha256")) for one in (run, there)]
    if digests[0] == digests[1]:
        return f"The event log is the recorded one ({folder}), to the byte."
    return f"The event log differs from the recorded one ({digests[1][:16]}…): {_reason(run, there, shown)}."


def _reason(run: Run, there: Run, shown: Path) -> str:
    rows = _rows(run, there)
    more = f"simunix report --why {shown} {there.directory}"
    if not rows:
        return f"nothing that {FILES} tell is different ({more})"
    named = "; ".join(_named(key, *values) for key, values in rows[:NAMED])
    return named + (f"; and {len(rows) - NAMED:,} more ({more})" if len(rows) > NAMED else "")


def _rows(run: Run, there: Run) -> list[Row]:
    """Return the differences between the two runs: first those of scenario and options, then those of the software, the
    likeliest cause first.
    """
    known = there.directory / "scenario.yaml"
    found, _ = differences([run, there])
    found = [row for row in found if not row[0].startswith(NEEDLESS)]
    asked = [row for row in found if not row[0].startswith(OF_PACKAGES) and (known.exists() or row[0][:9] != "scenario.")]
    software = [row for row in found if row[0].startswith(OF_PACKAGES)]
    packages = [_spelled(row) for row in package_rows(run, there)]
    software += [row for row in packages if row[0].startswith("plugin ") or ABSENT not in row[1]]
    return asked + sorted(software, key=lambda row: next(at for at, begin in enumerate(ORDER) if row[0].startswith(begin)))


def _spelled(row: Row) -> Row:
    """Return a row of packages.txt without the root's path; the version of a plugin is given as "installed" or ""."""
    key, values = row
    return key.split(" ", 1)[-1], values


def _named(key: str, here: str, there: str) -> str:
    if key.startswith("plugin "):
        return f"{key} is {'only there' if here == ABSENT else 'only here'}"
    return f"{key.removeprefix('scenario.').removeprefix('program ').removeprefix('package ')}: {here} here, {there} there"
