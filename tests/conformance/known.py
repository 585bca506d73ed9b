"""The list of known differences, known.yaml: which differences are explained, which explanations are out of date."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

import yaml

from tests.conformance.verdicts import UNFINISHED, file_of

LIST = Path(__file__).with_name("known.yaml")


@dataclass(frozen=True, slots=True)
class Entry:
    """Tests (names or patterns) and why they differ or are left out; `sometimes`: they need not differ on every computer."""

    tests: tuple[str, ...]
    why: str
    sometimes: bool = False

    def matches(self, name: str) -> bool:
        """Whether it speaks of this test."""
        return any(fnmatchcase(name, pattern) for pattern in self.tests)


@dataclass(frozen=True, slots=True)
class Known:
    """What the list says: tests that are not run at all, and tests that differ."""

    left_out: tuple[Entry, ...]
    differences: tuple[Entry, ...]

    @classmethod
    def read(cls, path: Path = LIST) -> Self:
        """Read the list. Raises ValueError, naming the entry, if one lacks its tests or its reason."""
        data = yaml.safe_load(path.read_text())
        return cls(*(tuple(_entry(path, key, item) for item in data.get(key) or ()) for key in ("left_out", "differences")))


def _entry(path: Path, key: str, item: dict[str, object]) -> Entry:
    tests, why, sometimes = item.get("tests"), item.get("why"), item.get("sometimes", False)
    unknown = sorted(set(item) - {"tests", "why", "sometimes"})
    if unknown or not isinstance(tests, list) or not tests or not isinstance(why, str) or not why:
        raise ValueError(f"{path.name}: {key}: expected `tests` (a list) and `why`, and perhaps `sometimes`; got {item}")
    return Entry(tuple(map(str, tests)), why, bool(sometimes))


@dataclass(frozen=True, slots=True)
class Difference:
    """One test whose verdicts differ; `why` is empty if nobody has explained it."""

    name: str
    native: str
    emulated: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.native} natively, {self.emulated} emulated"


def differences(native: dict[str, str], emulated: dict[str, str], known: Known) -> list[Difference]:
    """All tests whose verdicts differ, in the order of their names. A test that only one of the two ran differs."""
    found = []
    for name in sorted(native.keys() | emulated.keys()):
        ours, theirs = native.get(name, UNFINISHED), emulated.get(name, UNFINISHED)
        if ours != theirs:
            why = next((entry.why for entry in known.differences if entry.matches(name)), "")
            found.append(Difference(name, ours, theirs, why))
    return found


def outdated(found: list[Difference], files: set[str], known: Known) -> list[str]:
    """Listed tests (or patterns) of these files that differ no more."""
    names = [difference.name for difference in found]
    return [
        pattern
        for entry in known.differences
        if not entry.sometimes
        for pattern in entry.tests
        if file_of(pattern) in files and not any(fnmatchcase(name, pattern) for name in names)
    ]
