"""Read and write Slurm's configuration files: lines of `Name=value` pairs, and files that include each other.

Comments, continued lines, escapes and quotes follow Slurm's own parser (parse_config.c; slurm.conf(5)), in its order.
First, a # ends a line. A backslash at the end joins a line with the next without a blank. Other backslashes are
removed. After these steps, the parser searches the line for pairs. `pairs_of` reads what `pair_text` writes without a
change.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.ranges import expand_hosts

_BLANK = r"[ \t\r\v\f]"
_PAIR = re.compile(
    rf'{_BLANK}*([A-Za-z0-9_.]+){_BLANK}*[-*+/]?={_BLANK}*(?:"([^"]*)"(?={_BLANK}|\Z)|([^ \t\r\v\f]+))(?:{_BLANK}+|\Z)'
)
_COMMENT = re.compile(r"((?:\\.|[^\\#])*)#.*")
_ESCAPE = re.compile(r"\\(.?)")
_INCLUDE = re.compile(rf"{_BLANK}*include(?:{_BLANK}+(\S*).*)?", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$)|<%.*?(?:%>|$)|\$\{\w*\}|(?<!\w)@[A-Z][A-Z_]+@|^\s*\{.*$")
TEMPLATE = "the place-holder of a template, no value; have it filled in (by Ansible, Salt …), and give the file that is made"
DEEPEST = 8
MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its pairs: by lower-case name, the name as it is written, and the value without quotes."""

    path: Path
    number: int
    text: str
    pairs: Mapping[str, tuple[str, str]]

    @property
    def place(self) -> str:
        """The configuration file and the number of the line in it, as a text for messages."""
        return f"{self.path}:{self.number}"

    @property
    def first(self) -> str:
        """The lower-case name of the first pair."""
        return next(iter(self.pairs))

    def value(self, name: str, default: str = "") -> str:
        """Return the value of a name, in upper or lower case; `default` if the line does not have the name."""
        return self.pairs.get(name.lower(), ("", default))[1]

    def hosts(self, name: str) -> list[str]:
        """Return the hosts in the host list of a name; [] if the line does not have the name. Raises SimunixError with
        file and line.
        """
        written, value = self.pairs.get(name.lower(), (name, ""))
        return host_list(value, f"{self.place}: {written}") if value.strip() else []

    def with_value(self, name: str, value: str) -> Line:
        """Return the line with another value for a name that it has."""
        key = name.lower()
        return self.with_pairs({**self.pairs, key: (self.pairs[key][0], value)})

    def with_pairs(self, pairs: Mapping[str, tuple[str, str]]) -> Line:
        """Return a line at this line's place with other pairs."""
        return Line(self.path, self.number, text_of(pairs), pairs)


def host_list(text: str, where: str) -> list[str]:
    """Return the names in a host list. Raises SimunixError, beginning with `where`, for a malformed list."""
    try:
        return expand_hosts(text)
    except ValueError as error:
        raise SimunixError(f"{where}: {error}; mend the list") from None


def whole_number(text: str, where: str) -> int:
    """Return the whole number, of at most 15 digits, that a text means. Raises SimunixError, beginning with `where`,
    for any other text.
    """
    if not re.fullmatch(r"[0-9]{1,15}", text):
        raise SimunixError(f"{where}: expected a whole number, got {text!r:.60}; mend it")
    return int(text)


def read_text(path: Path, what: str) -> str:
    """Return the text of a file of the site. Raises SimunixError if the file cannot be read, or is no text."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise SimunixError(f"{path}: more than {MOST_BYTES:,} bytes; expected {what}")
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise SimunixError(f"{path}: {getattr(error, 'strerror', error)}; expected {what}") from error
    if b"\0" in data:
        line = 1 + data.count(b"\n", 0, data.index(b"\0"))
        raise SimunixError(f"{path}:{line}: not a text (a byte 0); expected {what}")
    return data.decode(errors="replace").replace("\r\n", "\n")


def logical_lines(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield, for each line that is not empty, its first and last line number in the file, counted from 1, and its text
    without comments and escapes.
    """
    start, parts = 0, ""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        comment = _COMMENT.fullmatch(line)
        bare = comment[1] if comment else line
        end = bare.rstrip(" \t\r\v\f")
        start = start or number
        if (len(end) - len(end.rstrip("\\"))) % 2 and number < len(lines):
            parts += end[:-1]
            continue
        if (parts + bare).strip():
            yield start, number, _ESCAPE.sub(r"\1", parts + bare)
        start, parts = 0, ""


