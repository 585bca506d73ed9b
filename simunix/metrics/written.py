"""Format metrics for people: the terminal, pages and comparisons write a metric in one way."""

from __future__ import annotations

from simunix.metrics.catalog import Metric, Unit
from simunix.units import human_energy, human_time

HOUR_S = 3600.0


def written(metric: Metric, value: float) -> str:
    """Return a known value with its unit: durations as clock times, throughput in jobs per hour, core seconds in hours."""
    return {
        Unit.NUMBER: f"{value:,.3f}",
        Unit.COUNT: f"{value:,.0f}",
        Unit.SHARE: f"{value:.2%}",
        Unit.SECONDS: human_time(value),
        Unit.PER_SECOND: f"{value * HOUR_S:,.3f}",
        Unit.JOULES: human_energy(value),
        Unit.CORE_SECONDS: f"{value / HOUR_S:,.2f} h",
        Unit.GPU_SECONDS: f"{value / HOUR_S:,.2f} h",
    }[metric.unit]


def is_shown(metric: Metric, values: list[float | None]) -> bool:
    """Return whether tables for people have a row for a metric: a run has a value for it, and the value is not 0, if
    the metric hides zeros.
    """
    known = [value for value in values if value is not None and value == value]
    return bool(known) and (metric.shows_zero or any(value != 0 for value in known))
