"""Reads SimGrid's profiles (trace files), which say how a link or host changes over time.

A line is `date value`; a comment begins with # or %. `LOOPAFTER d` starts over d seconds after the last event,
`PERIODICITY d` every d seconds. Bandwidths are bytes per second, latencies seconds, states 0 or 1, speeds fractions of
the peak. Stochastic profiles (STOCHASTIC, NORM, UNIF, EXP) are refused: a run must come out the same every time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Changes(Enum):
    """The property of a link or host that a profile changes."""

    BANDWIDTH = "bandwidth"
    LATENCY = "latency"
    LINK_STATE = "link state"
    HOST_STATE = "host state"
    SPEED = "speed"


@dataclass(frozen=True, slots=True)
class Profile:
    """The events of a profile by time, each as (seconds since the start, value).

    The events begin again `repeat_after_s` seconds after the last one.
    """

    name: str
    events: tuple[tuple[float, float], ...]
    repeat_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class ProfileUse:
    """The use of a profile for one property of the link or host named `element`.

    A split-duplex link has two, one per direction.
    """

    changes: Changes
    element: str
    profile: Profile


def parse_profile(name: str, text: str, periodicity_s: float = -1.0) -> Profile:
    """Read the text of a profile. Raises ValueError, whose text contains the line and what is wrong with it."""
    events: list[tuple[float, float]] = []
    repeat_after_s: float | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        words = raw.split()
        if not words or words[0][0] in "#%":
            continue
        if words[0] == "STOCHASTIC":
            raise ValueError(f"line {number}: stochastic profiles are not deterministic; write the events out")
        values = [_number(word, number) for word in words[words[0] in ("PERIODICITY", "LOOPAFTER") :]]
        if words[0] == "PERIODICITY" and len(values) == 1:
            periodicity_s = values[0]
        elif words[0] == "LOOPAFTER" and len(values) == 1:
            repeat_after_s = values[0]
        elif len(values) == 2:
            _check(values[0], values[1], events, number)
            events.append((values[0], values[1]))
        else:
            raise ValueError(f"line {number}: expected a date and a value, got {raw.strip()[:60]!r}")
    if periodicity_s > 0:
        repeat_after_s = periodicity_s - (events[-1][0] if events else 0.0)
    if repeat_after_s is not None and repeat_after_s < 0:
        raise ValueError("the profile starts again before its last event; give a longer period")
    if repeat_after_s is not None and events and events[-1][0] + repeat_after_s <= 0:
        raise ValueError("the profile starts again without any time passing; give a period above 0")
    return Profile(name, tuple(events), repeat_after_s)


def _number(word: str, line: int) -> float:
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"line {line}: expected a number, got {word[:60]!r}") from None
    if not abs(value) < float("inf"):
        raise ValueError(f"line {line}: expected a finite number, got {word[:60]!r}")
    return value


def _check(date_s: float, value: float, events: list[tuple[float, float]], line: int) -> None:
    if date_s < 0 or (events and date_s < events[-1][0]):
        raise ValueError(f"line {line}: dates must not go back, got {date_s:g} after {events[-1][0] if events else 0:g}")
    if value < 0:
        raise ValueError(f"line {line}: values must not be below 0, got {value:g}")
