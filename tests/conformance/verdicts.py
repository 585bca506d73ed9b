"""Reads the result of every test in a run of `python3 -m test`: from its JUnit file, or, if there is none, from its output."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self
from xml.etree import ElementTree

OK, FAIL, ERROR, SKIPPED, UNFINISHED = "ok", "FAIL", "ERROR", "skipped", "unfinished"
_LINE = re.compile(r"^\w+ \((?P<name>test\.[\w.]+)\) \.\.\. (?P<rest>.*)$", re.MULTILINE)
_SPOKEN = {"ok": OK, "FAIL": FAIL, "ERROR": ERROR}


@dataclass(frozen=True, slots=True)
class Run:
    """One run: verdicts by test, named without the leading `test.`; `ended` is how: its exit status, or "time limit"."""

    verdicts: dict[str, str]
    wall_s: float
    ended: str

    def save(self, path: Path) -> None:
        """Keep it as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1))

    @classmethod
    def load(cls, path: Path) -> Self:
        """What save() kept."""
        return cls(**json.loads(path.read_text()))


def file_of(name: str) -> str:
    """The test file (test_socket) that a test belongs to."""
    return name.partition(".")[0]


def read_junit(path: Path) -> dict[str, str]:
    """Verdicts of a JUnit file as regrtest writes it."""
    return {_short(case.get("name", "")): _verdict(case) for case in ElementTree.parse(path).getroot().iter("testcase")}


def _verdict(case: ElementTree.Element) -> str:
    for child, verdict in (("failure", FAIL), ("error", ERROR), ("skipped", SKIPPED)):
        if case.find(child) is not None:
            return verdict
    return OK if case.get("status") == "run" else SKIPPED


def read_output(text: str) -> dict[str, str]:
    """Verdicts as far as the output of `-v` tells them: what has no verdict was running when it ended."""
    found = {}
    for match in _LINE.finditer(text):
        rest = match["rest"].strip()
        found[_short(match["name"])] = SKIPPED if rest.startswith("skipped") else _SPOKEN.get(rest, UNFINISHED)
    return found


def _short(name: str) -> str:
    return name.removeprefix("test.")
