"""Split the output of `sacct -P` into jobs and fields, even if names or commands contain a | or a line break.

sacct prints such characters unchanged. Fields of a known form (dates, states, numbers) show where a field with free
text ends; see sacct(1).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from rsg_server.errors import SimunixError

_DATE = re.compile(r"\d{4}-\d\d-\d\dT[\d:]{5,8}(?:\.\d+)?(?:Z|[+-][\d:]+)?|\d{9,11}|Unknown|None|N/A|None assigned")
_NUMBER = re.compile(r"\d*")
_TIME = re.compile(r"(?:\d+-)?[\d:.]*|UNLIMITED|INVALID|Partition_Limit")
_JOB = re.compile(r"\d{1,15}(?:_\d+|_\[[\d,%:-]*\]|\+\d+)?(?:\.[\w+-]+)?")
FORMS = {
    "JobID": _JOB,
    "JobIDRaw": _JOB,
    **dict.fromkeys(("Submit", "Start", "End", "Eligible", "Planned"), _DATE),
    **dict.fromkeys(("ReqCPUS", "AllocCPUS", "NCPUS", "NNodes", "AllocNodes", "ElapsedRaw", "UID", "GID", "Restarts"), _NUMBER),
    **dict.fromkeys(("Elapsed", "Timelimit", "TimelimitRaw", "CPUTime", "TotalCPU", "CPUTimeRAW", "Reserved"), _TIME),
    "State": re.compile(r"[A-Z_]+(?: by \S+)?\+?"),
    "ExitCode": re.compile(r"\d+:\d+"),
    "ReqMem": re.compile(r"[\d.]*[KMGTPcn?]*"),
    "ReqTRES": re.compile(r"(?:[\w/:.-]+=[^|]*)?"),
    "AllocTRES": re.compile(r"(?:[\w/:.-]+=[^|]*)?"),
}
"""The columns whose fields have a form that a piece of free text does not have; dates, states and exit codes are never
empty.
"""
TEXTS = frozenset(
    (
        *("JobName", "Constraints", "Comment", "AdminComment", "SystemComment", "WorkDir", "SubmitLine", "Reason", "Extra"),
        *("Container", "StdOut", "StdErr", "StdIn", "FailedNode", "WCKey"),
    )
)
"""The columns with free text, whose fields may contain a |."""
RARELY = frozenset(("Licenses", "Reservation"))
"""The columns whose fields are read with a | only if no other reading is possible: later releases allow licenses such
as a|b.
"""
MOST_LINES = 1000
"""The most lines that the texts of one job may have."""


def sacct_rows(path: Path, content: str) -> Iterator[tuple[int, list[str]]]:
    """Yield, for each job and step after the heading, the number of its first line and its fields. Raises SimunixError
    with file and line.
    """
    lines = content.replace("\r\n", "\n").split("\n")
    reader = _Reader(path, lines[0].split("|"))
    held: list[str] = []
    first = 2
    for number, line in enumerate(lines[1:], 2):
        if held and reader.begins_after(held, line):
            yield first, reader.fields(first, "\n".join(held))
            held = []
        if held or line.strip():
            first = first if held else number
            held.append(line)
    if held:
        yield first, reader.fields(first, "\n".join(held))


class _Reader:
    """Splits lines into fields by the columns of a file."""

    def __init__(self, path: Path, names: Sequence[str]) -> None:
        self._path = path
        self._names = names
        self._bars = len(names) - 1
        self._job = names.index("JobID") if "JobID" in names else 0

    def begins_after(self, held: Sequence[str], line: str) -> bool:
        """Return whether a line begins a new job after the lines in `held`: the line looks like a beginning, and the
        line or the held text is complete.
        """
        bars = line.count("|")
        is_whole = sum(each.count("|") for each in held) >= self._bars or len(held) >= MOST_LINES
        if is_whole and bars == self._bars > 0:
            return True
        before = line.split("|", self._job + 1)
        begins = len(before) > min(self._bars, self._job + 1) and _JOB.fullmatch(before[self._job])
        return bool(begins) and (is_whole or bars >= self._bars)

    def fields(self, number: int, text: str) -> list[str]:
        """Return the fields of a job's text. Raises SimunixError if the text cannot be split so that each field has its
        column's form.
        """
        parts = text.rstrip("\n").split("|")
        if len(parts) == len(self._names):
            return parts if "\n" not in text else self._without_breaks(number, parts)
        readings = (self._divided(parts, *each) for each in ((TEXTS, True), (TEXTS | RARELY, True), (TEXTS | RARELY, False)))
        found = next(filter(None, readings), None) if len(parts) > len(self._names) else None
        if found is None:
            raise self._wrong(number, len(parts))
        return found if "\n" not in text else self._without_breaks(number, found)

    def _without_breaks(self, number: int, fields: list[str]) -> list[str]:
        """Return the fields if only text columns contain line breaks. Raises SimunixError with file and line otherwise."""
        for name, field in zip(self._names, fields, strict=True):
            if "\n" in field and name not in TEXTS:
                after = field.split("\n")[1]
                raise self._wrong(number + 1, after.count("|") + 1)
            number += field.count("\n")
        return fields

    def _wrong(self, number: int, count: int) -> SimunixError:
        return SimunixError(
            f"{self._path}:{number}: expected {len(self._names)} fields as in the first line, got {count}; "
            "expected what sacct -P prints; mend or delete the line, or leave out columns that may hold a |, such as Comment"
        )

    def _divided(self, parts: Sequence[str], texts: Collection[str], is_strict: bool) -> list[str]:
        """Return the parts joined so that each column has one field, earlier columns having as few parts as possible;
        [] if that is impossible.

        Only columns in `texts` may have several parts. With `is_strict`, a field may not begin or end with a |.
        """
        spare = len(parts) - len(self._names)
        # for each column, from the last one back: the places where it may end so that the later columns have fields
        ends = [{len(parts)}]
        for column in range(len(self._names) - 1, 0, -1):
            begins = range(column, column + spare + 1)
            ends.append(set(self._begins(column, parts, begins, ends[-1], texts, is_strict)))
        ends.reverse()
        fields, at = [], 0
        for name, places in zip(self._names, ends, strict=True):
            several = (end for end in sorted(places) if end > at + 1 and self._may_join(parts, at, end, is_strict))
            end = at + 1 if at + 1 in places and self._has_form(name, parts[at]) else next(several, 0) if name in texts else 0
            if not end:
                return []
            fields.append("|".join(parts[at:end]))
            at = end
        return fields

    def _begins(
        self, column: int, parts: Sequence[str], begins: range, ends: set[int], texts: Collection[str], is_strict: bool
    ) -> Iterator[int]:
        """Yield the places where a column may begin if it must end at one of `ends`."""
        name = self._names[column]
        far = max((end for end in ends if not is_strict or parts[end - 1]), default=0) if name in texts else 0
        for begin in begins:
            one = begin + 1 in ends and self._has_form(name, parts[begin])
            if one or (far > begin + 1 and (not is_strict or parts[begin])):
                yield begin

    @staticmethod
    def _may_join(parts: Sequence[str], begin: int, end: int, is_strict: bool) -> bool:
        return not is_strict or bool(parts[begin] and parts[end - 1])

    @staticmethod
    def _has_form(name: str, part: str) -> bool:
        form = FORMS.get(name)
        return form is None or form.fullmatch(part) is not None
