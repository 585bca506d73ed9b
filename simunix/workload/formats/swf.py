"""The Standard Workload Format (Chapin et al. 1999; https://www.cs.huji.ac.il/labs/parallel/workload/swf.html), version 2.2.

Dialects that load: text in UTF-8 or Latin-1, plain or packed (`text.py`); more than 18 columns (the rest is left out), and
fewer if all lines have as many (missing ones are unknown); whole numbers written as 4.0; job numbers such as 42.server and
42[7]; submissions as dates (seconds of the Unix epoch; they become the trace's UnixStartTime); the tables of `dialects.py`.
"""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.workload.formats.dialects import DIALECTS, Dialect, Names, job_number, translate
from simunix.workload.formats.text import decode, read_bytes, stream

UNKNOWN = -1
LEAST_FIELDS = 5  # up to the allocated processors: without them a line says nothing about a job
LIMIT = 1e15
"""No value of a trace is this large; floats are exact up to here."""
LONGEST_SHOWN = 40
ROWS_AT_ONCE = 50_000
EXPECTED = "a trace in SWF"
LEAST_DATE_S = 5e8
"""A trace whose first job is submitted as late (16 years after its start) counts from 1970."""


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
    """`comments`: the header's lines without their semicolon, in order; `jobs`: a frame of the columns FIELDS, a row a line.

    Of a workload of Batsim, jobs may have a column `profile` too: a name in `profiles`, or nothing for one that is a delay.
    """

    comments: tuple[str, ...]
    jobs: pd.DataFrame
    profiles: Mapping[str, dict[str, Any]] = field(default_factory=dict)

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

    def with_jobs(self, jobs: pd.DataFrame, note: str, are_the_same: bool = False) -> SwfTrace:
        """Other jobs under this header, with counts brought up to date and a Note that says where they come from.

        A line that names a context's jobs (`context.py`) is left out, unless they `are_the_same` at the same times.
        """
        counts = {"MaxJobs": str(len(jobs)), "MaxRecords": str(len(jobs))}
        kept = [_counted(comment, counts) for comment in self.comments if are_the_same or not is_context(comment)]
        return replace(self, comments=(*kept, f" Note: {note}"), jobs=jobs.reset_index(drop=True))


def is_context(comment: str) -> bool:
    """Whether a header's line names the jobs of a context."""
    return comment.partition(":")[0].strip() == "Context"


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
    data = read_bytes(path, EXPECTED)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    jobs = _fast(data)
    notes: tuple[str, ...] = ()
    if jobs is None:
        jobs, notes = _careful(decode(data), path)
    return _from_zero(SwfTrace((*_comments(data), *notes), jobs))


def read_comments(path: Path) -> tuple[str, ...]:
    """The header of a trace alone. Raises SimunixError."""
    return tuple(_comments(read_bytes(path, EXPECTED)))


def _comments(data: bytes) -> list[str]:
    """The lines that begin with a semicolon, without it."""
    found: list[bytes] = []
    place = data.find(b";")
    while place >= 0:
        begin, end = data.rfind(b"\n", 0, place) + 1, data.find(b"\n", place)
        end = len(data) if end < 0 else end
        if not data[begin:place].strip():
            found.append(data[place + 1 : end].rstrip())
        place = data.find(b";", end)
    return decode(b"\n".join(found)).split("\n") if found else []


def _from_zero(trace: SwfTrace) -> SwfTrace:
    """Dates instead of times since the beginning become such times."""
    known = trace.jobs["submit_s"][trace.jobs["submit_s"] >= 0]
    if known.empty or (first := float(known.min())) < LEAST_DATE_S:
        return trace
    jobs = trace.jobs.assign(submit_s=trace.jobs["submit_s"].where(trace.jobs["submit_s"] < 0, trace.jobs["submit_s"] - first))
    kept = (line for line in trace.comments if line.partition(":")[0].strip() != "UnixStartTime")
    return SwfTrace((*kept, f" UnixStartTime: {first:.15g}", " Note: submissions were dates"), jobs)


def _fast(data: bytes) -> pd.DataFrame | None:
    """All lines at once; None if there is anything about them that a closer look must decide."""
    options = {"sep": r"\s+", "comment": ";", "header": None, "dtype": "float64", "engine": "c", "encoding": "latin-1"}
    try:
        frame = pd.read_csv(stream(data), usecols=range(len(FIELDS)), **options)  # type: ignore[call-overload]
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError):
        return None
    values = frame.to_numpy()
    if values.size and not (values.min() > -LIMIT and values.max() < LIMIT):  # also false of what is no number
        return None
    frame.columns = pd.Index(FIELDS)
    if any((frame[name] % 1 != 0).any() for name in _WHOLE):
        return None
    return cast("pd.DataFrame", frame.astype(_TYPES))


