"""Format the statistics of a trace for people: durations as clock times, work in core hours, shares in per cent."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from simunix.units import human_time

HOUR_S = 3600.0
MINUTE_S = 60.0
STATUS = {
    "-1": "unknown",
    "0": "failed",
    "1": "completed",
    "2": "partly run, continued",
    "3": "partly run, completed",
    "4": "partly run, failed",
    "5": "cancelled",
}
"""Meanings of the field `status` of the Standard Workload Format."""
HEADS = ("least", "25 %", "median", "75 %", "90 %", "largest")
"""The names of the quantiles in `simunix.workload.statistics`, in their order."""


def lines_of(found: Mapping[str, object]) -> list[str]:
    """Return lines of text for the result of `simunix.workload.statistics.statistics`; unknown values have no line."""
    rows = [(title, text(found[key])) for key, (title, text) in NUMBERS.items() if key in found]
    if "status" in found:
        rows.append(("status", _status(cast(Mapping[str, int], found["status"]))))
    tables = [
        (title, [text(value) for value in cast(Mapping[str, float], found[key]).values()])
        for key, (title, text) in QUANTILES.items()
        if key in found
    ]
    width = max(len(title) for title, _ in (*rows, *tables)) + 2
    lines = [f"{title:<{width}}{text}" for title, text in rows]
    return [*lines, "", *_table(tables, width)] if tables else lines


def _table(tables: Sequence[tuple[str, Sequence[str]]], width: int) -> list[str]:
    widths = [max(len(cell) for cell in column) + 2 for column in zip(HEADS, *(cells for _, cells in tables), strict=True)]
    return [
        f"{title:<{width}}" + "".join(f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=True))
        for title, cells in (("", HEADS), *tables)
    ]


def _count(value: object) -> str:
    number = float(cast(float, value))
    return f"{number:,.0f}" if number.is_integer() else f"{number:,.1f}"


def _time(value: object) -> str:
    seconds = float(cast(float, value))
    return f"{seconds:g} s" if seconds < MINUTE_S else human_time(seconds)


def _core_hours(value: object) -> str:
    return f"{float(cast(float, value)) / HOUR_S:,.1f} core hours"


def _share(value: object) -> str:
    return f"{float(cast(float, value)):.1%}"


def _status(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {STATUS.get(key, f'of status {key}')}" for key, count in counts.items())


Text = Callable[[object], str]
NUMBERS: Mapping[str, tuple[str, Text]] = {
    "jobs": ("jobs", _count),
    "span_s": ("from first to last submission", _time),
    "processors": ("processors", _count),
    "users": ("users", _count),
    "jobs_of_unknown_work": ("jobs of unknown work", _count),
    "work_processor_s": ("work", _core_hours),
    "offered_load": ("offered load", _share),
    "median_runtime_of_requested": ("run time / requested, median", _share),
}
QUANTILES: Mapping[str, tuple[str, Text]] = {
    "size": ("processors of a job", _count),
    "runtime_s": ("run time", _time),
    "requested_s": ("requested time", _time),
    "wait_s": ("wait", _time),
    "interarrival_s": ("between submissions", _time),
}
