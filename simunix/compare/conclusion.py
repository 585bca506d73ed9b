"""Draws the conclusions of a comparison: one sentence for each variant, on which a person can act, with a confidence
interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simunix.compare import texts
from simunix.compare.repeated import Effect, Repetitions, needed
from simunix.compare.study import Change, Validation
from simunix.metrics.catalog import Metric, Unit
from simunix.metrics.changes import SAME_S
from simunix.metrics.written import HOUR_S, written
from simunix.statistics.difference import DIFFERS, Difference
from simunix.statistics.interval import Interval
from simunix.units import human_energy

ADOPT, WEIGH, KEEP, SAME, UNDECIDED, WRONG, NOTHING = "adopt", "weigh", "keep", "same", "undecided", "wrong", "nothing"
"""The kinds of conclusions: the variant is better; better for some users; worse; no difference; undecided with one run;
the base's error is too large; no job.
"""
REPEAT = "repeat it with --repetitions 5 --set-all perturb=true"
NAMED_MAX = 2
"""The most losers, and the most further metrics, that a conclusion names."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The conclusion about one variant: its kind, one sentence, and the effects that support it."""

    label: str
    kind: str
    text: str
    effects: tuple[Effect, ...]
    seeds: int


def conclude_change(change: Change, repetitions: Repetitions, validation: Validation | None) -> Conclusion:
    """Conclude what a change of the scenario is worth.

    If the base differs from the site's accounting by more than the change, the conclusion says this first.
    """
    effects = tuple(repetitions.effects)
    kind, text = _concluded(change, repetitions, validation)
    return Conclusion(change.run.label, kind, text, effects, len(repetitions.seeds))


def _concluded(change: Change, repetitions: Repetitions, validation: Validation | None) -> tuple[str, str]:
    label, base, effects = change.run.label, change.base.label, repetitions.effects
    if not effects or effects[0].metric.name != "mean_waiting_time":
        return NOTHING, f"Nothing to conclude about {label}: no job has started in it and in {base}."
    first = effects[0]
    if validation is not None and (error := _error(validation)) > abs(first.difference.interval.mean):
        told = texts.signed_time(first.difference.interval.mean)
        return WRONG, (
            f"Do not act on {label}: against {validation.source} the base starts its jobs {texts.time(error)} wrong, more than "
            f"the change of the mean wait ({told}{_interval(first)}); bring {base} nearer to the site first."
        )
    if len(repetitions.seeds) < 2:
        further = [one for one in effects[1:] if not abs(one.difference.relative) < LEAST_PART]
        seen = _phrases([first, *further[:NAMED_MAX]])
        return UNDECIDED, f"Not decided: one run of each says nothing about noise; in these two, {label} has {seen}; {REPEAT}."
    return _weighed(label, base, effects, repetitions)


HALF_PERCENT = 0.005
LEAST_PART = 0.01
"""The least change of a metric, as a part of the base, that is named if there is no interval."""


def _weighed(label: str, base: str, effects: list[Effect], repetitions: Repetitions) -> tuple[str, str]:
    """Conclude from the effects that are more than noise: first the mean wait, then other metrics, then the users who lose."""
    count = len(repetitions.seeds)
    better = [one for one in effects if one.differs and one.is_better]
    worse = [one for one in effects if one.differs and not one.is_better]
    winners, losers = ([_of_user(*pair) for pair in _moved(repetitions, sign)] for sign in (-1, 1))
    gain = [*(phrase(one) for one in better[:NAMED_MAX]), *winners[: 0 if better else NAMED_MAX]]
    cost = [*(phrase(one) for one in worse[:NAMED_MAX]), *losers[:NAMED_MAX]]
    if not gain and not cost:
        told = _still_needed(effects[0], count) + _chance(effects)
        return SAME, f"Keep {base}: {label} makes no difference that {count} seeds tell: {phrase(effects[0])}{told}."
    if not gain:
        return KEEP, f"Keep {base}: {label} only costs: {', '.join(cost)}{_chance(effects)} ({count} seeds)."
    if not better and not cost:
        told = f"nothing else differs beyond noise, {phrase(effects[0])}"
        return WEIGH, f"Adopt {label} only for this: {', '.join(gain)}; {told} ({count} seeds)."
    if not cost:
        return ADOPT, f"Adopt {label}: {', '.join(gain)}; nobody loses beyond noise{_may_lose(repetitions)} ({count} seeds)."
    is_slower = not better and effects[0] in worse
    advice = f"Keep {base} unless" if is_slower else f"Adopt {label} only if"
    return WEIGH, f"{advice} this is worth it: {', '.join(gain)}, but {', '.join(cost)} ({count} seeds)."


def _still_needed(effect: Effect, count: int) -> str:
    """Return a sentence on how many seeds would be needed to tell a difference of the observed size from chance, if
    these are more than there are.
    """
    more = needed(effect.difference)
    return f"; some {more} seeds would tell it" if more is not None and more > count else ""


def _chance(effects: list[Effect]) -> str:
    """Return a sentence that names the metrics whose own intervals do not contain 0, although among so many metrics
    chance alone may cause this. A reader may be interested in just these metrics.
    """
    found = [one for one in effects if one.difference.differs_alone]
    return f"; {_phrases(found[:NAMED_MAX])} may be chance" if found else ""


