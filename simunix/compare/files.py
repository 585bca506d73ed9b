"""Writes a comparison as tables for other programs: conclusions.csv, changes.csv, groups.csv and errors.csv."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix.compare.conclusion import Conclusion
from simunix.compare.study import Study

CHANGES, GROUPS, ERRORS, CONCLUSIONS = "changes.csv", "groups.csv", "errors.csv", "conclusions.csv"
DIGITS = "%.12g"


def write_tables(directory: Path, study: Study) -> list[Path]:
    """Write a line for each metric, job or group and each variant, and for each job and run against the site.

    A table without a line is not written. Returns the files. Raises SimunixError.
    """
    jobs = [one.pairs.drop(columns="nth").assign(variant=one.run.label) for one in study.changes]
    groups = [table.assign(variant=one.run.label, by=name) for one in study.changes for name, table in one.groups.items()]
    tables = study.validation.tables if study.validation is not None else {}
    errors = [table.drop(columns=["nth", "change"]).assign(run=label) for label, table in tables.items()]
    concluded = [_concluded(one) for one in study.conclusions if one.effects]
    written = []
    tables_of = (
        (CONCLUSIONS, concluded, ["variant"]),
        (CHANGES, jobs, ["variant"]),
        (GROUPS, groups, ["variant", "by"]),
        (ERRORS, errors, ["run"]),
    )
    for name, parts, first in tables_of:
        if parts:
            found = pd.concat(parts)
            columns = [*first, *(column for column in found if column not in first)]
            written.append(_write(directory / name, found[columns]))
    return written


def _concluded(conclusion: Conclusion) -> pd.DataFrame:
    """Return a line for each metric: its means, the change with its interval, and the verdict on the change."""
    rows = [
        {
            "metric": one.metric.name,
            "base": one.base,
            "other": one.other,
            "change": one.difference.interval.mean,
            "low": one.difference.interval.low,
            "high": one.difference.interval.high,
            "adjusted_p": one.difference.adjusted_p,
            "verdict": one.difference.verdict,
            "repetitions": conclusion.seeds,
        }
        for one in conclusion.effects
    ]
    return pd.DataFrame(rows).assign(variant=conclusion.label)


def _write(path: Path, table: pd.DataFrame) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_path(path) as draft:
            table.to_csv(draft, index=False, float_format=DIGITS)
    except OSError as error:
        raise SimunixError(unwritten(path, error, "choose another folder with -o")) from error
    return path
