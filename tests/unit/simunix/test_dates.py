"""The date at which a run begins."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from simunix.dates import moment, since_1970_ns, today


def test_a_day_begins_at_midnight_in_utc() -> None:
    assert timedelta() <= datetime.now(UTC) - today() < timedelta(days=1, minutes=1)
    assert since_1970_ns(today()) % (86400 * 10**9) == 0


@pytest.mark.parametrize(
    ("value", "ns"),
    [
        ("2000-01-01", 946_684_800 * 10**9),
        (date(2000, 1, 1), 946_684_800 * 10**9),
        ("2000-01-01T01:00:00+01:00", 946_684_800 * 10**9),
        (datetime(2000, 1, 1), 946_684_800 * 10**9),
        ("1999-12-31T23:59:59.000001Z", 946_684_799 * 10**9 + 1000),
    ],
)
def test_a_date_is_exact_to_the_microsecond(value: object, ns: int) -> None:
    assert since_1970_ns(moment(value)) == ns


@pytest.mark.parametrize(
    "value", ["9999-12-31", "9999-12-31T23:59:59-12:00", "0001-01-01", "0001-01-01T00:00+10:00", "1969-12-31"]
)
def test_what_no_clock_can_show_is_refused(value: str) -> None:
    with pytest.raises(ValueError, match="expected a date from 1970 to 2200"):
        moment(value)


@pytest.mark.parametrize("value", ["9999-99-99", "soon", 5, None, True])
def test_what_is_no_date_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="expected a date such as 2000"):
        moment(value)
