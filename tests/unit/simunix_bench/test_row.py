"""Figures, their aims and verdicts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simunix_bench.row import Aim, Row, at_least, at_most, missing, number


@pytest.mark.parametrize(
    ("aim", "value", "verdict"),
    [
        (None, 1.0, ""),
        (at_most(2), 2.0, "ok"),
        (at_most(2), 2.1, "missed"),
        (at_least(50_000), 50_000.0, "ok"),
        (at_least(50_000), 49_999.0, "missed"),
        (at_most(2), None, "not measured"),
        (None, None, "not measured"),
    ],
)
def test_verdict(aim: Aim | None, value: float | None, verdict: str) -> None:
    assert Row("name", "text", value, "s", aim).verdict == verdict


def test_a_missing_row_keeps_its_aim_and_says_why() -> None:
    row = missing("ratio", "a ratio", "gcc is not installed", at_most(2))
    assert (row.value, row.aim, row.note) == (None, at_most(2), "gcc is not installed")


def test_aims_read_as_bounds() -> None:
    assert [str(at_most(1.5)), str(at_least(50_000))] == ["≤ 1.5", "≥ 50,000"]


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (2, "2"), (0.4213, "0.421"), (42.36, "42.4"), (1448.2, "1,448"), (1e6, "1,000,000")]
)
def test_numbers_have_three_digits_that_count(value: float, text: str) -> None:
    assert number(value) == text


@given(st.floats(-1e12, 1e12))
def test_numbers_are_close_to_what_they_stand_for(value: float) -> None:
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=0.01)
