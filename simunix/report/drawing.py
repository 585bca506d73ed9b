"""Functions for all pictures of reports: colours, steps over time, legends outside of the curves, labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simunix.report.comparison import Curves
from simunix.report.link_plot import TIMES

PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccaa22", "#66ccee", "#aa3377", "#999999", "#ee7733")
DASHES = ("-", "--", "-.", ":")
WIDEST, NARROWEST = 2.6, 1.0
"""The widths, in points, of the first and of the last curve: curves that lie on each other are both visible."""
LEGEND_LETTERS = 96
"""The number of letters that fit into a line of a legend."""


def time_unit(end_s: float) -> tuple[float, str]:
    """Return the unit of a time axis that ends at `end_s` seconds: the seconds of one unit, and the unit's name."""
    return next((second, name) for least, second, name in TIMES if end_s >= least)


def escaped(label: str) -> str:
    """Return a label that matplotlib shows unchanged. matplotlib hides labels that begin with `_`, reads $ as
    mathematics, and has no glyphs for control codes.
    """
    return re.sub(r"[\x00-\x1f\x7f]", "?", f" {label}" if label.startswith("_") else label).replace("$", r"\$")


def lines(axes: Any, curves: Curves, labels: Sequence[str], scale: float, at_least: int = 2) -> None:
    """Draw each known curve in steps. If there are at least `at_least` labels, draw a legend outside of the axes."""
    # a curve is known if at least one of its values is known
    known = [number for number, y in enumerate(curves.y) if not np.isnan(y).all()]
    for place, number in enumerate(known):
        style = DASHES[number // len(PALETTE) % len(DASHES)]
        axes.step(
            curves.x / scale,
            curves.y[number],
            style,
            where="post",
            color=PALETTE[number % len(PALETTE)],
            linewidth=width(place, len(known)),
            label=escaped(labels[number]),
        )
    if len(labels) >= at_least:
        legend(axes)
    grid(axes)


def width(place: int, count: int) -> float:
    """Return the width in points of line `place` among `count` lines, so that lines which lie on each other are all
    visible.
    """
    return 1.2 if count == 1 else WIDEST - (WIDEST - NARROWEST) * place / (count - 1)


def grid(axes: Any) -> None:
    """Draw a light grid behind everything."""
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


def legend(axes: Any, handles: Sequence[Any] = (), **options: Any) -> None:
    """Put a legend below the axes of the figure, in as many columns as fit; no legend without labels."""
    found, labels = axes.get_legend_handles_labels()
    if handles:
        found, labels = list(handles), [handle.get_label() for handle in handles]
    if labels:
        columns = max(1, min(len(labels), LEGEND_LETTERS // (max(map(len, labels)) + 6)))
        axes.figure.legend(found, labels, loc="outside lower center", ncols=columns, fontsize=8, frameon=False, **options)


def counts_over_time(axes: Any, curves: Curves, labels: Sequence[str], name: str) -> None:
    """Draw counts over virtual time, with whole numbers on the vertical axis."""
    from matplotlib.ticker import MaxNLocator

    over_time(axes, curves, labels, name)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def over_time(axes: Any, curves: Curves, labels: Sequence[str], name: str, at_least: int = 2) -> None:
    """Draw curves over virtual time; both axes begin at 0."""
    end = float(curves.x[-1]) if len(curves.x) else 1.0
    second, unit = time_unit(end)
    lines(axes, curves, labels, second, at_least)
    axes.set(xlabel=f"virtual time, {unit}", ylabel=name, xlim=(0, end / second))
    axes.set_ylim(bottom=0)


def stacked(axes: Any, count: int, each_in: float) -> list[Any]:
    """Replace the axes of a figure by `count` axes, one below the other, with a common time axis; each is `each_in`
    inches high.
    """
    figure = axes.figure
    axes.remove()
    figure.set_figheight(1.0 + each_in * count)
    found = list(np.ravel(figure.subplots(count, 1, sharex=True)))
    for one in found:
        for side in ("top", "right"):
            one.spines[side].set_visible(False)
    return found


def draw_shares(axes: Any, curves: Curves, labels: Sequence[str], name: str, ticks: Mapping[float, str]) -> None:
    """Draw shares of jobs over a logarithmic axis; the axis is linear below one second if `ticks` have 0."""
    lines(axes, curves, labels, 1.0)
    if 0 in ticks:
        axes.set_xscale("symlog", linthresh=1.0)
    else:
        axes.set_xscale("log")
    least, second = [place for place in sorted(ticks) if place >= 0][:2]
    low, high = (min(least, float(curves.x[0])), max(second, float(curves.x[-1]))) if len(curves.x) else (least, second)
    shown = {place: text for place, text in ticks.items() if low <= place <= high}
    axes.set_xticks(list(shown), list(shown.values()))
    axes.set_xticks([], minor=True)
    axes.set(xlabel=name, ylabel="jobs, %", xlim=(low, high), ylim=(0, 102))