def _careful(text: str, path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Line by line; and Notes of what was decided."""
    rows: list[tuple[float, ...]] = []
    expected, dialect = 0, None
    users, queues = Names(), Names()
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition(";")[0].split()
        if not words:
            continue
        if not expected:
            expected, dialect = len(words), next((one for one in DIALECTS if one.fits(words)), None)
        where = f"{path}:{number}"
        if len(words) != expected and (dialect or expected <= len(FIELDS)):
            raise SimunixError(f"{where}: expected {expected} fields, got {len(words)}; mend or delete the line")
        if dialect is None:
            rows.append(_row(words, where))
        else:
            rows.append(_dialect_row(dialect, words, where, users, queues))
    notes = [f" Note: {field} {code}: {name}" for field, names in (("user", users), ("queue", queues)) for name, code in names]
    if dialect:
        notes.insert(0, f" Note: read as the dialect of {dialect.name}")
    return _frame(rows), tuple(notes)


def _frame(rows: list[tuple[float, ...]]) -> pd.DataFrame:
    columns = zip(*rows, strict=True) if rows else ((),) * len(FIELDS)
    return pd.DataFrame({name: np.array(column, _TYPES[name]) for name, column in zip(FIELDS, columns, strict=True)})


def _dialect_row(dialect: Dialect, words: list[str], where: str, users: Names, queues: Names) -> tuple[float, ...]:
    try:
        found = translate(dialect, words, users, queues)
    except ValueError as error:
        name, word = error.args
        raise SimunixError(f"{where}: {name}: expected a number, got {_shown(word)}; mend or delete the line") from None
    return tuple(_in_range(name, found.get(name, UNKNOWN), where, f"{found.get(name, UNKNOWN):g}") for name in FIELDS)


def parse_record(words: list[str], where: str) -> SwfRecord:
    """One line's words; `where` (file:line) leads the error."""
    return SwfRecord(*_row(words, where))  # type: ignore[arg-type]


def _row(words: list[str], where: str) -> tuple[float, ...]:
    if len(words) < LEAST_FIELDS:
        raise SimunixError(f"{where}: expected {len(FIELDS)} fields, got {len(words)}; mend or delete the line")
    found = [_in_range(name, _value(name, word, where), where, word) for name, word in zip(FIELDS, words, strict=False)]
    return (*found, *(UNKNOWN for _ in FIELDS[len(found) :]))


def _value(name: str, word: str, where: str) -> float:
    try:
        if name == FIELDS[0] and not word.removeprefix("-").isdigit():
            return _whole(word) if _is_decimal(word) else job_number(word)
        return _whole(word) if name in _WHOLE else float(word)
    except ValueError:
        raise SimunixError(f"{where}: {name}: expected a number, got {_shown(word)}; mend or delete the line") from None


def _is_decimal(word: str) -> bool:
    return word.replace(".", "", 1).isdigit()


def _whole(word: str) -> int:
    """`4` and `4.0`."""
    try:
        return int(word)
    except ValueError:
        value = float(word)
        if value.is_integer():
            return int(value)
        raise


def _in_range(name: str, value: float, where: str, word: str) -> float:
    if not -LIMIT < value < LIMIT:
        raise SimunixError(f"{where}: {name}: {word[:LONGEST_SHOWN]} is out of range; mend or delete the line")
    return value


def _shown(word: str) -> str:
    return repr(word if len(word) <= LONGEST_SHOWN else word[:LONGEST_SHOWN] + "…")


# Writing


def _gzipped(file: BinaryIO) -> gzip.GzipFile:
    return gzip.GzipFile("", "wb", 6, file, mtime=0)  # neither name nor date: the same trace, the same file


def _xz(file: BinaryIO) -> lzma.LZMAFile:
    return lzma.LZMAFile(file, "wb")


_PACKERS: dict[str, Callable[[BinaryIO], AbstractContextManager[Any]]] = {".gz": _gzipped, ".xz": _xz}


def write_swf(path: Path, trace: SwfTrace) -> None:
    """Write a trace, gzipped or xz if the name ends so; reading it gives the same trace. Raises SimunixError."""
    try:
        with path.open("wb") as file, _PACKERS.get(path.suffix, nullcontext)(file) as packed:
            packed.write("".join(f";{comment}\n" for comment in trace.comments).encode())
            for begin in range(0, len(trace.jobs), ROWS_AT_ONCE):
                packed.write(_lines(trace.jobs.iloc[begin : begin + ROWS_AT_ONCE]).encode())
    except OSError as error:
        raise SimunixError(f"{path}: {error.strerror}") from error


def _lines(jobs: pd.DataFrame) -> str:
    columns = [_words(jobs[name]) for name in FIELDS]
    return "".join(" ".join(words) + "\n" for words in zip(*columns, strict=True))


def _words(column: pd.Series) -> list[str]:
    values = column.to_numpy()
    if values.dtype.kind == "f" and (values == np.floor(values)).all():
        values = values.astype("int64")  # ten times faster to write than 18 million floats one by one
    return [str(value) for value in values.tolist()] if values.dtype.kind == "i" else [f"{v:.15g}" for v in values.tolist()]


def format_row(values: object) -> str:
    """The line of a row or record."""
    return " ".join(f"{value:.15g}" for value in values)  # type: ignore[attr-defined]
