"""The files that an exploration writes while it runs: a row for each seed, so that a second call can go on where the
first one ended.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError, described, quoted
from rsg_server.whole_files import whole_file
from simunix import __version__
from simunix.explore.attempt import Outcome
from simunix.explore.seeds import Seed

SETTINGS, SEEDS, FAILURES = "explore.json", "seeds.csv", "failures"
COLUMNS = (
    "seed",
    "strategy",
    "faults",
    "failed",
    "choices",
    "taken",
    "turns",
    "virtual_s",
    "wall_s",
    "digest",
    "reached",
    "places",
)


@dataclass(frozen=True, slots=True)
class Row:
    """The row of a seed that has run: its number of faults, the signatures of its failures, and the names of the checks
    that it reached. `places` has, for each kind of choice, how many choices there were, and how many took another
    alternative than 0.
    """

    seed: int
    strategy: str
    faults: int
    failed: tuple[str, ...]
    choices: int
    taken: int
    turns: int
    virtual_s: float
    wall_s: float
    digest: str
    reached: tuple[str, ...]
    places: dict[str, list[int]] = field(default_factory=dict)


def row_of(seed: Seed, faults: int, outcome: Outcome) -> Row:
    """Return the row of a run."""
    return Row(
        seed.number,
        seed.strategy,
        faults,
        tuple(outcome.signatures),
        outcome.choices,
        len(outcome.taken),
        outcome.turns,
        outcome.virtual_s,
        round(outcome.wall_s, 3),
        outcome.digest,
        outcome.reached,
        outcome.places,
    )


class SeedsFile:
    """The file seeds.csv: rows in the order in which runs ended; each row is written as soon as its run has ended."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> list[Row]:
        """Return the rows so far. A last line that was cut off is left out, and its seed runs again. Raises SimunixError."""
        try:
            text = self._path.read_text()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise SimunixError(f"{self._path}: cannot be read; choose another folder with --out") from error
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            with whole_file(self._path) as file:
                file.write(whole)
        return list(self._rows(whole))

    def _rows(self, text: str) -> Iterator[Row]:
        for number, values in enumerate(csv.DictReader(text.splitlines()), 2):
            try:
                yield Row(
                    int(values["seed"]),
                    values["strategy"],
                    int(values["faults"]),
                    tuple(json.loads(values["failed"])),
                    int(values["choices"]),
                    int(values["taken"]),
                    int(values["turns"]),
                    float(values["virtual_s"]),
                    float(values["wall_s"]),
                    values["digest"],
                    tuple(json.loads(values["reached"])),
                    dict(json.loads(values.get("places") or "{}")),
                )
            except (KeyError, ValueError, TypeError) as error:
                raise SimunixError(
                    f"{self._path}:{number}: no row of an exploration; choose another folder with --out"
                ) from error

    def append(self, row: Row) -> None:
        """Add a row."""
        is_new = not self._path.exists()
        try:
            with self._path.open("a", newline="") as file:
                writer = csv.writer(file)
                if is_new:
                    writer.writerow(COLUMNS)
                values = [getattr(row, name) for name in COLUMNS]
                writer.writerow([json.dumps(value) if isinstance(value, (tuple, dict)) else value for value in values])
        except OSError as error:
            raise SimunixError(f"{described(error)}; the rows so far are in {self._path}") from error


def claim_settings(folder: Path, settings: dict[str, Any]) -> None:
    """Write down what is explored, or check that an earlier call explored the same scenario with the same options.

    Raises SimunixError for another exploration.
    """
    path = folder / SETTINGS
    try:
        before = json.loads(path.read_text())
    except FileNotFoundError:
        if any(folder.iterdir()):
            raise SimunixError(f"--out {folder}: exists and is not an exploration's folder; choose another name") from None
        with whole_file(path) as file:
            file.write(json.dumps({"simunix": __version__, **settings}, indent=2) + "\n")
        return
    except (OSError, ValueError) as error:
        raise SimunixError(f"{path}: cannot be read; choose another folder with --out") from error
    for name, value in settings.items():
        if before.get(name) != value:
            what = f"{name} was {quoted(before.get(name))}, is {quoted(value)}"
            raise SimunixError(f"--out {folder}: holds another exploration ({what}); choose another folder")
