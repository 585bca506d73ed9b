"""What else is called SWF: files of the JSSPP archive (CESNET) whose columns are other ones.

The Parallel Workloads Archive's own files need nothing of this: 18 columns, or 18 and more. A dialect is known by the number of
its columns and by the column that holds words where SWF has a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Dialect:
    """`columns`: for each of the file's columns the SWF field it fills, None if none does."""

    name: str
    columns: tuple[str | None, ...]
    words: int  # place of the column that tells the dialect: names, not numbers

    def fits(self, words: list[str]) -> bool:
        """Whether a line is of this dialect."""
        return len(words) == len(self.columns) and not _is_number(words[self.words])


SOFT_WALLTIME = Dialect(
    "CERIT-SC with soft walltimes (JSSPP 2022)",
    ("job", "submit_s", "wait_s", "runtime_s", "requested", "requested_memory_b", "user", "queue_name", "requested_s", None),
    words=7,
)
METACENTRUM_2009 = Dialect(
    "MetaCentrum 2009, as received",
    (
        *("job", "user_name", "queue_name", "allocated", None, None, "memory_kib"),
        *("submit_s", "start_s", "end_s", "runtime_s", None, None),
    ),
    words=2,
)
DIALECTS = (SOFT_WALLTIME, METACENTRUM_2009)
_JOB = re.compile(r"^(\d+)(?:\[\d*\])?(?:\..*|\[\d*\].*)?$")


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def job_number(word: str) -> int:
    """Of `42`, `42.server.cz`, `42[7]`, `42[7].server`: 42. ValueError for anything else."""
    found = _JOB.match(word)
    if found is None:
        raise ValueError(word)
    return int(found[1])


def decimal(word: str) -> float:
    """A number, also with a decimal comma (as CERIT-SC writes memory)."""
    return float(word.replace(",", "."))


class Names:
    """Numbers for names, counted from 1 in the order in which they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, word: str) -> int:
        """The number of a name; of a number, itself."""
        return int(word) if word.lstrip("-").isdigit() else self.numbers.setdefault(word, len(self.numbers) + 1)

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Names and their numbers."""
        return iter(self.numbers.items())


Converter = Callable[[str], float]


def translate(dialect: Dialect, words: list[str], users: Names, queues: Names) -> dict[str, float]:
    """SWF fields of a dialect's line; a ValueError's argument is the column's name and word."""
    converters: dict[str, Converter] = {"job": job_number, "user_name": users, "user": users, "queue_name": queues}
    found: dict[str, float] = {}
    for name, word in zip(dialect.columns, words, strict=True):
        if name is None:
            continue
        try:
            found[name] = converters.get(name, decimal)(word)
        except ValueError:
            raise ValueError(name, word) from None
    renamed = {"user_name": "user", "queue_name": "queue"}
    values = {renamed.get(name, name): value for name, value in found.items()}
    if "requested_memory_b" in values:
        memory_b = values.pop("requested_memory_b")
        values["requested_memory_kib"] = memory_b / 1024 / max(values.get("requested", 1), 1) if memory_b >= 0 else UNKNOWN
    if "start_s" in values:
        values["wait_s"] = values.pop("start_s") - values["submit_s"]
        values.pop("end_s")
    return values
