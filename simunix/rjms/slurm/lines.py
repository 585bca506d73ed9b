"""Slurm's configuration files as lines of `Name=value` pairs, with what they include. man slurm.conf(5) is the source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError

_PAIR = re.compile(r"""([A-Za-z][\w]*)\s*[-+*/]?=\s*("(?:[^"])*"|'(?:[^'])*'|(?:[^\s"'][^\s"]*)?(?:"[^"]*"[^\s"]*)*)\s*""")
_INCLUDE = re.compile(r"^\s*include\s+(\S+)\s*$", re.IGNORECASE)
DEEPEST = 8
MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its pairs: by name in small letters, the name as it is written and the value without quotes."""

    path: Path
    number: int
    text: str
    pairs: Mapping[str, tuple[str, str]]

    @property
    def place(self) -> str:
        """File and line, for messages."""
        return f"{self.path}:{self.number}"

    @property
    def first(self) -> str:
        """The name of the first pair, in small letters."""
        return next(iter(self.pairs))

    def value(self, name: str, default: str = "") -> str:
        """The value of a name, in any case."""
        return self.pairs.get(name.lower(), ("", default))[1]


def read_text(path: Path, what: str) -> str:
    """The text of a site's file. Raises SimunixError for what cannot be read, or is no text."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SimunixError(f"{path}: more than {MOST_BYTES:,} bytes; expected {what}")
        data = path.read_bytes()
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}; expected {what}") from error
    if b"\0" in data:
        line = 1 + data.count(b"\n", 0, data.index(b"\0"))
        raise SimunixError(f"{path}:{line}: not a text (a byte 0); expected {what}")
    return data.decode(errors="replace").replace("\r\n", "\n")


def joined(text: str) -> Iterator[tuple[int, str]]:
    """Lines without comments, with the number of their first line; a backslash at the end joins a line with the next."""
    start, parts = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        bare = re.sub(r"(?<!\\)#.*", "", line).rstrip()
        start = start or number
        if bare.endswith("\\"):
            parts += bare[:-1] + " "
            continue
        if (parts + bare).strip():
            yield start, (parts + bare).replace("\\#", "#").strip()
        start, parts = 0, ""
    if parts.strip():
        yield start, parts.strip()


def read_lines(path: Path, what: str, depth: int = 0) -> Iterator[Line]:
    """All lines of a file and of those that it includes, beside it, in order. Raises SimunixError with file and line."""
    for number, text in joined(read_text(path, what)):
        if include := _INCLUDE.match(text):
            if depth >= DEEPEST:
                raise SimunixError(f"{path}:{number}: {text}: files include each other more than {DEEPEST} deep")
            yield from read_lines(_included(path, number, include[1]), what, depth + 1)
            continue
        yield Line(path, number, text, _pairs(path, number, text))


def _included(path: Path, number: int, name: str) -> Path:
    """The file that a line includes: below the including one's folder, or, for another path, by its name beside it."""
    for candidate in (path.parent / name.lstrip("/"), path.parent / Path(name).name):
        if candidate.is_file():
            return candidate
    raise SimunixError(f"{path}:{number}: include {name}: no such file beside it; put a copy into {path.parent}")


def _pairs(path: Path, number: int, text: str) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    place = 0
    while place < len(text):
        pair = _PAIR.match(text, place)
        if pair is None or pair.end() == place:
            raise SimunixError(f"{path}:{number}: expected Name=value, got {text[place : place + 60]!r}; mend the line")
        found[pair[1].lower()] = (pair[1], pair[2].replace('"', "").replace("'", ""))
        place = pair.end()
    return found


def flattened(path: Path, what: str) -> str:
    """The text of a file with the text of each included one in the place of its line."""
    lines: list[str] = []
    for line in read_text(path, what).split("\n"):
        include = _INCLUDE.match(line.split("#", 1)[0])
        lines.append(flattened(_included(path, len(lines) + 1, include[1]), what) if include else line)
    return "\n".join(lines)
