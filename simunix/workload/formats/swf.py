"""Read and write the Standard Workload Format (Chapin et al. 1999;
https://www.cs.huji.ac.il/labs/parallel/workload/swf.html), version 2.2.

The reader also accepts text in UTF-8 or Latin-1, plain or compressed (`text.py`), and the tables of `dialects.py`.
Columns from the 19th on are ignored. There may be fewer than 18 columns if all lines have equally many; missing fields
are unknown. Whole numbers may be written as 4.0, job numbers as 42.server and 42[7]. Submissions may be dates (seconds
since the Unix epoch); the first date becomes UnixStartTime.
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
from rsg_server.whole_files import unwritten, whole_path
from simunix.workload.formats.dialects import DIALECTS, Dialect, Names, job_number, translate
from simunix.workload.formats.text import decode, read_bytes, stream

UNKNOWN = -1
LEAST_FIELDS = 5  # up to the allocated processors; a line without these fields does not describe a job
LIMIT = 1e15
"""The limit for every value of a trace; below this limit, floating-point numbers represent whole numbers exactly."""
LONGEST_SHOWN = 40
ROWS_AT_ONCE = 50_000
EXPECTED = "a trace in SWF"
LEAST_DATE_S = 5e8
"""If the first submission of a trace is later than this (16 years), submissions are dates, counted from 1970."""


@dataclass(frozen=True, slots=True)
class SwfRecord:
    """A line of a trace, with the fields in the format's order; -1 means unknown. Times are seconds; memory is KiB per
    processor.
    """

    job: int
    submit_s: float
    wait_s: float = UNKNOWN
    runtime_s: float = UNKNOWN
    allocated: int = UNKNOWN
    cpu_s: float = UNKNOWN
    memory_kib: float = UNKNOWN
    requested: int = UNKNOWN
    requested_s: float = UNKNOWN
    requested_memory_kib: float = UNKNOWN
    status: int = UNKNOWN
    user: int = UNKNOWN
    group: int = UNKNOWN
    executable: int = UNKNOWN
    queue: int = UNKNOWN
    partition: int = UNKNOWN
    preceding: int = UNKNOWN
    think_s: float = UNKNOWN


FIELDS = tuple(field.name for field in fields(SwfRecord))
_WHOLE = {field.name for field in fields(SwfRecord) if field.type == "int"}
_TYPES = {name: np.dtype("int64" if name in _WHOLE else "float64") for name in FIELDS}


@dataclass(frozen=True)
class SwfTrace:
    """A trace: `comments` are the lines of the header without the semicolon, `jobs` is a frame with a row per job.

    `jobs` has the columns FIELDS. The jobs of a Batsim workload also have a column `profile`: a key of `profiles`, or an empty
    string for a job that is a delay.
    """

    comments: tuple[str, ...]
    jobs: pd.DataFrame
    profiles: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    @cached_property
    def header(self) -> dict[str, str]:
        """The values of the header's fields by name; of a field that occurs several times, the first value."""
        pairs = (comment.strip().partition(":") for comment in self.comments)
        found: dict[str, str] = {}
        for key, colon, value in pairs:
            if colon:
                found.setdefault(key.strip(), value.strip())
        return found

    @cached_property
    def records(self) -> tuple[SwfRecord, ...]:
        """The rows of `jobs` as records."""
        columns = [self.jobs[name].tolist() for name in FIELDS]
        return tuple(SwfRecord(*values) for values in zip(*columns, strict=True))

    def number(self, key: str) -> float | None:
        """Return the number in a field of the header, such as MaxProcs; None if the field is missing, no number, or
        unknown (-1).
        """
        try:
            value = float(self.header[key].split()[0])
        except (KeyError, ValueError, IndexError):
            return None
        return value if value >= 0 else None

    def with_jobs(self, jobs: pd.DataFrame, note: str, are_the_same: bool = False) -> SwfTrace:
        """Return a trace of other jobs with this header, updated numbers of jobs, and a Note on where the jobs come
        from.

        The line of the header that lists the jobs of a context (`context.py`) is removed, unless the jobs and their
        times `are_the_same`.
        """
        counts = {"MaxJobs": str(len(jobs)), "MaxRecords": str(len(jobs))}
        kept = [_counted(comment, counts) for comment in self.comments if are_the_same or not is_context(comment)]
        return replace(self, comments=(*kept, f" Note: {note}"), jobs=jobs.reset_index(drop=True))


