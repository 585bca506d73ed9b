"""CSV files with fixed columns, such as a run writes them, read again.

Emulated programs use this as well, so it imports nothing of simunix.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

Kind = Callable[[str], Any]
"""Makes a value of the text of a field; ValueError for a text that cannot be."""
DIGITS_MAX = 19


def number(text: str) -> float:
    """A finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def whole(text: str) -> int:
    """A whole number of at most DIGITS_MAX digits."""
    if len(text) > DIGITS_MAX:
        raise ValueError(text)
    return int(text)


def number_or_nothing(text: str) -> float | None:
    """A finite number, or None of an empty field."""
    return number(text) if text else None


EXPECTED: dict[Kind, str] = {
    int: "a whole number",
    whole: "a whole number",
    float: "a number",
    number: "a number",
    number_or_nothing: "a number or nothing",
}
"""What errors say of a kind."""


def rows_of(path: Path, file: TextIO, error: type[Exception], expected: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, the first line among them, each with the number of the line that it begins in.

    Raises `error` with file and line for what is no CSV in UTF-8; `expected` says what the file is to be.
    """
    reader = csv.reader(file)
    line = 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except UnicodeDecodeError as problem:
        raise error(f"{path}: not a text in UTF-8 ({problem.reason}); expected {expected}") from problem
    except csv.Error as problem:
        raise error(f"{path}:{line}: {problem}; expected {expected}") from problem


def check_width(path: Path, line: int, row: Sequence[str], columns: Sequence[str], error: type[Exception]) -> None:
    """Raise `error` unless a row has a field for each column."""
    if len(row) != len(columns):
        raise error(f"{path}:{line}: expected {len(columns)} fields, {','.join(columns)[:200]}, got {len(row)}")


def read_columns(
    path: Path,
    columns: Sequence[str],
    kinds: Sequence[Kind],
    error: type[Exception],
    mend: str = "",
) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a file whose first line names just these columns; of each field, what its kind (such as int) makes.

    Raises `error`, with file, line and column, if the file cannot be read, its columns are others, or a kind raises ValueError
    for a field; with `mend`, how the user may mend a file that is not there.
    """
    expected = ",".join(columns)
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = rows_of(path, file, error, expected)
            if tuple(next(rows, (1, []))[1]) != tuple(columns):
                raise error(f"{path}:1: expected the columns {expected}")
            for line, row in rows:
                check_width(path, line, row, columns, error)
                yield _values(path, line, row, columns, kinds, error)
    except OSError as problem:
        raise error(f"{path}: {problem.strerror}{mend and '; '}{mend}") from problem


def _values(
    path: Path, line: int, row: Sequence[str], columns: Sequence[str], kinds: Sequence[Kind], error: type[Exception]
) -> tuple[Any, ...]:
    found = []
    for name, kind, field in zip(columns, kinds, row, strict=True):
        try:
            found.append(kind(field))
        except ValueError:
            raise error(f"{path}:{line}: {name}: expected {EXPECTED.get(kind, 'another value')}, got {field[:60]!r}") from None
    return tuple(found)
