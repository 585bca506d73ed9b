"""Formats numbers and sentences of a comparison, equally for the terminal and the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from simunix.compare.study import WITHIN_NOISE, Change
from simunix.metrics.changes import SAME_S
from simunix.units import human_time

NOTHING = "–"
MINUTE_S = 60
SMALLEST_S = 0.005
"""The least duration (s) that is shown: durations have two decimals."""
TITLES = {"user": "user", "account": "account", "partition": "partition", "qos": "QOS"}
JOB_COLUMNS = ("user", "account", "partition", "QOS", "cores", "submitted", "wait before", "now", "start")
GROUP_COLUMNS = ("jobs", "earlier", "later", "wait before", "now", "slowdown before", "now", "of the machine before", "now")
OTHERS = {
    "not started": "do not start any more",
    "started": "start only now",
    "gone": "are not in it",
    "new": "are only in it",
}
LISTED_MAX = 50
"""The most jobs of a list that are named."""


def time(seconds: float) -> str:
    """Return a duration, or a dash for NaN."""
    if seconds != seconds:
        return NOTHING
    whole = round(seconds)
    return f"{whole} s" if whole < MINUTE_S and abs(seconds - whole) < SMALLEST_S else human_time(seconds)


def signed_time(seconds: float) -> str:
    """Return a difference of durations with its sign, or a dash for NaN."""
    if seconds != seconds:
        return NOTHING
    text = time(abs(seconds))
    return text if abs(seconds) < SMALLEST_S else f"{'+' if seconds > 0 else '−'}{text}"


def count(value: float) -> str:
    """Return a whole number, or a dash for NaN."""
    return NOTHING if value != value else f"{value:,.0f}"


def ratio(value: float) -> str:
    """Return a number with two digits, or a dash for NaN."""
    return NOTHING if value != value else f"{value:,.2f}"


def share(value: float) -> str:
    """Return a fraction as per cent, or a dash for NaN."""
    return NOTHING if value != value else f"{value:.1%}"


def sentence(change: Change) -> str:
    """Return one sentence that says what changed from the base to a variant."""
    tally = change.tally
    parts = [f"{tally['earlier']:,} jobs start earlier, {tally['later']:,} later, {tally['same']:,} at the same moment"]
    parts += [f"{tally[fate]:,} {text}" for fate, text in OTHERS.items() if tally[fate]]
    if change.is_repeated:
        parts = [f"of {len(change.repetitions.seeds)} seeds the first: {parts[0]}", *parts[1:]]
    before, now = change.waits
    parts.append(f"mean wait {time(before)} → {time(now)} ({signed_time(now - before)})")
    for name, table in change.groups.items():
        wins, loses, unsure = (int((table["verdict"] == word).sum()) for word in ("wins", "loses", WITHIN_NOISE))
        one, other = ("wins" if wins == 1 else "win"), ("loses" if loses == 1 else "lose")
        parts.append(f"{wins} {_plural(name, wins)} {one}, {loses} {other}" + (f", {unsure} within noise" if unsure else ""))
    return "; ".join(parts) + "."


def _plural(name: str, number: int) -> str:
    return TITLES[name] if number == 1 or name == "qos" else f"{TITLES[name]}s"


def group_cells(row: pd.Series) -> list[str]:
    """Return the cells of GROUP_COLUMNS for a row of `Change.groups`."""
    cells = [count(row["jobs"]), count(row["earlier"]), count(row["later"]), time(row["wait_base"]), time(row["wait_other"])]
    cells += [ratio(row["slowdown_base"]), ratio(row["slowdown_other"])]
    return [*cells, share(row["share_base"]), share(row["share_other"])]


def interval(row: pd.Series) -> str:
    """Return the ends `low` and `high` of an interval of a duration; an empty text if there is no interval."""
    low, high = row.get("low", np.nan), row.get("high", np.nan)
    return "" if low != low or high != high else f"{signed_time(low)} … {signed_time(high)}"


def most_changed(table: pd.DataFrame, most: int) -> pd.DataFrame:
    """Return the groups whose waits changed most, at most so many, in the order of the table: the groups that gain most
    come first.
    """
    kept = table["wait_change"].abs().sort_values(ascending=False, kind="stable").index[:most]
    return table.loc[sorted(kept)]


def job_cells(row: pd.Series) -> list[str]:
    """Return a job's number, and the cells of JOB_COLUMNS."""
    names = [str(row[name]) or NOTHING for name in TITLES]
    times = [time(row["submit"]), time(row["wait_base"]), time(row["wait_other"]), signed_time(row["change"])]
    return [str(row["job_id"]), *names, count(row["cores"]), *times]


def known_columns(rows: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    """Return the names of columns and the rows without those columns that no row knows."""
    kept = [number for number in range(len(names)) if any(row[number] != NOTHING for row in rows)]
    return [names[number] for number in kept], [[row[number] for number in kept] for row in rows]


LISTS = {
    "gone": "Only in {base}",
    "new": "Only in {label}",
    "not started": "Started in {base} alone",
    "started": "Started in {label} alone",
}


def lists(change: Change) -> list[tuple[str, str]]:
    """Return, for each fate that only few jobs should have, such as requeued, its meaning and the ids of these jobs."""
    found = []
    for fate, text in LISTS.items():
        names = change.pairs.loc[change.pairs["fate"] == fate, "job_id"].tolist()
        if names:
            more = f" and {len(names) - LISTED_MAX:,} more" if len(names) > LISTED_MAX else ""
            shown = ", ".join(names[:LISTED_MAX]) + more
            said = text.format(base=change.base.label, label=change.run.label)
            found.append((f"{said} ({len(names):,} job{'s' if len(names) != 1 else ''})", shown))
    return found


ERROR_ROWS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("count", "jobs that started in both", count),
    ("mean", "error, mean with sign", signed_time),
    ("p50", "error, median", time),
    ("p75", "error, 75 % at most", time),
    ("p90", "error, 90 % at most", time),
    ("p95", "error, 95 % at most", time),
    ("p99", "error, 99 % at most", time),
    ("p100", "error, largest", time),
    ("within_3_s", "starts within 3 s", share),
    ("within_60_s", "starts within 1 min", share),
    ("within_600_s", "starts within 10 min", share),
)
"""The rows of a table of errors: the key in `error_summary`, the title, and the function that formats the value."""
ERROR_COLUMNS = ("count", "p50", "p90", "within_3_s", "within_60_s", "within_600_s")
"""The rows of ERROR_ROWS that tables by user, account, partition and QOS show as columns."""
SAME = f"{SAME_S:g}"