def _may_lose(repetitions: Repetitions) -> str:
    """Return a sentence that names the users who lose by their own intervals, although among so many users chance alone
    may cause this.
    """
    found = _moved(repetitions, 1, is_certain=False)[:NAMED_MAX]
    told = ", ".join(f"{name} may: mean wait {signed(WAIT, one)}" for name, one in found)
    return f", but {told}; more seeds would tell" if found else ""


def _moved(repetitions: Repetitions, sign: int, is_certain: bool = True) -> list[tuple[str, Difference]]:
    """Return the users (or accounts, if no user is known) who lose (1) or win (-1), the largest changes first. With
    `is_certain`, these are the ones whose change is more than noise, else those of whom only their own interval says
    so.
    """
    kinds = [own for own in repetitions.groups.values() if own]
    moved = (kinds[0] if kinds else {}).items()
    found = [(name, one) for name, one in moved if (one.verdict == DIFFERS if is_certain else one.differs_alone)]
    found = [(name, one) for name, one in found if sign * one.interval.mean > SAME_S]
    return sorted(found, key=lambda pair: -abs(pair[1].interval.mean))


def _of_user(name: str, change: Difference) -> str:
    return f"{name}'s mean wait {signed(WAIT, change)}"


def _error(validation: Validation) -> float:
    """Return the error of the base against the site's accounting, in seconds: the larger one of the mean error and the
    typical error.
    """
    summary = next(iter(validation.summaries.values()))
    return float(np.nanmax([abs(summary["mean"]), summary["p50"]])) if summary["count"] else 0.0


def _phrases(effects: list[Effect]) -> str:
    return ", ".join(map(phrase, effects))


def phrase(effect: Effect) -> str:
    """Return a change with its part of the base and its interval: `mean wait −00:10:10 (−23 %, 95 % interval … … …)`.

    For a metric that does not change, no per cent are given.
    """
    relative = effect.difference.relative
    part = _part(relative) if np.isfinite(relative) and relative else ""
    ends = _ends(effect.metric, effect.difference.interval)
    inside = ", ".join(filter(None, (part, ends)))
    changed = change_text(effect.metric, effect.difference.interval.mean)
    return f"{_spoken(effect.metric)} {changed}{f' ({inside})' if inside else ''}"


def _spoken(metric: Metric) -> str:
    """Return a metric's title as words of a sentence: `mean wait` for the title `wait, mean`."""
    name, _, kind = metric.title.partition(", ")
    return f"{kind} {name}" if kind else name


def _part(relative: float) -> str:
    """Return a fraction as whole per cent with its sign; a fraction other than 0 is never shown as 0 %."""
    digits = ".1g" if relative and abs(relative) < HALF_PERCENT else ".0f"
    return f"{100 * relative:+{digits}} %".replace("-", "−")


def effect_cells(effect: Effect) -> list[str]:
    """Return the cells of a table of effects: name, base, variant, change, interval, verdict."""
    interval, metric = effect.difference.interval, effect.metric
    ends = f"{change_text(metric, interval.low)} … {change_text(metric, interval.high)}"
    values = [_mean_text(metric, value) for value in (effect.base, effect.other)]
    return [metric.title, *values, change_text(metric, interval.mean), ends, effect.difference.verdict]


def _mean_text(metric: Metric, value: float) -> str:
    """Return the text of a mean over seeds with its unit; a mean of counts has decimals, since it is seldom a whole number."""
    return f"{value:,.1f}" if metric.unit is Unit.COUNT and not value.is_integer() else written(metric, value)


def signed(metric: Metric, difference: Difference) -> str:
    """Return a change with its interval."""
    ends = _ends(metric, difference.interval)
    return f"{change_text(metric, difference.interval.mean)}{f' ({ends})' if ends else ''}"


def _interval(effect: Effect) -> str:
    ends = _ends(effect.metric, effect.difference.interval)
    return f", {ends}" if ends else ""


def _ends(metric: Metric, interval: Interval) -> str:
    if not np.isfinite(interval.width):
        return ""
    low, high = change_text(metric, interval.low), change_text(metric, interval.high)
    return f"{interval.confidence:.0%} interval {low} … {high}".replace("%", " %", 1)


def change_text(metric: Metric, value: float) -> str:
    """Return a difference of a metric with its sign and unit."""
    if value != value:
        return texts.NOTHING
    if metric.unit is Unit.SECONDS:
        return texts.signed_time(value)
    sign = "+" if value > 0 else "−" if value < 0 else "±"
    size = abs(value)
    if metric.unit is Unit.JOULES:
        return f"{sign}{human_energy(size)}"
    if metric.unit is Unit.SHARE:
        return f"{sign}{100 * size:.1f} points"
    if metric.unit in (Unit.CORE_SECONDS, Unit.GPU_SECONDS):
        return f"{sign}{size / HOUR_S:,.2f} h"
    if metric.unit is Unit.COUNT:
        return f"{sign}{size:,.0f}" if size.is_integer() else f"{sign}{size:,.1f}"
    return f"{sign}{size:,.3g}"


WAIT = Metric("wait", "wait", Unit.SECONDS, "", "")
"""The unit of a group's wait."""
