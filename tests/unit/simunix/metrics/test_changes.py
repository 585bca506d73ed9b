"""The changes between two schedules, compared with a definition written out job by job, and with examples counted by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simunix.metrics import changes
from simunix.metrics.jobs import job_table
from simunix.metrics.schedule import utilisation

Row = tuple[Any, ...]
FEW = settings(max_examples=15, deadline=None)  # each makes a dozen pandas objects


def table(rows: list[Row], name: str = "w") -> pd.DataFrame:
    """Rows of number, submission, start (None for none), length, user."""
    columns = ["job_id", "submission_time", "starting_time", "length", "user"]
    frame = pd.DataFrame(rows, columns=columns).astype({"starting_time": float, "user": object})
    frame["finish_time"] = frame["starting_time"] + frame.pop("length")
    return job_table(frame.assign(workload_name=name, job_id=frame["job_id"].astype(str), requested_number_of_resources=2))


BASE = table([(1, 0, 0, 100, "ann"), (2, 5, 100, 50, "bob"), (3, 9, 150, 10, "ann"), (4, 9, None, 0, "cy"), (5, 1, 7, 1, "")])
OTHER = table([(2, 5, 5, 50, "bob"), (1, 0, 55, 100, "ann"), (3, 9, 151, 10, "ann"), (4, 9, 300, 9, "cy"), (6, 2, 8, 1, "dee")])


def test_an_example_by_hand() -> None:
    found = changes.pairs(BASE, OTHER).set_index("job_id")
    assert found["fate"].to_dict() == {"1": "later", "5": "gone", "6": "new", "2": "earlier", "3": "same", "4": "started"}
    assert found["change"].dropna().to_dict() == {"1": 55, "2": -95, "3": 1}
    counts = changes.tally(found)
    assert list(counts) == list(changes.FATES) and sum(counts.values()) == 6 and counts["same"] == 1
    groups = changes.by_group(found, "user").set_index("name")
    assert list(groups.index) == ["bob", "ann", "cy", "dee"], "who gains most comes first, who is unknown is left out"
    ann = groups.loc["ann"]
    assert (ann["jobs"], ann["earlier"], ann["later"], ann["same"]) == (2, 0, 1, 1)
    assert (ann["wait_base"], ann["wait_other"], ann["wait_change"]) == (70.5, 98.5, 28)
    assert ann["slowdown_base"] == pytest.approx((1 + 151 / 10) / 2)
    assert groups.loc["cy", "started"] == 1 and math.isnan(groups.loc["cy", "wait_change"])
    assert [changes.verdict(change) for change in groups["wait_change"]] == ["wins", "loses", "", ""]
    earlier, later = changes.most_moved(found.reset_index(), 5)
    assert earlier["job_id"].tolist() == ["2"] and later["job_id"].tolist() == ["1"]


def test_a_group_is_what_the_base_knows_or_else_the_other() -> None:
    known = changes.pairs(BASE.assign(partition="", user=-1), OTHER.assign(partition="fast"))
    assert known.set_index("job_id")["partition"].to_dict() == {**dict.fromkeys("12346", "fast"), "5": ""}
    assert set(known["user"]) == {"ann", "bob", "cy", "dee", ""}
    assert changes.by_group(known, "account").empty


moments = st.none() | st.integers(0, 300)
jobs = st.lists(st.tuples(st.integers(0, 50), moments, st.integers(0, 40), st.sampled_from(["a", "b", ""])), max_size=12)


def _possible(rows: list[Row]) -> pd.DataFrame:
    """Jobs numbered by their place, which never start before their submission."""
    return table(
        [(n, submit, None if wait is None else submit + wait, length, user) for n, (submit, wait, length, user) in rows]
    )


@FEW
@given(jobs, jobs, st.sets(st.integers(0, 11)), st.sets(st.integers(0, 11)))
def test_every_job_has_one_fate(one: list[Row], two: list[Row], left: set[int], out: set[int]) -> None:
    first = [(number, row) for number, row in enumerate(one) if number not in left]
    second = [(number, row) for number, row in enumerate(two) if number not in out]
    found = changes.pairs(_possible(first), _possible(second))
    starts = [{str(n): None if row[1] is None else row[0] + row[1] for n, row in side} for side in (first, second)]
    assert sorted(found["job_id"]) == sorted(set(starts[0]) | set(starts[1]))
    for row in found.itertuples():
        before, after = (side.get(row.job_id, "absent") for side in starts)
        expected = {("absent", after): "new", (before, "absent"): "gone"}.get((before, after))
        if expected is None and (before is None or after is None):
            expected = {(True, True): "never", (True, False): "started"}.get((before is None, after is None), "not started")
        if expected is None:
            expected = "same" if abs(after - before) <= 1 else "later" if after > before else "earlier"
        assert row.fate == expected
    assert sum(changes.tally(found).values()) == len(found)
    groups = changes.by_group(found, "user")
    assert groups["jobs"].sum() == (found["user"] != "").sum()
    for group in groups.itertuples():
        own = found[found["user"] == group.name]
        both = own[own["start_base"].notna() & own["start_other"].notna()]
        mean = (both["wait_other"] - both["wait_base"]).mean()
        assert group.wait_change == pytest.approx(mean, nan_ok=True)
        assert group.wait_other - group.wait_base == pytest.approx(mean, nan_ok=True)


@FEW
@given(jobs)
def test_nothing_changes_against_itself(rows: list[Row]) -> None:
    own = _possible(list(enumerate(rows)))
    found = changes.pairs(own, own)
    assert set(found["fate"]) <= {"same", "never"}
    assert not found["change"].dropna().any()


@FEW
@given(jobs.filter(lambda rows: any(row[1] is not None for row in rows)))
def test_shares_add_up_to_the_utilisation(rows: list[Row]) -> None:
    own = _possible([(number, (*row[:3], row[3] or "c")) for number, row in enumerate(rows)])
    span = own["finish_time"].max() - own["submission_time"].min()
    parts = changes.shares(own, "user", 8)
    if span > 0:
        assert parts.sum() == pytest.approx(utilisation(own, 8))
    else:
        assert parts.empty


# Against the site's accounting


@FEW
@given(jobs, st.integers(-500, 500), st.lists(st.integers(-30, 30), min_size=12, max_size=12))
def test_errors_are_of_the_starts_whenever_the_run_began(rows: list[Row], moved: int, late: list[int]) -> None:
    site = _possible(list(enumerate(rows)))
    run = site.assign(**{name: site[name] + moved for name in ("submission_time", "starting_time", "finish_time")})
    by = pd.Series(late[: len(run)], index=run.index, dtype=float).clip(lower=run["submission_time"] - run["starting_time"])
    by = by.fillna(0.0)
    run["starting_time"] += by
    run["finish_time"] += by
    found, offset = changes.errors(site, run)
    if len(rows):
        assert offset == moved
    expected = {str(number): by.iloc[number] for number, row in enumerate(rows) if row[1] is not None}
    assert found.set_index("job_id")["error"].dropna().to_dict() == expected


def test_errors_in_numbers() -> None:
    values = pd.Series([0.0, -2.0, 3.0, 45.0, -700.0, np.nan])
    found = changes.error_summary(values)
    assert found == {
        "count": 5, "mean": -130.8, "p50": 3.0, "p75": 45.0, "p90": 700.0, "p95": 700.0, "p99": 700.0, "p100": 700.0,
        "within_3_s": 0.6, "within_60_s": 0.8, "within_600_s": 0.8,
    }  # fmt: skip
    assert math.isnan(changes.error_summary(values.iloc[5:])["p50"])


@FEW
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_percentiles_have_been_seen_and_rise(values: list[float]) -> None:
    found = changes.error_summary(pd.Series(values))
    sizes = [abs(value) for value in values]
    reached = [found[f"p{percent}"] for percent in changes.PERCENTILES]
    assert all(value in sizes for value in reached) and reached == sorted(reached) and reached[-1] == max(sizes)
    for percent, value in zip(changes.PERCENTILES, reached, strict=True):
        assert sum(size <= value for size in sizes) >= percent / 100 * len(sizes) - 1e-9
    assert found["within_3_s"] <= found["within_60_s"] <= found["within_600_s"]


def test_errors_of_groups() -> None:
    found, offset = changes.errors(BASE, OTHER)
    assert offset == 0
    groups = changes.errors_by(found, "user").set_index("name")
    assert groups["count"].to_dict() == {"ann": 2, "bob": 1} and list(groups.index) == ["ann", "bob"]
    assert groups.loc["ann", "p50"] == 55 and groups.loc["ann", "within_3_s"] == 0.5
    assert changes.errors_by(found, "qos").empty
