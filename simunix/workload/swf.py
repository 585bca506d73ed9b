"""The Standard Workload Format (Chapin et al. 1999; https://www.cs.huji.ac.il/labs/parallel/workload/swf.html), version 2.2."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from rsg_server.errors import SimunixError

UNKNOWN = -1


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


@dataclass(frozen=True, slots=True)
class SwfTrace:
    """Header fields (first value of each) and records in the order of the file."""

    header: dict[str, str]
    records: tuple[SwfRecord, ...]


def read_swf(path: Path) -> SwfTrace:
    """Read a trace, plain or gzipped. Raises SimunixError naming file and line of anything malformed."""
    header: dict[str, str] = {}
    records = []
    for number, line in enumerate(_lines(path), 1):
        text = line.strip()
        if text.startswith(";"):
            key, colon, value = text.lstrip("; \t").partition(":")
            if colon:
                header.setdefault(key.strip(), value.strip())
        elif text:
            records.append(parse_record(text, f"{path}:{number}"))
    return SwfTrace(header, tuple(records))


def _lines(path: Path) -> Iterator[str]:
    try:
        if path.suffix == ".gz":
            with gzip.open(path, "rt", encoding="utf-8") as file:
                yield from file
        else:
            with path.open(encoding="utf-8") as file:
                yield from file
    except UnicodeDecodeError as error:
        raise SimunixError(f"{path}: not a text file; expected a trace in SWF") from error
    except (OSError, EOFError, zlib.error) as error:
        raise SimunixError(f"{path}: {getattr(error, 'strerror', None) or error}; expected a trace in SWF") from error


def parse_record(text: str, where: str) -> SwfRecord:
    """One line of 18 numbers; `where` (file:line) leads the error."""
    words = text.split()
    if len(words) != len(FIELDS):
        raise SimunixError(f"{where}: expected {len(FIELDS)} fields, got {len(words)}; mend or delete the line")
    values: dict[str, float] = {}
    for name, word in zip(FIELDS, words, strict=True):
        try:
            values[name] = int(word) if name in _WHOLE else float(word)
        except ValueError:
            raise SimunixError(f"{where}: {name}: expected a number, got {word!r}; mend or delete the line") from None
        if not -1e15 < values[name] < 1e15:
            raise SimunixError(f"{where}: {name}: {word} is out of range; mend or delete the line")
    return SwfRecord(**values)  # type: ignore[arg-type]


def format_record(record: SwfRecord) -> str:
    """The line that `parse_record` reads back to the same record."""
    return " ".join(f"{getattr(record, name):.15g}" for name in FIELDS)
