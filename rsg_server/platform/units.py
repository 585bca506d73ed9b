"""Reads quantities as SimGrid's platform files write them (xbt_parse_units.cpp of SimGrid 3.32). Bad ones raise ValueError.

A quantity is a number and a unit without a space: `125MBps` (bytes), `10Gbps` (bits), `KiBps` (1024), `50us`, `2.5Gf`.
A number alone is in bytes per second, seconds or flop/s. SimGrid writes `Ki`; simunix also reads `ki`.
"""

from __future__ import annotations

import math
import re

_NUMBER = r"\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z]*)\s*$"
_DECIMAL = ("k", "M", "G", "T", "P", "E", "Z", "Y")
_DECIMAL_WORDS = ("kilo", "mega", "giga", "tera", "peta", "exa", "zetta", "yotta")


def _scale(unit: str, value: float, prefixes: tuple[str, ...], step: float) -> dict[str, float]:
    """Return the factors of a unit, alone and with each prefix; each prefix multiplies by `step` once more."""
    return {unit: value} | {prefix + unit: value * step**power for power, prefix in enumerate(prefixes, 1)}


_BINARY = tuple(f"{letter}i" for letter in ("K", *_DECIMAL[1:]))
BANDWIDTHS = {
    name: value
    for unit, bytes_ in (("bps", 0.125), ("Bps", 1.0))
    for name, value in (_scale(unit, bytes_, _DECIMAL, 1e3) | _scale(unit, bytes_, _BINARY, 1024.0)).items()
} | {"kiBps": 1024.0, "kibps": 128.0}
TIMES = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12}
SIZES = _scale("B", 1.0, _DECIMAL, 1e3) | _scale("B", 1.0, _BINARY, 1024.0) | _scale("b", 0.125, _DECIMAL, 1e3)
SIZES |= _scale("b", 0.125, _BINARY, 1024.0)
SPEEDS = _scale("f", 1.0, _DECIMAL, 1e3) | _scale("flops", 1.0, _DECIMAL_WORDS, 1e3)


def _quantity(text: str, units: dict[str, float], default: str, expected: str) -> float:
    match = re.match(_NUMBER, text)
    factor = units.get(match[2] or default) if match else None
    if match is None or factor is None:
        raise ValueError(f"expected {expected}, got {text[:60]!r}")
    value = float(match[1]) * factor
    if not math.isfinite(value):
        raise ValueError(f"expected {expected}, got {text[:60]!r}, which is too large")
    return value


def is_without_unit(text: str) -> bool:
    """Return whether a text is a number other than 0 without a unit: SimGrid reads it, and warns."""
    match = re.match(_NUMBER, text)
    return match is not None and not match[2] and float(match[1]) != 0


def bandwidth_bytes_per_s(text: str) -> float:
    """Return the bandwidth that a text means, in bytes per second, above 0. Raises ValueError."""
    expected = "a bandwidth above 0 such as '125MBps' or '10Gbps'"
    value = _quantity(text, BANDWIDTHS, "Bps", expected)
    if value <= 0:
        raise ValueError(f"expected {expected}, got {text[:60]!r}")
    return value


def size_bytes(text: str) -> int:
    """Return the size that a text means, in bytes, rounded, at least 1. Raises ValueError."""
    expected = "a size above 0 such as '500GiB' or '100MB'"
    value = round(_quantity(text, SIZES, "B", expected))
    if value < 1:
        raise ValueError(f"expected {expected}, got {text[:60]!r}")
    return value


def time_s(text: str) -> float:
    """Return the time that a text means, in seconds, not below 0. Raises ValueError."""
    expected = "a time not below 0 such as '50us' or '1.5ms'"
    value = _quantity(text, TIMES, "s", expected)
    if value < 0:
        raise ValueError(f"expected {expected}, got {text[:60]!r}")
    return value


def speed_flops(text: str) -> float:
    """Return the speed that a text means, in flop/s, not below 0. Raises ValueError.

    The speed 0 is that of a power state in which nothing progresses.
    """
    expected = "a speed not below 0 such as '2.5Gf' or '100megaflops'"
    value = _quantity(text, SPEEDS, "f", expected)
    if value < 0:
        raise ValueError(f"expected {expected}, got {text[:60]!r}")
    return value
