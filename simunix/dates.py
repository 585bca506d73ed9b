"""The date at which a run begins: what programs inside of the emulation see at virtual time 0."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

FIRST, LAST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""The first and the last date at which a run may begin. Clocks count nanoseconds since 1970 in 64 bits, which suffices
until 2262, and a run may last for decades.
"""


def today() -> datetime:
    """Return the last midnight in UTC. A run without a given date begins then, so that two runs on one day have equal
    dates.
    """
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def next_second() -> datetime:
    """Return the next full second: the beginning of a run for which all files of this computer, also new ones, must
    have times in the past.
    """
    return datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=1)


def moment(value: object) -> datetime:
    """Return the date that a value of YAML or the command line means, in UTC if the value names no time zone. Raises
    ValueError with what was expected.
    """
    if not isinstance(value, datetime):
        try:
            value = datetime.fromisoformat(str(value))
        except ValueError:
            raise ValueError(f"expected a date such as 2000-01-01T00:00:00Z, got {f'{value!r:.60}'}") from None
    found = value if value.tzinfo else value.replace(tzinfo=UTC)
    try:
        fits = FIRST <= found < LAST
    except OverflowError:  # the first or last possible day, in a time zone in which it lies outside of the range
        fits = False
    if not fits:
        raise ValueError(f"expected a date from {FIRST:%Y} to {LAST:%Y}, got {value.isoformat()}")
    return found


def since_1970_ns(date: datetime) -> int:
    """Return the nanoseconds from 1970 to a date, exact to the microsecond."""
    return (date - FIRST) // timedelta(microseconds=1) * 1000
