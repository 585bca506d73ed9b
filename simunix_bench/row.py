"""A figure that a benchmark measures: its value, its aim, and the reason if it has not been measured."""

from __future__ import annotations

from dataclasses import dataclass

OK, MISSED, UNMEASURED = "ok", "missed", "not measured"


@dataclass(frozen=True, slots=True)
class Aim:
    """A benchmark's aim: an upper or lower bound for the measured value, in the value's unit."""

    bound: float
    is_least: bool = False

    def met_by(self, value: float) -> bool:
        """Return whether a value meets the aim; a value equal to the bound meets it."""
        return value >= self.bound if self.is_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.is_least else '≤'} {number(self.bound)}"


def at_most(bound: float) -> Aim:
    """Return an aim that values up to `bound` meet."""
    return Aim(bound)


def at_least(bound: float) -> Aim:
    """Return an aim that values from `bound` on meet."""
    return Aim(bound, is_least=True)


@dataclass(frozen=True, slots=True)
class Row:
    """A figure that a benchmark measures. `name` is for programs, `text` for people.

    `value` is None if the figure was not measured; `note` then gives the reason. A figure with `is_detail` is written
    to the JSON file only.
    """

    name: str
    text: str
    value: float | None
    unit: str = ""
    aim: Aim | None = None
    note: str = ""
    is_detail: bool = False

    @property
    def verdict(self) -> str:
        """The verdict on the figure: "ok", "missed", "not measured", or "" without an aim."""
        if self.value is None:
            return UNMEASURED
        if self.aim is None:
            return ""
        return OK if self.aim.met_by(self.value) else MISSED


def missing(name: str, text: str, why: str, aim: Aim | None = None) -> Row:
    """Return the row of a figure that could not be measured."""
    return Row(name, text, None, aim=aim, note=why)


def number(value: float) -> str:
    """Return a number with three significant digits; whole numbers keep all their digits."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