def is_context(comment: str) -> bool:
    """Return whether a line of the header lists the jobs of a context."""
    return comment.partition(":")[0].strip() == "Context"


def _counted(comment: str, counts: dict[str, str]) -> str:
    key = comment.partition(":")[0].strip()
    return f" {key}: {counts[key]}" if key in counts else comment


def table(records: list[SwfRecord] | tuple[SwfRecord, ...]) -> pd.DataFrame:
    """Return the records as a data frame, a row per record, with the columns FIELDS."""
    columns = {name: np.array([getattr(record, name) for record in records], _TYPES[name]) for name in FIELDS}
    return pd.DataFrame(columns)


# Reading


def read_swf(path: Path) -> SwfTrace:
    """Read a trace in SWF. Raises SimunixError with file and line for a malformed file."""
    data = read_bytes(path, EXPECTED)
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    jobs = _fast(data)
    notes: tuple[str, ...] = ()
    if jobs is None:
        jobs, notes = _careful(decode(data), path)
    return _from_zero(SwfTrace((*_comments(data), *notes), jobs))


def _comments(data: bytes) -> list[str]:
    """Return the lines that begin with a semicolon, without the semicolon."""
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
    """Return a trace whose submissions are dates with seconds since the first submission; the first date becomes
    UnixStartTime.
    """
    known = trace.jobs["submit_s"][trace.jobs["submit_s"] >= 0]
    if known.empty or (first := float(known.min())) < LEAST_DATE_S:
        return trace
    jobs = trace.jobs.assign(submit_s=trace.jobs["submit_s"].where(trace.jobs["submit_s"] < 0, trace.jobs["submit_s"] - first))
    kept = (line for line in trace.comments if line.partition(":")[0].strip() != "UnixStartTime")
    return SwfTrace((*kept, f" UnixStartTime: {first:.15g}", " Note: submissions were dates"), jobs)


def _fast(data: bytes) -> pd.DataFrame | None:
    """Parse all lines at once. Return None if a line is not plain SWF, so that `_careful` must parse the lines one by
    one.
    """
    options = {"sep": r"\s+", "comment": ";", "header": None, "dtype": "float64", "engine": "c", "encoding": "latin-1"}
    try:
        frame = pd.read_csv(stream(data), usecols=range(len(FIELDS)), **options)  # type: ignore[call-overload]
    except (ValueError, pd.errors.ParserError, pd.errors.EmptyDataError):
        return None
    values = frame.to_numpy()
    if values.size and not (values.min() > -LIMIT and values.max() < LIMIT):  # written so that NaN fails the test
        return None
    frame.columns = pd.Index(FIELDS)
    if any((frame[name] % 1 != 0).any() for name in _WHOLE):
        return None
    return cast("pd.DataFrame", frame.astype(_TYPES))


