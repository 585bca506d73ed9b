"""What a comparison concludes: one sentence for each variant, on which a person can act, with the interval behind it."""

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
"""Kinds of conclusions: the variant is better; better for some; worse; no difference; one run; error of the base; no job."""
REPEAT = "repeat it with --repetitions 5 --set-all perturb=true"
NAMED_MAX = 2
"""So many losers, and so many further metrics, are named."""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What is concluded of one variant: its kind, one sentence, and what is behind it."""

    label: str
    kind: str
    text: str
    effects: tuple[Effect, ...]
    seeds: int


def conclude_change(change: Change, repetitions: Repetitions, validation: Validation | None) -> Conclusion:
    """Conclude what a change is worth; the base's error against the site comes first if it is larger than the change."""
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
"""Smaller changes of a metric are not named where there is no interval."""


def _weighed(label: str, base: str, effects: list[Effect], repetitions: Repetitions) -> tuple[str, str]:
    """Weigh what is more than noise: the mean wait, then other metrics, then who loses."""
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
    """Say how many seeds would tell a difference of the size that was seen, if that is more than there are."""
    more = needed(effect.difference)
    return f"; some {more} seeds would tell it" if more is not None and more > count else ""


def _chance(effects: list[Effect]) -> str:
    """Name the metrics whose intervals have no 0, though chance makes such among so many: a reader may care for just these."""
    found = [one for one in effects if one.difference.differs_alone]
    return f"; {_phrases(found[:NAMED_MAX])} may be chance" if found else ""


def _may_lose(repetitions: Repetitions) -> str:
    """Name the users who lose by intervals of their own, though among so many users chance may make one such."""
    found = _moved(repetitions, 1, is_certain=False)[:NAMED_MAX]
    told = ", ".join(f"{name} may: mean wait {signed(WAIT, one)}" for name, one in found)
    return f", but {told}; more seeds would tell" if found else ""


def _moved(repetitions: Repetitions, sign: int, is_certain: bool = True) -> list[tuple[str, Difference]]:
    """The users (or accounts, if no user is known) who lose (1) or win (-1), those who do so most first.

    Beyond noise, or with `is_certain` false those of whom only their own intervals say so.
    """
    kinds = [own for own in repetitions.groups.values() if own]
    moved = (kinds[0] if kinds else {}).items()
    found = [(name, one) for name, one in moved if (one.verdict == DIFFERS if is_certain else one.differs_alone)]
    found = [(name, one) for name, one in found if sign * one.interval.mean > SAME_S]
    return sorted(found, key=lambda pair: -abs(pair[1].interval.mean))


def _of_user(name: str, change: Difference) -> str:
    return f"{name}'s mean wait {signed(WAIT, change)}"


def _error(validation: Validation) -> float:
    """How wrong the base is against the site, in seconds: the larger of the mean error's and the typical error's size."""
    summary = next(iter(validation.summaries.values()))
    return float(np.nanmax([abs(summary["mean"]), summary["p50"]])) if summary["count"] else 0.0


def _phrases(effects: list[Effect]) -> str:
    return ", ".join(map(phrase, effects))


def phrase(effect: Effect) -> str:
    """Return a change with its part of the base and its interval: `mean wait −00:10:10 (−23 %, 95 % interval … … …)`.

    A metric that does not change has no part.
    """
    relative = effect.difference.relative
    part = _part(relative) if np.isfinite(relative) and relative else ""
    ends = _ends(effect.metric, effect.difference.interval)
    inside = ", ".join(filter(None, (part, ends)))
    changed = change_text(effect.metric, effect.difference.interval.mean)
    return f"{_spoken(effect.metric)} {changed}{f' ({inside})' if inside else ''}"


def _spoken(metric: Metric) -> str:
    """Return a metric's title as a sentence has it: of `wait, mean` it is `mean wait`."""
    name, _, kind = metric.title.partition(", ")
    return f"{kind} {name}" if kind else name


def _part(relative: float) -> str:
    """Return a part as whole per cent with its sign; one that is not 0 never as 0."""
    digits = ".1g" if relative and abs(relative) < HALF_PERCENT else ".0f"
    return f"{100 * relative:+{digits}} %".replace("-", "−")


def effect_cells(effect: Effect) -> list[str]:
    """Return the cells of a table of effects: name, base, variant, change, interval, verdict."""
    interval, metric = effect.difference.interval, effect.metric
    ends = f"{change_text(metric, interval.low)} … {change_text(metric, interval.high)}"
    values = [_mean_text(metric, value) for value in (effect.base, effect.other)]
    return [metric.title, *values, change_text(metric, interval.mean), ends, effect.difference.verdict]


def _mean_text(metric: Metric, value: float) -> str:
    """Return a mean over seeds with its unit: a mean of counts is seldom a whole number."""
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
