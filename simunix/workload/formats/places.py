"""Find the line of a job in the file of its trace, for messages about single jobs. The file is read again, since this
is rarely needed.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.workload.formats.by_name import is_table
from simunix.workload.formats.text import decode, read_bytes

_NUMBER = re.compile(r"[0-9]{1,18}")


def lines_of(trace: Path, jobs: Collection[int]) -> dict[int, int]:
    """Return the line of each of these jobs, by job number. A job that is not found, or whose file has no lines, is
    left out.
    """
    if not jobs:
        return {}
    try:
        found = _of_table(trace) if is_table(trace) else _of_swf(trace)
    except SimunixError:  # Parquet, or a file that does not exist any more
        return {}
    return {job: found[job] for job in jobs if job in found}


def _of_table(trace: Path) -> dict[int, int]:
    """Return the line of each row in a job table. A row's key is its JobID if all JobIDs are plain numbers, else its
    place, as for the jobs (`job_table.py`).
    """
    from simunix.workload.formats.job_table import csv_rows

    frame = csv_rows(trace)[1]
    ids = frame["JobID"]
    numbers = ids.astype("int64") if ids.str.isdecimal().all() and ids.is_unique else range(1, len(frame) + 1)
    return {int(number): int(line) for number, line in zip(numbers, frame["line"], strict=True)}


def _of_swf(trace: Path) -> dict[int, int]:
    found: dict[int, int] = {}
    for number, line in enumerate(decode(read_bytes(trace, "a trace")).split("\n"), 1):
        first = line.split(None, 1)[0] if line.strip() else ""
        if _NUMBER.fullmatch(first):
            found.setdefault(int(first), number)
    return found
