"""Compare two schedules of the same jobs: which jobs start earlier or later, and which groups of users gain.

A *pair table* has a row for each job of either schedule. Two rows are the same job if `workload_name`, `job_id` (the
trace's number) and the place among rows with equal names and numbers agree. The columns of a pair table are `user`,
`account`, `partition` and `qos` (as the first schedule knows them, else the second), `cores`, `submit`, and, for the
two schedules, `submit_*`, `start_*`, `wait_*`, `slowdown_*` (bounded), where `*` is `base` or `other`; `change`,
start_other - start_base; and `fate`, one of `FATES`. All times are seconds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from simunix.metrics.fairness import UNKNOWN
from simunix.metrics.jobs import FINISHED
from simunix.metrics.per_job import area, bounded_slowdown, waiting_time

SAME_S = 1.0
"""Two starts that differ by at most this many seconds count as equal, since an RJMS's accounting drops fractions of
seconds.
"""
DIGITS = 6
"""Differences of times are rounded to this many decimals, because times are floating-point numbers."""
GROUPS = ("user", "account", "partition", "qos")
FATES = ("earlier", "later", "same", "not started", "started", "never", "gone", "new")
"""What became of a job, by its start: *not started* any more, *started* only now, *never* started; *gone* and *new* are jobs
that only the first or only the second schedule has."""
STARTS_IN_BOTH = FATES[:3]
KEY = ("workload_name", "job_id", "nth")
WITHIN_S = (3.0, 60.0, 600.0)
"""The bounds, in seconds, for which `error_summary` counts the errors that are not larger."""
PERCENTILES = (50, 75, 90, 95, 99, 100)


def keyed(jobs: pd.DataFrame) -> pd.DataFrame:
    """Add a column `nth`, which numbers the rows of a job that has several rows."""
    return jobs.assign(nth=jobs.groupby(["workload_name", "job_id"], sort=False).cumcount())


def pairs(base: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """Return the pair table of two job tables: a row for each job of either, in the order of submission."""
    found = _side(base, "base").join(_side(other, "other"), how="outer", sort=False)
    found["submit"] = found["submit_base"].combine_first(found["submit_other"])
    for name in (*GROUPS, "cores"):
        found[name] = found.pop(f"{name}_base").combine_first(found.pop(f"{name}_other"))
    for name in GROUPS:
        found[name] = found[name].astype(object).fillna("")
    found["change"] = (found["start_other"] - found["start_base"]).round(DIGITS)
    found["fate"] = _fates(found)
    found = found.drop(columns=["there_base", "there_other"])
    return found.sort_values("submit", kind="stable").reset_index()


def _side(jobs: pd.DataFrame, which: str) -> pd.DataFrame:
    columns: dict[str, pd.Series] = {
        "submit": jobs["submission_time"],
        "start": jobs["starting_time"],
        "wait": waiting_time(jobs),
        "slowdown": bounded_slowdown(jobs),
        "cores": jobs["requested_number_of_resources"],
        "there": pd.Series(True, index=jobs.index),
        **{name: _names(jobs, name) for name in GROUPS},
    }
    return keyed(jobs)[list(KEY)].assign(**{f"{name}_{which}": one for name, one in columns.items()}).set_index(list(KEY))


def _names(jobs: pd.DataFrame, column: str) -> pd.Series:
    """Return the names in a column as texts; unknown names ("" or -1) are missing values."""
    if column not in jobs:
        return pd.Series(np.nan, index=jobs.index, dtype=object)
    names = jobs[column].astype(object)
    return names.where(names.notna() & ~names.isin(UNKNOWN)).map(str, na_action="ignore")


def _fates(found: pd.DataFrame) -> pd.Series:
    """Return the fate of each job, one of FATES; the first condition that holds decides."""
    began, begins = found["start_base"].notna(), found["start_other"].notna()
    conditions = {
        "new": found["there_base"].isna(),
        "gone": found["there_other"].isna(),
        "never": ~began & ~begins,
        "started": ~began,
        "not started": ~begins,
        "earlier": found["change"] < -SAME_S,
        "later": found["change"] > SAME_S,
    }
    fates = np.select([one.to_numpy(dtype=bool) for one in conditions.values()], list(conditions), default="same")
    return pd.Series(fates, index=found.index, dtype=object)


def tally(table: pd.DataFrame) -> dict[str, int]:
    """Return how many jobs of a pair table have each fate, in the order of FATES."""
    counts = table["fate"].value_counts()
    return {fate: int(counts.get(fate, 0)) for fate in FATES}


def by_group(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return a row for each known group (user, …) of a pair table, the groups that gain most first.

    Columns: `name`; `jobs`; `earlier`, `later`, `same`, `not started`, `started` (numbers of jobs); over the jobs that start in
    both schedules `wait_base`, `wait_other` (mean waits), `wait_change` (mean of the differences), `slowdown_base`,
    `slowdown_other` (means, over the jobs that also end in both). A mean is NaN if the group has no such job.
    """
    known = table[table[column] != ""]
    both = known[known["fate"].isin(STARTS_IN_BOTH)]
    ended = both[both["slowdown_base"].notna() & both["slowdown_other"].notna()]
    columns: dict[str, pd.Series] = {"jobs": known.groupby(column).size()}
    for fate in (*STARTS_IN_BOTH, "not started", "started"):
        columns[fate] = (known["fate"] == fate).groupby(known[column]).sum().astype(int)
    waits = both.assign(wait_change=both["wait_other"] - both["wait_base"]).groupby(column)
    columns |= {name: waits[name].mean() for name in ("wait_base", "wait_other", "wait_change")}
    columns |= {name: ended.groupby(column)[name].mean() for name in ("slowdown_base", "slowdown_other")}
    found = pd.DataFrame(columns).rename_axis("name").reset_index()
    return found.sort_values(["wait_change", "name"], kind="stable", ignore_index=True)