def joined(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line without comments, with its first line number; a backslash at the end of a line joins it with the
    next.
    """
    return ((first, bare) for first, _, line in logical_lines(text) if (bare := line.strip(" \t\r\v\f")))


def text_lines(path: Path, text: str) -> Iterator[Line]:
    """Yield the lines of a file's text, except for lines that include other files. Raises SimunixError with file and
    line.
    """
    for number, line in joined(text):
        if not _INCLUDE.fullmatch(line):
            yield Line(path, number, line, pairs_of(line, f"{path}:{number}"))


def read_lines(path: Path, what: str, depth: int = 0) -> Iterator[Line]:
    """Yield all lines of a file and of the files that it includes, in order. Raises SimunixError with file and line."""
    for number, text in joined(read_text(path, what)):
        if include := _INCLUDE.fullmatch(text):
            yield from read_lines(_included(path, number, text, include[1] or "", depth), what, depth + 1)
        else:
            yield Line(path, number, text, pairs_of(text, f"{path}:{number}"))


def _included(path: Path, number: int, line: str, name: str, depth: int) -> Path:
    """Return the file that a line includes: a path below the including file's folder or, for any other path, the file
    of that name in this folder.
    """
    place = f"{path}:{number}"
    if depth >= DEEPEST:
        raise SimunixError(f"{place}: include {name:.80}: files include each other more than {DEEPEST} deep; take the line out")
    if not name:
        raise SimunixError(f"{place}: include: expected the name of a file; mend the line")
    _refuse_template(line, place)
    for candidate in (path.parent / name.lstrip("/"), path.parent / Path(name).name):
        try:
            if candidate.is_file():
                return candidate
        except OSError:  # a name that is too long
            break
    raise SimunixError(f"{place}: include {name:.80}: no such file beside it; put a copy into {path.parent}")


def pairs_of(text: str, place: str) -> dict[str, tuple[str, str]]:
    """Return the `Name=value` pairs of a line without comments and escapes. If a name occurs twice on the line, the
    last pair counts. Raises SimunixError, beginning with `place`.
    """
    found: dict[str, tuple[str, str]] = {}
    at = 0
    _refuse_template(text, place)
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            raise SimunixError(f"{place}: expected Name=value, got {text[at : at + 60]!r}; mend the line")
        value = pair[3] if pair[2] is None else pair[2]
        if pair[2] is None and value[0] == '"' and value.count('"') == 1:
            raise SimunixError(f"{place}: {pair[1]}: expected a second quotation mark, got {value!r:.60}; mend the line")
        found[pair[1].lower()] = (pair[1], value)
        at = pair.end()
    return found


def after_first(text: str) -> str:
    """Return the rest of a line, without comments and escapes, after its first pair."""
    found = _PAIR.match(text)
    return text[found.end() :] if found else ""


def _refuse_template(text: str, where: str) -> None:
    if found := _TEMPLATE.search(text):
        raise SimunixError(f"{where}: {found[0]:.60}: {TEMPLATE}")


def pair_text(name: str, value: str) -> str:
    """Return `Name=value` as Slurm reads it, with quotes if the value contains blanks. Raises ValueError for a value
    that no line can have.
    """
    if "\n" in value or ('"' in value and (re.search(_BLANK, value) or re.fullmatch(r'"[^"]*"?', value))):
        raise ValueError("a value of Slurm's files has no line break, and no quotation mark beside a blank")
    escaped = value.replace("\\", "\\\\").replace("#", "\\#")
    return f"{name}={escaped}" if value and not re.search(_BLANK, value) else f'{name}="{escaped}"'


def text_of(pairs: Mapping[str, tuple[str, str]]) -> str:
    """Return a line with these pairs, which `pairs_of` can read."""
    return " ".join(pair_text(written, value) for written, value in pairs.values())


def file_text(lines: Iterable[Line]) -> str:
    """Return the text of a file with these lines."""
    return "".join(f"{text_of(line.pairs)}\n" for line in lines)


def flattened(path: Path, what: str, depth: int = 0) -> str:
    """Return the text of a file in which each included file's text replaces the including line. Raises SimunixError
    with file and line.
    """
    text = read_text(path, what)
    lines = text.split("\n")
    parts: list[str] = []
    done = 0
    for first, last, line in logical_lines(text):
        if include := _INCLUDE.fullmatch(line):
            inner = flattened(_included(path, first, line, include[1] or "", depth), what, depth + 1)
            parts += [*lines[done : first - 1], inner.removesuffix("\n")]
            done = last
    return "\n".join([*parts, *lines[done:]])
