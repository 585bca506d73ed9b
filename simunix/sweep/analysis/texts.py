"""Words and numbers of the tables of an experiment."""

from __future__ import annotations

from math import isfinite

from simunix.statistics.difference import Difference
from simunix.statistics.interval import Interval
from simunix.sweep.analysis.estimates import Estimate

NAMES = {
    "mean_waiting_time": ("mean wait", "s"),
    "median_waiting_time": ("median wait", "s"),
    "max_waiting_time": ("longest wait", "s"),
    "mean_turnaround_time": ("mean turnaround", "s"),
    "median_turnaround_time": ("median turnaround", "s"),
    "max_turnaround_time": ("longest turnaround", "s"),
    "mean_scheduling_delay": ("mean scheduling delay", "s"),
    "makespan": ("makespan", "s"),
    "throughput": ("throughput", "1/s"),
    "virtual_s": ("virtual time", "s"),
    "wall_s": ("wall time", "s"),
}
"""The name and the unit of some metrics. Other metrics are named after their column, and have no unit."""
NO_VALUE = "no value"
HEADS = ("setting", "repetitions", "mean", "95 % interval", "width", "more needed", "difference", "95 % interval", "conclusion")


def name_of(metric: str) -> str:
    """Return a metric's name with its unit, for axes and captions."""
    name, unit = NAMES.get(metric, (metric.replace("_", " "), ""))
    return f"{name}, {unit}" if unit else name


def number(value: float) -> str:
    """Return a number with four digits, or all digits before its point."""
    if not isfinite(value):
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def part(value: float) -> str:
    """Return a fraction as per cent, with its sign."""
    return f"{100 * value:+.1f} %" if isfinite(value) else ""


def span(interval: Interval) -> str:
    """Return the ends of an interval as a text; a word if there is no interval."""
    if isfinite(interval.width):
        return f"{number(interval.low)} … {number(interval.high)}"
    return {0: NO_VALUE, 1: "one repetition"}.get(interval.count, NO_VALUE)


def _relative_span(difference: Difference) -> str:
    interval, base = difference.interval, abs(difference.base)
    if not isfinite(interval.width):
        return span(interval)
    if not base:
        return span(interval)
    return f"{part(interval.low / base)} … {part(interval.high / base)}"


def cells(estimate: Estimate) -> list[str]:
    """Return the cells of a row, in the order of HEADS."""
    interval, difference = estimate.interval, estimate.difference
    row = [estimate.setting, str(interval.count), number(interval.mean) or NO_VALUE, span(interval)]
    width = interval.relative_width
    row += [f"{100 * width:.1f} %" if isfinite(width) else "", "" if estimate.more is None else f"{estimate.more:,}"]
    if difference is None:
        return [*row, "", "", "(base)"]
    shown = part(difference.relative) or number(difference.interval.mean)
    return [*row, shown, _relative_span(difference), difference.verdict]


def notes(found: list[Estimate], perturbed: bool) -> list[str]:
    """Return sentences about what is missing: metrics without values, settings with one repetition, repetitions with
    equal results.
    """
    lines = []
    for metric in dict.fromkeys(each.metric for each in found):
        own = [each for each in found if each.metric == metric]
        if lacking := [each.setting for each in own if each.interval.count == 0]:
            lines.append(f"{metric}: no finished run of {', '.join(lacking)} has a value, as one without jobs has none")
    single = list(dict.fromkeys(each.setting for each in found if each.interval.count == 1))
    if single:
        lines.append(f"one repetition has no interval: {', '.join(single)}; ask for more by repetitions in the experiment")
    several = [each for each in found if each.interval.count > 1]
    if several and all(each.interval.width == 0 for each in several):
        mend = "" if perturbed else "; let them differ by perturb: true in the experiment"
        lines.append(f"all repetitions of a setting are equal, so that intervals have no width{mend}")
    return [*lines, *_of_many(found)]


def _of_many(found: list[Estimate]) -> list[str]:
    """Return a sentence on the differences that seem significant only because many differences were computed."""
    compared = [each for each in found if each.difference is not None]
    alone = [f"{each.metric} of {each.setting}" for each in compared if each.difference and each.difference.differs_alone]
    if not alone:
        return []
    told = f"among {len(compared)} comparisons chance makes an interval of a difference without 0 now and then"
    return [f"{told}, such as {', '.join(alone)} may be; more repetitions decide"]
