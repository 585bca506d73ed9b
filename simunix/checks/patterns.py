"""Checks that search the output of processes for a pattern that must never, must eventually or may sometimes appear."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from simunix.checks.commands import name_of
from simunix.launch.failures import printable
from simunix.scenario.check_section import CheckSection

LONGEST_LINE = 200
"""A message about a failed check quotes at most this many characters of a process's line of output."""


@dataclass(frozen=True, slots=True)
class Match:
    """A line of a process's output that a pattern matches; `source` is HOST:PROCESS."""

    source: str
    line: str


@dataclass(frozen=True, slots=True)
class BrokenCheck:
    """A check that failed: its name, and what is wrong."""

    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.name}: {self.text}"


def outputs(hosts: Path) -> Iterator[tuple[str, Path]]:
    """Yield HOST:PROCESS and the file for each standard output and standard error of the run's processes, in an order
    that depends on the names only.
    """
    for file in sorted((*hosts.glob("*/*.out"), *hosts.glob("*/*.err"))):
        yield f"{file.parent.name}:{file.stem}", file


def _named(source: str, process: str) -> bool:
    """Return whether `source` (HOST:PROCESS) is a process that a check names by PROCESS or HOST:PROCESS, with
    wildcards.
    """
    return fnmatchcase(source if ":" in process else source.partition(":")[2], process)


def first_match(pattern: str, process: str, files: Iterable[tuple[str, Path]]) -> Match | None:
    """Return the first line of output that matches a regular expression; None if no line does."""
    search = re.compile(pattern).search
    for source, file in files:
        if not _named(source, process):
            continue
        with file.open(errors="replace") as lines:
            for line in lines:
                if search(line.rstrip("\n")):
                    return Match(source, printable(line.strip())[:LONGEST_LINE])
    return None


def broken_checks(sections: Sequence[CheckSection], hosts: Path) -> list[BrokenCheck]:
    """Return the failed checks of the kinds `never` and `eventually`; `hosts` is the folder of the run that has the
    output of its processes.
    """
    files = list(outputs(hosts))
    broken = []
    for index, section in enumerate(sections):
        name = name_of(section, index)
        if section.never is not None and (match := first_match(section.never, section.process, files)):
            broken.append(BrokenCheck(name, f"{match.source} has written what it never should: {match.line}"))
        if section.eventually is not None and first_match(section.eventually, section.process, files) is None:
            broken.append(BrokenCheck(name, f"no line of {section.process} matches {section.eventually!r}"))
    return broken


def reached(sections: Sequence[CheckSection], hosts: Path) -> list[str]:
    """Return the names of the checks of the kind `sometimes` whose pattern was found; `hosts` is the folder of the run
    that has the output of its processes.
    """
    files = list(outputs(hosts))
    return [
        name_of(section, index)
        for index, section in enumerate(sections)
        if section.sometimes is not None and first_match(section.sometimes, section.process, files) is not None
    ]
