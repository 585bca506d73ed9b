"""The Standard Workload Format (Chapin et al. 1999; https://www.cs.huji.ac.il/labs/parallel/workload/swf.html), version 2.2.

Dialects that load: text in UTF-8 or Latin-1, plain, gzipped or xz; more than 18 columns (the rest is left out), and fewer if
all lines have as many (missing ones are unknown).
"""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError

UNKNOWN = -1
LEAST_FIELDS = 5  # up to the allocated processors: without them a line says nothing about a job
LIMIT = 1e15
"""No value of a trace is this large; floats are exact up to here."""
_OPENERS = ((b"\x1f\x8b", gzip.decompress), (b"\xfd7zXZ\x00", lzma.decompress))


@dataclass(frozen=True, slots=True)
class SwfRecord:
    """One line, fields in the format's order; -1 means unknown. Times in seconds, memory in KiB per processor."""

    job: int
    submit_s: float
    wait_s: float
    runtime_s: float
    allocated: int
    cpu_s: float
    memory_kib: float
    requested: int
    requested_s: float
    requested_memory_kib: float
    status: int
    user: int
    group: int
    executable: int
    queue: int
    partition: int
    preceding: int
    think_s: float


FIELDS = tuple(field.name for field in fields(SwfRecord))
_WHOLE = {field.name for field in fields(SwfRecord) if field.type == "int"}
_TYPES = {name: np.dtype("int64" if name in _WHOLE else "float64") for name in FIELDS}


@dataclass(frozen=True)
class SwfTrace:
    """`comments`: the header's lines without their semicolon, in order; `jobs`: a frame of the columns FIELDS, a row a line."""

    comments: tuple[str, ...]
    jobs: pd.DataFrame

    @cached_property
    def header(self) -> dict[str, str]:
        """Header fields: the first value of each."""
        pairs = (comment.strip().partition(":") for comment in self.comments)
        found: dict[str, str] = {}
        for key, colon, value in pairs:
            if colon:
                found.setdefault(key.strip(), value.strip())
        return found

    @cached_property
    def records(self) -> tuple[SwfRecord, ...]:
        """The rows as records."""
        columns = [self.jobs[name].tolist() for name in FIELDS]
        return tuple(SwfRecord(*values) for values in zip(*columns, strict=True))

    def number(self, key: str) -> float | None:
        """A header field's number, e.g. MaxProcs; None if it is absent, no number, or unknown (-1)."""
        try:
            value = float(self.header[key].split()[0])
        except (KeyError, ValueError, IndexError):
            return None
        return value if value >= 0 else None

    def with_jobs(self, jobs: pd.DataFrame, note: str) -> SwfTrace:
        """Other jobs under this header, with counts brought up to date and a Note that says where they come from."""
        counts = {"MaxJobs": str(len(jobs)), "MaxRecords": str(len(jobs))}
        kept = [_counted(comment, counts) for comment in self.comments]
        return replace(self, comments=(*kept, f" Note: {note}"), jobs=jobs.reset_index(drop=True))


def _counted(comment: str, counts: dict[str, str]) -> str:
    key = comment.partition(":")[0].strip()
    return f" {key}: {counts[key]}" if key in counts else comment


def table(records: list[SwfRecord] | tuple[SwfRecord, ...]) -> pd.DataFrame:
    """The frame of these records."""
    columns = {name: np.array([getattr(record, name) for record in records], _TYPES[name]) for name in FIELDS}
    return pd.DataFrame(columns)


# Reading


def read_swf(path: Path) -> SwfTrace:
    """Read a trace. Raises SimunixError naming file and line of anything malformed."""
    text = _text(path)
    comments = tuple(line.lstrip()[1:].rstrip() for line in text.splitlines() if line.lstrip().startswith(";"))
    jobs = _fast(text)
    return SwfTrace(comments, _careful(text, path) if jobs is None else jobs)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
        for magic, decompress in _OPENERS:
            if data.startswith(magic):
                data = decompress(data)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise SimunixError(f"{path}: {getattr(error, 'strerror', None) or error}; expected a trace in SWF") from error
    if b"\0" in data:
        raise SimunixError(f"{path}: not a text file; expected a trace in SWF")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")  # what the names of people and places in old headers are written in


def _fast(text: str) -> pd.DataFrame | None:
    """All lines at once; None if there is anything about them that a closer look must decide."""
    try:
        frame = pd.read_csv(io.StringIO(text), sep=r"\s+", comment=";", header=None, dtype="float64", engine="c")
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError):
        return None
    values = frame.to_numpy()
    if values.shape[1] != len(FIELDS) or not (np.abs(values) < LIMIT).all():
        return None
    frame.columns = pd.Index(FIELDS)
    whole = frame[sorted(_WHOLE)]
    return None if (whole != np.floor(whole)).to_numpy().any() else frame.astype(_TYPES)


def _careful(text: str, path: Path) -> pd.DataFrame:
    records = []
    expected = 0
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith(";"):
            continue
        expected = expected or len(words)
        where = f"{path}:{number}"
        if len(words) != expected and expected <= len(FIELDS):
            raise SimunixError(f"{where}: expected {expected} fields, got {len(words)}; mend or delete the line")
        records.append(parse_record(words, where))
    return table(records)


def parse_record(words: list[str], where: str) -> SwfRecord:
    """One line's words; `where` (file:line) leads the error."""
    if len(words) < LEAST_FIELDS:
        raise SimunixError(f"{where}: expected {len(FIELDS)} fields, got {len(words)}; mend or delete the line")
    values: dict[str, float] = dict.fromkeys(FIELDS, UNKNOWN)
    for name, word in zip(FIELDS, words, strict=False):
        try:
            values[name] = int(word) if name in _WHOLE else float(word)
        except ValueError:
            raise SimunixError(f"{where}: {name}: expected a number, got {word!r}; mend or delete the line") from None
        if not -LIMIT < values[name] < LIMIT:
            raise SimunixError(f"{where}: {name}: {word} is out of range; mend or delete the line")
    return SwfRecord(**values)  # type: ignore[arg-type]


# Writing


def write_swf(path: Path, trace: SwfTrace) -> None:
    """Write a trace, gzipped or xz if the name ends so; reading it gives the same trace. Raises SimunixError."""
    lines = [f";{comment}" for comment in trace.comments]
    text = "\n".join([*lines, *(format_row(row) for row in trace.jobs[list(FIELDS)].itertuples(index=False))]) + "\n"
    data = text.encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".xz":
        data = lzma.compress(data)
    try:
        path.write_bytes(data)
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}") from error


def format_row(values: object) -> str:
    """The line of a row or record."""
    return " ".join(f"{value:.15g}" for value in values)  # type: ignore[attr-defined]
