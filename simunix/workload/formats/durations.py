"""Read and write durations in the notation of batch systems: `days-hours:minutes:seconds` and shorter forms; a number
alone is minutes.
"""

from __future__ import annotations

import math
import re

_PART = r"(\d{1,9})"
_SECONDS = r"(\d{1,9}(?:\.\d{1,9})?)"
_FORMS = (
    (re.compile(rf"{_PART}-{_PART}(?::{_PART}(?::{_SECONDS})?)?"), (86400, 3600, 60, 1)),
    (re.compile(rf"{_PART}:{_PART}:{_SECONDS}"), (3600, 60, 1)),
    (re.compile(rf"{_PART}:{_SECONDS}"), (60, 1)),
    (re.compile(rf"{_PART}"), (60,)),
)
UNLIMITED = ("UNLIMITED", "INFINITE", "-1")
EXPECTED = "a time such as 30 (minutes), 45:00, 12:00:00 or 2-12:00:00"


def duration_s(text: str) -> float | None:
    """Return the seconds of a duration; infinity for UNLIMITED, None for a malformed text."""
    if text.upper() in UNLIMITED:
        return math.inf
    for form, units in _FORMS:
        if found := form.fullmatch(text):
            return sum(float(part) * unit for part, unit in zip(found.groups(), units, strict=True) if part is not None)
    return None


def duration_text(seconds: float) -> str:
    """Return a duration as `[days-]hours:minutes:seconds`, which `duration_s` can read; UNLIMITED for infinity."""
    if math.isinf(seconds):
        return UNLIMITED[0]
    whole = math.floor(seconds)
    fraction = f"{seconds - whole:.9f}".rstrip("0").rstrip(".")
    if fraction in ("", "0"):
        fraction = ""
    elif fraction == "1":
        whole, fraction = whole + 1, ""
    days, rest = divmod(whole, 86400)
    hours, rest = divmod(rest, 3600)
    clock = f"{hours:02d}:{rest // 60:02d}:{rest % 60:02d}{fraction[1:]}"
    return f"{days}-{clock}" if days else clock
