"""CSV files with fixed columns, such as a run writes them, read again.

Emulated programs use this as well, so it imports nothing of simunix.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any


def read_columns(
    path: Path,
    columns: Sequence[str],
    kinds: Sequence[Callable[[str], Any]],
    error: type[Exception],
    mend: str = "",
) -> Iterator[tuple[Any, ...]]:
    """Return the rows of a file whose first line names just these columns; of each field, what its kind (such as int) makes.

    Raises `error`, with file and line, if the file cannot be read, its columns are others, or a kind raises ValueError for a
    field; with `mend`, how the user may mend a file that is not there.
    """
    expected = ",".join(columns)
    try:
        with path.open(newline="") as file:
            reader = csv.reader(file)
            if tuple(next(reader, ())) != tuple(columns):
                raise error(f"{path}:1: expected the columns {expected}")
            for number, row in enumerate(reader, 2):
                try:
                    yield tuple(kind(field) for kind, field in zip(kinds, row, strict=True))
                except ValueError:
                    raise error(f"{path}:{number}: expected {expected}, got {','.join(row)!r}") from None
    except UnicodeDecodeError as problem:
        raise error(f"{path}: not a text in UTF-8 ({problem.reason}); expected {expected}") from problem
    except csv.Error as problem:
        raise error(f"{path}: {problem}; expected {expected}") from problem
    except OSError as problem:
        raise error(f"{path}: {problem.strerror}{mend and '; '}{mend}") from problem
