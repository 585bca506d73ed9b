"""Format the numbers of a report's page as rows of texts: the summary, users, requests, events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from simunix.metrics.catalog import METRICS, Metric
from simunix.metrics.written import is_shown, written
from simunix.report.comparison import Comparison
from simunix.report.requests import by_name
from simunix.report.run_data import Run
from simunix.results.events import read_events
from simunix.units import human_energy, human_time

LEAST_CHANGE = 1e-5
"""The least relative change against the first run that is shown."""
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the summary that is no metric of jobs, but a value of run.json."""

    name: str
    value: Callable[[Run], float | None]
    text: Callable[[float], str]
    help: str = ""
    is_compared: bool = True


def _recorded(name: str) -> Callable[[Run], float | None]:
    return lambda run: run.record.get(name)


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _ratio(value: float) -> str:
    return f"{value:,.3f}"


USERS_MAX = 40
"""The most users whose rows a report's page shows."""
PROCESSORS = Row("processors", lambda run: run.processors if len(run.summary) else None, _count, "cores of the machine")
OF_RUN = (
    Row("virtual time", _recorded("virtual_s"), human_time, "length of the run"),
    Row("wall time", _recorded("wall_s"), human_time, "real time it took", False),
    Row("speed-up", _recorded("speed_up"), lambda value: f"{value:,.0f} ×", "virtual time / wall time", False),
)


def summary_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the rows of the summary as texts; each run after the first has the change against the first run."""
    rows = [row for metric in METRICS if metric.on_page for row in metric_rows(comparison, metric)]
    rows[2:2] = _run_rows(comparison, PROCESSORS)
    return [*rows, *(row for one in OF_RUN for row in _run_rows(comparison, one))]


def metric_rows(comparison: Comparison, metric: Metric) -> list[dict[str, Any]]:
    """Return the row of a metric; [] if no run has a value of the metric that is shown."""
    values = [_known(summary.get(metric.name)) for summary in comparison.summaries()]
    if not is_shown(metric, values):
        return []
    return [{"name": metric.title, "help": metric.help, "cells": _cells(values, partial(written, metric))}]


def _run_rows(comparison: Comparison, row: Row) -> list[dict[str, Any]]:
    values = [_known(row.value(run)) for run in comparison.runs]
    if all(value is None for value in values):
        return []
    return [{"name": row.name, "help": row.help, "cells": _cells(values, row.text, row.is_compared)}]


def _cells(values: Sequence[float | None], text: Callable[[float], str], is_compared: bool = True) -> list[dict[str, str]]:
    return [
        {
            "text": NOTHING if value is None else text(value),
            "change": _change(values[0], value) if number and is_compared else "",
        }
        for number, value in enumerate(values)
    ]


def _known(value: float | None) -> float | None:
    return None if value is None or value != value or abs(value) == np.inf else float(value)


def _change(first: float | None, value: float | None) -> str:
    if first is None or value is None or first == value or first == 0:
        return ""
    ratio = value / first
    if abs(ratio - 1) < LEAST_CHANGE:
        return ""
    if ratio >= 10:
        return f"× {ratio:,.0f}" if ratio >= 100 else f"× {ratio:.3g}"
    return f"{(ratio - 1) * 100:+.3g} %"


def user_rows(comparison: Comparison) -> list[tuple[str, list[list[str]]]]:
    """Return, for each user and each run: jobs, mean wait, mean bounded slowdown, and energy if it is known.

    The result is empty if there is only one user.
    """
    table = comparison.users
    if len(table) < 2:
        return []
    columns: tuple[tuple[str, Callable[[float], str]], ...] = (
        ("jobs", _count),
        ("mean_waiting_time", human_time),
        ("mean_bounded_slowdown", _ratio),
        *([("energy", human_energy)] if has_energy(comparison) else []),
    )
    rows = []
    for user, values in table.head(USERS_MAX).iterrows():
        sides = [
            [(_known(values.get(f"{name}.{number}")), text) for name, text in columns] for number in range(len(comparison.runs))
        ]
        rows.append((str(user), [[NOTHING if value is None else text(value) for value, text in side] for side in sides]))
    return rows


def has_energy(comparison: Comparison) -> bool:
    """Return whether any user's energy is known."""
    return bool(comparison.users.filter(regex=r"^energy\.").notna().any(axis=None)) if len(comparison.users) else False


def request_rows(runs: Sequence[Run]) -> list[tuple[str, list[list[str]]]]:
    """Return, for each server's port and each run: number of requests, mean and largest latency. The result is empty
    without packet captures.
    """
    found = [by_name(run.directory) for run in runs]
    names = dict.fromkeys(name for one in found for name in one)
    texts: tuple[Callable[[float], str], ...] = (_count, _latency, _latency)
    nothing = [NOTHING] * len(texts)

    def cells(one: dict[str, list[float]], name: str) -> list[str]:
        if name not in one:
            return nothing
        values = [_known(value) for value in one[name]]
        return [NOTHING if value is None else text(value) for text, value in zip(texts, values, strict=True)]

    return [(name, [cells(one, name) for one in found]) for name in names]


def _latency(seconds: float) -> str:
    return f"{seconds * 1e3:,.3f} ms"


def event_rows(runs: Sequence[Run]) -> list[tuple[str, list[str]]]:
    """Return how often each kind of event happened in each run, from run.json or, without that, from the event log."""
    counts = [_counts(run) for run in runs]
    names = sorted({name for one in counts for name in one})
    return [(name.replace("_", " "), [f"{one[name]:,}" if name in one else NOTHING for one in counts]) for name in names]


def _counts(run: Run) -> dict[str, int]:
    counts = run.record.get("counts")
    if isinstance(counts, dict) and counts:
        return counts
    log = run.directory / "events.jsonl"
    return dict(Counter(event["event"] for event in read_events(log))) if log.exists() else {}