def _careful(content: str, path: Path) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Parse the lines one by one; return the jobs, and Notes on the dialect and on the numbers given to names."""
    rows: list[tuple[float, ...]] = []
    expected, dialect = 0, None
    users, queues = Names(), Names()
    for number, line in enumerate(content.split("\n"), 1):
        cells = line.partition(";")[0].split()
        if not cells:
            continue
        if not expected:
            expected, dialect = len(cells), next((one for one in DIALECTS if one.fits(cells)), None)
        where = f"{path}:{number}"
        if len(cells) != expected and (dialect or expected <= len(FIELDS)):
            raise SimunixError(f"{where}: expected {expected} fields, got {len(cells)}; mend or delete the line")
        if dialect is None:
            rows.append(_row(cells, where))
        else:
            rows.append(_dialect_row(dialect, cells, where, users, queues))
    notes = [f" Note: {field} {code}: {name}" for field, names in (("user", users), ("queue", queues)) for name, code in names]
    if dialect:
        notes.insert(0, f" Note: read as the dialect of {dialect.name}")
    return _frame(rows), tuple(notes)


def _frame(rows: list[tuple[float, ...]]) -> pd.DataFrame:
    columns = zip(*rows, strict=True) if rows else ((),) * len(FIELDS)
    return pd.DataFrame({name: np.array(column, _TYPES[name]) for name, column in zip(FIELDS, columns, strict=True)})


def _dialect_row(dialect: Dialect, cells: list[str], where: str, users: Names, queues: Names) -> tuple[float, ...]:
    try:
        found = translate(dialect, cells, users, queues)
    except ValueError as error:
        name, text = error.args
        raise SimunixError(f"{where}: {name}: expected a number, got {_shown(text)}; mend or delete the line") from None
    return tuple(_in_range(name, found.get(name, UNKNOWN), where, f"{found.get(name, UNKNOWN):g}") for name in FIELDS)


def parse_record(cells: list[str], where: str) -> SwfRecord:
    """Return the record of one line, split into its cells. Raises SimunixError, beginning with `where` (file:line), for
    a malformed line.
    """
    return SwfRecord(*_row(cells, where))  # type: ignore[arg-type]


def _row(cells: list[str], where: str) -> tuple[float, ...]:
    if len(cells) < LEAST_FIELDS:
        raise SimunixError(f"{where}: expected {len(FIELDS)} fields, got {len(cells)}; mend or delete the line")
    found = [_in_range(name, _value(name, text, where), where, text) for name, text in zip(FIELDS, cells, strict=False)]
    return (*found, *(UNKNOWN for _ in FIELDS[len(found) :]))


def _value(name: str, text: str, where: str) -> float:
    try:
        if name == FIELDS[0] and not text.removeprefix("-").isdigit():
            return _whole(text) if _is_decimal(text) else job_number(text)
        return _whole(text) if name in _WHOLE else float(text)
    except ValueError:
        raise SimunixError(f"{where}: {name}: expected a number, got {_shown(text)}; mend or delete the line") from None


def _is_decimal(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def _whole(text: str) -> int:
    """Parse `4` or `4.0`. Raises ValueError for other texts."""
    try:
        return int(text)
    except ValueError:
        value = float(text)
        if value.is_integer():
            return int(value)
        raise


def _in_range(name: str, value: float, where: str, text: str) -> float:
    if not -LIMIT < value < LIMIT:
        raise SimunixError(f"{where}: {name}: {text[:LONGEST_SHOWN]} is out of range; mend or delete the line")
    return value


def _shown(text: str) -> str:
    return repr(text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…")


# Writing


def _gzipped(file: BinaryIO) -> gzip.GzipFile:
    return gzip.GzipFile("", "wb", 6, file, mtime=0)  # without a file name and date, so that equal traces make equal files


def _xz(file: BinaryIO) -> lzma.LZMAFile:
    return lzma.LZMAFile(file, "wb")


_PACKERS: dict[str, Callable[[BinaryIO], AbstractContextManager[Any]]] = {".gz": _gzipped, ".xz": _xz}


def write_swf(path: Path, trace: SwfTrace) -> None:
    """Write a trace in SWF, compressed if the name ends in .gz or .xz; reading the file gives an equal trace. Raises
    SimunixError if the file cannot be written.
    """
    try:
        packer = _PACKERS.get(path.suffix, nullcontext)
        with whole_path(path) as draft, draft.open("wb") as file, packer(file) as packed:
            packed.write("".join(f";{comment}\n" for comment in trace.comments).encode())
            for begin in range(0, len(trace.jobs), ROWS_AT_ONCE):
                packed.write(_lines(trace.jobs.iloc[begin : begin + ROWS_AT_ONCE]).encode())
    except OSError as error:
        raise SimunixError(unwritten(path, error)) from error


def _lines(jobs: pd.DataFrame) -> str:
    columns = [_texts(jobs[name]) for name in FIELDS]
    return "".join(" ".join(cells) + "\n" for cells in zip(*columns, strict=True))


def _texts(column: pd.Series) -> list[str]:
    values = column.to_numpy()
    if values.dtype.kind == "f" and (values == np.floor(values)).all():
        values = values.astype("int64")  # formatting integers is ten times as fast as formatting floats
    return [str(value) for value in values.tolist()] if values.dtype.kind == "i" else [f"{v:.15g}" for v in values.tolist()]


def format_row(values: object) -> str:
    """Return the line of a row: its values in the order of FIELDS, separated by spaces."""
    return " ".join(f"{value:.15g}" for value in values)  # type: ignore[attr-defined]
