"""A figure of a benchmark, what it should be, and why it has not been measured if it has not."""

from __future__ import annotations

from dataclasses import dataclass

OK, MISSED, UNMEASURED = "ok", "missed", "not measured"


@dataclass(frozen=True, slots=True)
class Aim:
    """A bound of a value, in its unit: the most it should be, or the least."""

    bound: float
    is_least: bool = False

    def met_by(self, value: float) -> bool:
        """Whether a value keeps to it; the bound itself does."""
        return value >= self.bound if self.is_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.is_least else '≤'} {number(self.bound)}"


def at_most(bound: float) -> Aim:
    """An aim that small values meet."""
    return Aim(bound)


def at_least(bound: float) -> Aim:
    """An aim that large values meet."""
    return Aim(bound, is_least=True)


@dataclass(frozen=True, slots=True)
class Row:
    """`name` is for programs, `text` for people. `value` is None for what was not measured; `note` says why then.

    A detail stands in the JSON only.
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
        """ok, missed, not measured, or nothing where there is no aim."""
        if self.value is None:
            return UNMEASURED
        if self.aim is None:
            return ""
        return OK if self.aim.met_by(self.value) else MISSED


def missing(name: str, text: str, why: str, aim: Aim | None = None) -> Row:
    """The row of what could not be measured."""
    return Row(name, text, None, aim=aim, note=why)


def number(value: float) -> str:
    """Three digits that count, all digits of whole numbers."""
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