def verdict(wait_change: float) -> str:
    """Return how a mean change of waits is judged: `wins`, `loses`, `same` (within SAME_S), or "" for NaN."""
    if wait_change != wait_change:
        return ""
    return "wins" if wait_change < -SAME_S else "loses" if wait_change > SAME_S else "same"


def shares(jobs: pd.DataFrame, column: str, processors: int) -> pd.Series:
    """Return each known group's part of the machine: work of its finished jobs / (processors x makespan of all), 0 ... 1.

    The sum over groups that every job belongs to is `simunix.metrics.schedule.utilisation`. Empty if no job has finished.
    """
    finished = jobs[jobs[FINISHED]]
    span = finished["finish_time"].max() - jobs["submission_time"].min()
    work = area(finished).groupby(_names(finished, column)).sum()
    return work / (processors * span) if span > 0 else work.iloc[:0]


def most_moved(table: pd.DataFrame, count: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two tables: the `count` jobs that start earlier by the most, and those that start later by the most; ties
    are in the order of `table`.
    """
    earlier = table[table["fate"] == "earlier"].sort_values("change", kind="stable")
    later = table[table["fate"] == "later"].sort_values("change", ascending=False, kind="stable")
    return earlier.head(count), later.head(count)


# A run against the accounting of the real site


def errors(site: pd.DataFrame, run: pd.DataFrame) -> tuple[pd.DataFrame, float]:
    """Return the pair table of the site's jobs (base) and a run's jobs (other) on one clock, with a column `error`, and
    by how many seconds the site's moments were moved.

    The run's clock began at another moment: the site's moments are moved by the median of the differences between submissions,
    which is the common difference if the run submits jobs at the moments of the site's accounting. `error` is the
    difference of the starts in seconds, above 0 if the run starts the job later than the site; NaN for a job that did
    not start in both.
    """
    first = keyed(site).set_index(list(KEY))["submission_time"]
    second = keyed(run).set_index(list(KEY))["submission_time"]
    offset = (second - first).median()
    offset = 0.0 if offset != offset else float(offset)
    moved = site.assign(**{name: site[name] + offset for name in ("submission_time", "starting_time", "finish_time")})
    table = pairs(moved, run)
    return table.assign(error=table["change"]), offset


def error_summary(values: pd.Series) -> dict[str, float]:
    """Return statistics of errors in seconds: count, mean (with sign), percentiles of the absolute values (p50 …), the
    shares within WITHIN_S. A percentile is rounded up to the next value that occurs. NaN for no errors.
    """
    known = values.dropna()
    sizes = known.abs()
    found = {"count": float(len(known)), "mean": float(known.mean()) if len(known) else np.nan}
    for percent in PERCENTILES:
        found[f"p{percent}"] = float(sizes.quantile(percent / 100, interpolation="higher")) if len(sizes) else np.nan
    for limit in WITHIN_S:
        found[f"within_{limit:g}_s"] = float((sizes <= limit).mean()) if len(sizes) else np.nan
    return found


def errors_by(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return `error_summary` of each known group of a table of `errors`, with its `name`, the groups with most jobs first."""
    known = table[(table[column] != "") & table["error"].notna()]
    rows: Sequence[dict[str, object]] = [
        {"name": name, **error_summary(part["error"])} for name, part in known.groupby(column, sort=True)
    ]
    if not rows:
        return pd.DataFrame(columns=["name", *error_summary(pd.Series(dtype=float))])
    return pd.DataFrame(rows).sort_values(["count", "name"], ascending=[False, True], kind="stable", ignore_index=True)
