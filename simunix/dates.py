"""The date at which a run begins, which programs inside see at virtual time 0."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""Clocks count nanoseconds since 1970 in 64 bits, which end in 2262, and a run may last for decades."""


def today() -> datetime:
    """The last midnight, UTC: where a run begins that names no date, so that runs of one day are equal."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def moment(value: object) -> datetime:
    """A date with a time zone, UTC unless it says otherwise. ValueError says what was expected."""
    if not isinstance(value, datetime):
        try:
            value = datetime.fromisoformat(str(value))
        except ValueError:
            raise ValueError(f"expected a date such as 2000-01-01T00:00:00Z, got {f'{value!r:.60}'}") from None
    found = value if value.tzinfo else value.replace(tzinfo=UTC)
    try:
        fits = FIRST <= found < LAST
    except OverflowError:  # the first or last day of all, in a time zone that lies beyond
        fits = False
    if not fits:
        raise ValueError(f"expected a date from {FIRST:%Y} to {LAST:%Y}, got {value.isoformat()}")
    return found


def since_1970_ns(date: datetime) -> int:
    """Nanoseconds since 1970; a date has whole microseconds."""
    return (date - FIRST) // timedelta(microseconds=1) * 1000
