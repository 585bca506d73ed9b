"""Read CSV files with fixed columns, such as those that a run writes.

Emulated programs use this module as well, so it imports nothing of simunix.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

Kind = Callable[[str], Any]
"""A function that converts the text of a field into a value, and raises ValueError for a malformed text."""
DIGITS_MAX = 19


def number(text: str) -> float:
    """Return the finite number that a text means. Raises ValueError for any other text."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def whole(text: str) -> int:
    """Return the whole number that a text means, of at most DIGITS_MAX digits. Raises ValueError for any other text."""
    if len(text) > DIGITS_MAX:
        raise ValueError(text)
    return int(text)


def number_or_nothing(text: str) -> float | None:
    """Return the finite number that a text means; None for an empty text. Raises ValueError for any other text."""
    return number(text) if text else None


EXPECTED: dict[Kind, str] = {
    int: "a whole number",
    whole: "a whole number",
    float: "a number",
    number: "a number",
    number_or_nothing: "a number or nothing",
}
"""What error messages say was expected in a field, by the function that converts the field."""


def rows_of(path: Path, file: TextIO, error: type[Exception], expected: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file with the number of each row's first line in the file; the line of column names is
    the first row.

    Raises `error`, with file and line, if the file is no CSV in UTF-8; `expected` says in the message what the file
    should be.
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
    """Raise `error`, with file and line, if a row has more or fewer fields than `columns`."""
    if len(row) != len(columns):
        raise error(f"{path}:{line}: expected {len(columns)} fields, {','.join(columns)[:200]}, got {len(row)}")


def read_columns(
    path: Path,
    columns: Sequence[str],
    kinds: Sequence[Kind],
    error: type[Exception],
    mend: str = "",
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a CSV file that has exactly these columns. `kinds` has, for each column, the function (such as
    int) that converts a field's text.

    Raises `error`, with file, line and column, if the file cannot be read, if it has other columns, or if a function of
    `kinds` raises ValueError for a field. `mend` is advice for the message if the file does not exist.
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
