"""SimGrid's profiles: dates and values, and how they begin again."""

from __future__ import annotations

import pytest

from rsg_server.platform.profile import parse_profile


def test_comments_and_empty_lines_count_for_nothing() -> None:
    assert parse_profile("p", "# one\n% other\n\n1 2\n3 4\n").events == ((1.0, 2.0), (3.0, 4.0))


@pytest.mark.parametrize(
    ("text", "repeat_after_s"), [("0 1\n2 3", None), ("LOOPAFTER 5\n0 1\n2 3", 5), ("PERIODICITY 5\n0 1\n2 3", 3)]
)
def test_a_period_counts_from_the_beginning_and_a_loop_from_the_end(text: str, repeat_after_s: float | None) -> None:
    assert parse_profile("p", text).repeat_after_s == repeat_after_s


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("STOCHASTIC\n0 1", "line 1: stochastic profiles are not deterministic"),
        ("1 2 3", "line 1: expected a date and a value, got '1 2 3'"),
        ("1 many", "line 1: expected a number, got 'many'"),
        ("1 inf", "line 1: expected a finite number"),
        ("2 1\n1 1", "line 2: dates must not go back, got 1 after 2"),
        ("1 -1", "line 1: values must not be below 0"),
        ("PERIODICITY 1\n2 1", "starts again before its last event"),
        ("LOOPAFTER 0\n0 1", "starts again without any time passing"),
    ],
)
def test_a_wrong_profile_is_told_by_its_line(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_profile("p", text)
