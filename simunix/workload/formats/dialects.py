"""Dialects of SWF: files of the JSSPP archive (CESNET) that are called SWF but have other columns.

Files of the Parallel Workloads Archive have at least SWF's 18 columns and need no dialect. A dialect is recognised by the
number of its columns and by one column that holds names where SWF has a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Dialect:
    """A dialect. `columns` has, for each column of the file, the SWF field that it fills, or None for an unused column.

    `name_column` is the index of a column that contains names, by which the dialect is recognised.
    """

    name: str
    columns: tuple[str | None, ...]
    name_column: int

    def fits(self, cells: list[str]) -> bool:
        """Return whether a line, split into its cells, belongs to this dialect."""
        return len(cells) == len(self.columns) and not _is_number(cells[self.name_column])


SOFT_WALLTIME = Dialect(
    "CERIT-SC with soft walltimes (JSSPP 2022)",
    ("job", "submit_s", "wait_s", "runtime_s", "requested", "requested_memory_b", "user", "queue_name", "requested_s", None),
    name_column=7,
)
METACENTRUM_2009 = Dialect(
    "MetaCentrum 2009, as received",
    (
        *("job", "user_name", "queue_name", "allocated", None, None, "memory_kib"),
        *("submit_s", "start_s", "end_s", "runtime_s", None, None),
    ),
    name_column=2,
)
DIALECTS = (SOFT_WALLTIME, METACENTRUM_2009)
_JOB = re.compile(r"^(\d+)(?:\[\d*\])?(?:\..*|\[\d*\].*)?$")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def job_number(text: str) -> int:
    """Return the job number in a text: 42 for `42`, `42.server.cz`, `42[7]` and `42[7].server`. Raises ValueError for
    any other text.
    """
    found = _JOB.match(text)
    if found is None:
        raise ValueError(text)
    return int(found[1])


def decimal(text: str) -> float:
    """Return a number written with a decimal point or a decimal comma (CERIT-SC writes memory with a comma)."""
    return float(text.replace(",", "."))


class Names:
    """Assigns numbers to names, counted from 1 in the order in which the names first appear."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the number of a name; a text that is a number stands for itself."""
        return int(text) if text.lstrip("-").isdigit() else self.numbers.setdefault(text, len(self.numbers) + 1)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Iterate over the names and their numbers."""
        return iter(self.numbers.items())


Converter = Callable[[str], float]


def translate(dialect: Dialect, cells: list[str], users: Names, queues: Names) -> dict[str, float]:
    """Return the SWF fields of a dialect's line by name. Raises ValueError(column, text) for a cell that is not a number.

    Names of users and queues are entered into `users` and `queues`.
    """
    converters: dict[str, Converter] = {"job": job_number, "user_name": users, "user": users, "queue_name": queues}
    found: dict[str, float] = {}
    for name, text in zip(dialect.columns, cells, strict=True):
        if name is None:
            continue
        try:
            found[name] = converters.get(name, decimal)(text)
        except ValueError:
            raise ValueError(name, text) from None
    renamed = {"user_name": "user", "queue_name": "queue"}
    values = {renamed.get(name, name): value for name, value in found.items()}
    if "requested_memory_b" in values:
        memory_b = values.pop("requested_memory_b")
        values["requested_memory_kib"] = memory_b / 1024 / max(values.get("requested", 1), 1) if memory_b >= 0 else UNKNOWN
    if "start_s" in values:
        values["wait_s"] = values.pop("start_s") - values["submit_s"]
        values.pop("end_s")
    return values
