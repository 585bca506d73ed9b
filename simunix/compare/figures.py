"""Draws the figures of a comparison as pictures for papers: which users win and lose, which jobs moved, errors against
the site.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from simunix.compare import texts
from simunix.compare.page import curves
from simunix.compare.study import Change, Study
from simunix.report.comparison import Curves
from simunix.report.drawing import PALETTE, draw_shares, escaped, grid, legend, time_unit
from simunix.report.static_figures import CHANGES, WAITS, file_name

BARS_MAX = 20
"""The most bars of a picture; the groups whose waits changed most are shown."""
GAIN, LOSS = "#228833", "#ee6677"


def figures(study: Study) -> dict[str, Callable[[Any], None]]:
    """Return, by the figure's name, the function that draws it into axes."""
    labels = [run.label for run in study.runs]
    drawn = curves(study)
    found: dict[str, Callable[[Any], None]] = {}
    for change in study.changes:
        for name, table in change.groups.items():
            found[file_name(f"{name}-{change.run.label}")] = _bars_of(change, texts.TITLES[name], table)
    if "moved" in drawn:
        title = f"start, later than in {escaped(labels[0])}"
        found["moved"] = lambda axes: _points(axes, drawn["moved"], labels, title)
    if "errors" in drawn:
        found["errors"] = lambda axes: draw_shares(axes, drawn["errors"], labels, "start wrong by at most", WAITS)
        found["late"] = lambda axes: _points(axes, drawn["late"], labels, "start, later than on the site")
    return found


def _bars_of(change: Change, title: str, table: pd.DataFrame) -> Callable[[Any], None]:
    return lambda axes: _bars(axes, change, title, texts.most_changed(table[table["wait_change"].notna()], BARS_MAX))


def _bars(axes: Any, change: Change, title: str, table: pd.DataFrame) -> None:
    changes = table["wait_change"].to_numpy(dtype=float)
    second, unit = time_unit(float(np.abs(changes).max()) if len(changes) else 0.0)
    places = np.arange(len(table))
    axes.barh(places, changes / second, color=[LOSS if one > 0 else GAIN for one in changes], height=0.7)
    axes.axvline(0, color="#555555", linewidth=0.8)
    axes.set_yticks(places, [escaped(str(name)) for name in table["name"]], fontsize=8)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.margins(x=0.16)
    for place, one, low, high in zip(places, changes, table["low"], table["high"], strict=True):
        axes.plot([low / second, high / second], [place, place], "-", color="#333333", linewidth=1.0)  # empty for NaN
        side, end = ("right", np.nanmin([one, low])) if one < 0 else ("left", np.nanmax([one, high]))
        axes.annotate(
            texts.signed_time(one), (end / second, place), (-4 if one < 0 else 4, 0), textcoords="offset points",
            ha=side, va="center", fontsize=7,
        )  # fmt: skip
    told = "\nand its 95 % interval" if change.is_repeated else ""
    axes.set(xlabel=f"mean wait, longer than in {escaped(change.base.label)}, {unit}{told}", ylabel=title)
    axes.set_title(escaped(change.run.label), fontsize=10)


def _points(axes: Any, curves: Curves, labels: list[str], name: str) -> None:
    """Draw a point for each job, over the moment of its submission; the vertical axis is linear below a second."""
    last = float(curves.x[-1]) if len(curves.x) else 1.0
    second, unit = time_unit(last)
    for number, (label, y) in enumerate(zip(labels, curves.y, strict=True)):
        if len(y) and not np.isnan(y).all():
            axes.plot(curves.x / second, y, ".", color=PALETTE[number % len(PALETTE)], markersize=4, label=escaped(label))
    axes.set_yscale("symlog", linthresh=1.0)
    known = np.concatenate([np.zeros(1), *(y[~np.isnan(y)] for y in curves.y)])
    low, high = float(known.min()), float(known.max())
    ticks = {place: text for place, text in CHANGES.items() if 1.3 * min(low, -1) <= place <= 1.3 * max(high, 1)}
    axes.set_yticks(list(ticks), list(ticks.values()))
    axes.set_yticks([], minor=True)
    axes.axhline(0, color="#555555", linewidth=0.8)
    grid(axes)
    legend(axes)
    axes.set(xlabel=f"submitted, {unit}", ylabel=name, ylim=(1.3 * min(low, -1), 1.3 * max(high, 1)))
