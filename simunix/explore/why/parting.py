"""Reads the system calls of two runs in the order of their virtual times, and finds where the two runs begin to differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

BEFORE, BEHIND = 3, 10
"""How many system calls are shown before the first difference of the two runs, and how many of each run after it."""
LONGEST_CALL = 160
_LINE = re.compile(r"([0-9]+)\.([0-9]{1,9}) (.*)")


@dataclass(frozen=True, slots=True)
class Call:
    """A system call or a signal, as strace shows it: virtual time in nanoseconds, HOST: PROGRAM.THREAD, and the text."""

    at_ns: int
    source: str
    text: str

    def __str__(self) -> str:
        return f"{self.at_ns / 1e9:.6f} s  {self.source}  {self.text}"


@dataclass(frozen=True, slots=True)
class Parting:
    """The last calls that both runs make, and the next calls of each run."""

    before: tuple[Call, ...]
    failing: tuple[Call, ...]
    passing: tuple[Call, ...]


def calls_of(run: Path) -> list[Call]:
    """Return all traced calls of a run (--strace) in the order of their times; calls of one moment are in the order of
    their threads' names.
    """
    return sorted(_calls(run), key=lambda call: (call.at_ns, call.source))


def _calls(run: Path) -> Iterator[Call]:
    for file in sorted(run.glob("hosts/*/strace/*")):
        source = f"{file.parts[-3]}: {file.name}"
        with file.open(errors="replace") as lines:
            for line in lines:
                match = _LINE.match(line.rstrip("\n"))
                if match is not None:
                    at_ns = int(match[1]) * 10**9 + int(match[2].ljust(9, "0"))
                    yield Call(at_ns, source, re.sub(r"\)\s+= ", ") = ", match[3])[:LONGEST_CALL])


def parting(failing: list[Call], passing: list[Call]) -> Parting | None:
    """Return where the two runs begin to differ; None if both make the same calls at the same times."""
    for index, (one, other) in enumerate(zip_longest(failing, passing)):
        if one != other:
            before = failing[max(0, index - BEFORE) : index]
            return Parting(tuple(before), tuple(failing[index : index + BEHIND]), tuple(passing[index : index + BEHIND]))
    return None
