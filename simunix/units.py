"""Read quantities as people write them: durations, rates, sizes. A ValueError says what was expected and what was
found.
"""

from __future__ import annotations

import re

from rsg_server.errors import SimunixError
from rsg_server.platform import units as simgrid

NS = 10**9
LONGEST = 100
"""The most characters in a text that means a quantity, such as a duration."""
MOST = 9e18
"""The limit below which numbers of bytes, bytes per second and flop/s must be."""
_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1,
    "sec": 1,
    "second": 1,
    "seconds": 1,
    "m": 60,
    "min": 60,
    "minute": 60,
    "minutes": 60,
    "h": 3600,
    "hour": 3600,
    "hours": 3600,
    "d": 86400,
    "day": 86400,
    "days": 86400,
}
_DECIMAL = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}
_PART = r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z]*)"
_SCALED = r"\s*([0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)\s*([kMGT]i?)?(bps|Bps|B|bit/s|b/s|B/s)?\s*$"


def duration_ns(value: object) -> int:
    """Return the nanoseconds of a duration: a number of seconds, or a text such as "90s", "2h30m", "1 day", "50us".
    Raises ValueError.
    """
    expected = "expected a duration such as 90, '50us', '2h30m' or '1 day'"
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{expected}, got {value!r}")
    if isinstance(value, (int, float)):
        if not 0 <= value < 9e9:
            raise ValueError(f"{expected}, got {value!r}")
        return round(value * NS)
    text, total, found = value, 0.0, False
    if len(text) > LONGEST:
        raise ValueError(f"{expected}, got {text[:LONGEST]!r}…")
    while text.strip():
        match = re.match(_PART, text)
        if match is None or (match[2] or "s") not in _SECONDS:
            raise ValueError(f"{expected}, got {value!r}")
        total += float(match[1]) * _SECONDS[match[2] or "s"] * NS
        text, found = text[match.end() :], True
    if not found or total >= 9e18:
        raise ValueError(f"{expected}, got {value!r}")
    return round(total)


def duration_s(value: object) -> float:
    """Return the seconds of a duration, not rounded to nanoseconds: a number, or a text such as "59.904us". Raises
    ValueError.
    """
    if isinstance(value, str):
        try:
            return simgrid.time_s(value)
        except ValueError:
            return duration_ns(value) / NS
    checked = duration_ns(value) / NS
    return float(value) if isinstance(value, (int, float)) else checked


def option_s(option: str, text: str) -> float:
    """Return the seconds of the duration in a command-line option. Raises SimunixError, which names the option."""
    try:
        return duration_s(text)
    except ValueError as error:
        raise SimunixError(f"{option}: {error}") from error


def _scaled(value: object, expected: str, suffixes: dict[str, float]) -> float:
    match = re.match(_SCALED, value) if isinstance(value, str) and len(value) <= LONGEST else None
    if match is None or (match[3] or "") not in suffixes:
        raise ValueError(f"{expected}, got {f'{value!r:.{LONGEST}}'}")
    scaled = float(match[1]) * {**_DECIMAL, **_BINARY}[match[2] or ""] * suffixes[match[3] or ""]
    if not scaled < MOST:
        raise ValueError(f"{expected}, got {value!r}, which is too large")
    return scaled


def rate_bytes_per_s(value: object) -> float:
    """Return the bytes per second of a rate such as "10Gbps" (bits) or "125MBps" (bytes); as in SimGrid, b is a bit and
    B a byte. Raises ValueError.
    """
    rate = _scaled(
        value,
        "expected a rate such as '10Gbps' or '125MBps'",
        {"bps": 0.125, "bit/s": 0.125, "b/s": 0.125, "Bps": 1, "B/s": 1},
    )
    if rate <= 0:
        raise ValueError(f"expected a rate above 0, got {value!r}")
    return rate


def size_bytes(value: object) -> int:
    """Return the bytes of a size such as "64GiB", "500MB" or a number. Raises ValueError."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST:
        return value
    return round(_scaled(value, "expected a size such as '64GiB' or '500MB'", {"B": 1, "": 1}))


def speed_flops(value: object) -> float:
    """Return the flop/s of one core for a speed such as "2.5Gf" or a number. Raises ValueError."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < MOST:
        value = f"{value:.17g}"
    try:
        speed = simgrid.speed_flops(value) if isinstance(value, str) else 0.0
    except ValueError:
        speed = 0.0
    if speed <= 0:
        raise ValueError(f"expected a speed such as '2.5Gf', got {value!r}")
    return speed


def human_time(seconds: float) -> str:
    """Return a duration as a text for people: `1 day 02:03:04`, or `0.31 s` below a minute."""
    if seconds < 60:
        return f"{seconds:.2f} s"
    whole = round(seconds)
    days, rest = divmod(whole, 86400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return f"{days} day{'s' if days != 1 else ''} {clock}" if days else clock


def human_memory(size_bytes: float) -> str:
    """Return a number of bytes as a text for people: `812 MiB`, `2.3 GiB`."""
    mebibytes = size_bytes / (1 << 20)
    return f"{mebibytes:,.0f} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:,.1f} GiB"


def human_energy(joules: float) -> str:
    """Return a number of joules as a text for people: `412 kJ`, `18.3 MJ`, `1.02 GJ`."""
    for unit, size in (("GJ", 1e9), ("MJ", 1e6), ("kJ", 1e3)):
        if abs(joules) >= size:
            return f"{joules / size:,.3g} {unit}" if abs(joules) < 1000 * size else f"{joules / size:,.0f} {unit}"
    return f"{joules:,.0f} J"
