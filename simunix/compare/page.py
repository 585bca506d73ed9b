"""Makes the sections that the page of a comparison has before the report of its runs: validation, winners and losers,
moved jobs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from simunix.compare import texts
from simunix.compare.conclusion import effect_cells
from simunix.compare.study import Change, Study, Validation
from simunix.metrics.changes import most_moved
from simunix.report.comparison import Curves, distribution
from simunix.report.page.write import Addition

GROUPS_MAX = 40
"""The most rows of a table of users, accounts, partitions or QOS."""
JOBS_MAX = 12
"""The most jobs that are listed as those which start earlier, or later, by most."""
POINTS_MAX = 20_000
"""The most points of a figure with a point for each job.

If there are more jobs, only every n-th job is drawn, in the order of submission.
"""


def addition(study: Study) -> Addition:
    """Return the sections of a comparison, for `simunix.report.page.write.write_page`."""
    numbers = {run.label: number for number, run in enumerate(study.runs)}
    context: dict[str, Any] = {
        "changes": [_change(one, numbers[one.run.label]) for one in study.changes],
        "conclusions": [one.text for one in study.conclusions],
        "validation": None if study.validation is None else _validation(study.validation, numbers),
        "same": texts.SAME,
    }
    return Addition("compare.html", context, curves(study))


def curves(study: Study) -> dict[str, Curves]:
    """Return the data of the figures: `moved`, and with a validation also `errors` and `late`."""
    found = {}
    if study.changes:
        moved = {one.run.label: (one.pairs["submit"], one.pairs["change"]) for one in study.changes}
        found["moved"] = _points(study, moved)
    if study.validation is not None:
        tables = study.validation.tables
        found["errors"] = distribution(
            [_sizes(tables[run.label]) if run.label in tables else np.empty(0) for run in study.runs]
        )
        label, base = next(iter(tables.items()))
        found["late"] = _points(study, {label: (base["submit"], base["error"])})
    return found


def _sizes(table: pd.DataFrame) -> np.ndarray:
    return np.sort(table["error"].dropna().abs().to_numpy())


def _points(study: Study, values: dict[str, tuple[pd.Series, pd.Series]]) -> Curves:
    """Return the points of several runs over one axis, the moments of submission: an array of values for each run, with
    NaN where the run has no job.
    """
    frames = []
    for number, run in enumerate(study.runs):
        if run.label in values:
            x, y = values[run.label]
            known = (x.notna() & y.notna()).to_numpy()
            places = np.flatnonzero(known)[:: max(1, -(-int(known.sum()) // POINTS_MAX))]
            frames.append(pd.DataFrame({"x": x.to_numpy()[places], "y": y.to_numpy()[places], "run": number}))
    if not frames or not sum(map(len, frames)):
        return Curves(np.empty(0), [np.empty(0) for _ in study.runs])
    found = pd.concat(frames).sort_values("x", kind="stable")
    ordinates = [found["y"].where(found["run"] == number).to_numpy(dtype=float) for number in range(len(study.runs))]
    return Curves(found["x"].to_numpy(dtype=float), ordinates)


def _change(change: Change, number: int) -> dict[str, Any]:
    moved = change.repetitions.moved_jobs(JOBS_MAX) if change.is_repeated else most_moved(change.pairs, JOBS_MAX)
    earlier, later = ([texts.job_cells(row) for _, row in rows.iterrows()] for rows in moved)
    columns, rows = texts.known_columns([*earlier, *later], ("job", *texts.JOB_COLUMNS))
    return {
        "label": change.run.label,
        "number": number,
        "sentence": texts.sentence(change),
        "effects": [effect_cells(one) for one in change.repetitions.effects] if change.is_repeated else [],
        "seeds": len(change.repetitions.seeds),
        "columns": texts.GROUP_COLUMNS,
        "groups": [_group(texts.TITLES[name], table) for name, table in change.groups.items()],
        "job_columns": columns[1:],
        "earlier": rows[: len(earlier)],
        "later": rows[len(earlier) :],
        "lists": texts.lists(change),
    }


def _group(title: str, table: pd.DataFrame) -> tuple[str, list[dict[str, Any]], int]:
    shown = texts.most_changed(table, GROUPS_MAX)
    largest = float(shown["wait_change"].abs().max()) or 1.0
    rows = [
        {
            "name": row["name"],
            "cells": texts.group_cells(row),
            "change": texts.signed_time(row["wait_change"]),
            "interval": texts.interval(row),
            "bar": _bar(row["wait_change"], largest),
            "verdict": row["verdict"],
        }
        for _, row in shown.iterrows()
    ]
    return title, rows, len(table) - len(shown)


def _bar(change: float, largest: float) -> dict[str, Any]:
    width = 0.0 if change != change else min(48.0, 48.0 * abs(change) / largest)
    return {"side": "longer" if change > 0 else "shorter", "width": f"{width:.1f}"}


def _validation(validation: Validation, numbers: dict[str, int]) -> dict[str, Any]:
    summaries = validation.summaries
    rows = [(name, [text(one[key]) for one in summaries.values()]) for key, name, text in texts.ERROR_ROWS]
    shown = [row for row in texts.ERROR_ROWS if row[0] in texts.ERROR_COLUMNS]
    groups = [
        (
            texts.TITLES[name],
            [(row["name"], [text(row[key]) for key, _, text in shown]) for _, row in table.head(GROUPS_MAX).iterrows()],
            max(0, len(table) - GROUPS_MAX),
        )
        for name, table in validation.groups.items()
    ]
    return {
        "source": validation.source,
        "notes": validation.notes,
        "labels": [(label, numbers[label]) for label in summaries],
        "rows": rows,
        "columns": [name for _, name, _ in shown],
        "groups": groups,
    }
