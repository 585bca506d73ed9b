"""Draw what the machine did (power and caps, states of cores, GPUs, storages, links), and how its users were served."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simunix.report import link_plot
from simunix.report.comparison import Comparison, Curves
from simunix.report.drawing import PALETTE, counts_over_time, escaped, grid, legend, lines, over_time, stacked, time_unit
from simunix.report.power import bands, power

if TYPE_CHECKING:
    from simunix.report.run_data import Run

Draw = Callable[[Any], None]
STATES = ("compute", "are idle", "boot", "shut down", "are off")
STATE_COLOURS = ("#4477aa", "#bbccdd", "#ccaa22", "#ee9966", "#444455")
"""The colours of the states of cores in `simunix.report.power.BANDS`."""
WATTS = ((1e6, "MW"), (1e3, "kW"), (1.0, "W"))
RATES = ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s"))
LINKS_MAX = 8
"""The most links in a picture; those that carried the most bytes are shown."""
USERS_MAX = 20
"""The most users in a picture; those with the most work are shown."""
BAR_IN = 0.16


def resource_figures(comparison: Comparison, name_of: Callable[[str, int], str]) -> dict[str, Draw]:
    """Return, by the figure's name, the function that draws it into axes. `name_of` makes a figure's name from its kind
    and a run's number.

    A figure is included if a run has its data: watts, GPUs, active storages, links.csv, several users.
    """
    found: dict[str, Draw] = {}
    labels = [run.label for run in comparison.runs]
    if (watts := power(comparison.runs, comparison.end_s)) is not None:
        found["power"] = partial(_power, watts=watts[0], caps=watts[1], labels=labels)
    if (gpus := comparison.gpus()) is not None:
        found["gpus"] = lambda axes: counts_over_time(axes, gpus, labels, "GPUs that jobs hold")
    if len(comparison.users) > 1:
        found["users"] = partial(_users, comparison=comparison)
    for number, run in enumerate(comparison.runs):
        found |= {name_of(kind, number): draw for kind, draw in _of_run(run, comparison.end_s).items()}
    return found


def _of_run(run: Run, end_s: float) -> Mapping[str, Draw]:
    found: dict[str, Draw] = {}
    if run.jobs is not None and (curves := bands(run, end_s)) is not None:
        found["states"] = partial(_states, curves=curves, title=run.label)
    if run.storages is not None:
        found["storages"] = partial(_storages, run=run)
    if run.links is not None:
        found["links"] = partial(_links, run=run)
    return found


def _unit(units: Sequence[tuple[float, str]], top: float) -> tuple[float, str]:
    return next(((scale, name) for scale, name in units if top >= scale), units[-1])


def _top(curves: Sequence[np.ndarray]) -> float:
    return max((float(np.nanmax(y)) for y in curves if len(y) and not np.isnan(y).all()), default=0.0)


def _power(axes: Any, watts: Curves, caps: Curves, labels: Sequence[str]) -> None:
    """Draw the watts of each run and, dashed in the run's colour, its power cap."""
    scale, unit = _unit(WATTS, max(_top(watts.y), _top(caps.y)))
    second, time = time_unit(float(watts.x[-1]))
    has_caps = [not np.isnan(y).all() for y in caps.y]
    lines(axes, Curves(watts.x, [y / scale for y in watts.y]), labels, second, at_least=len(labels) + 1)
    for number, label in enumerate(labels):
        if has_caps[number]:
            name = f"cap of {label}" if len(labels) > 1 else "cap"
            colour = PALETTE[number % len(PALETTE)] if len(labels) > 1 else PALETTE[1]
            axes.step(caps.x / second, caps.y[number] / scale, "--", where="post", color=colour, label=escaped(name))
    if len(labels) > 1 or any(has_caps):
        legend(axes)
    axes.set(xlabel=f"virtual time, {time}", ylabel=f"power, {unit}", xlim=(0, float(watts.x[-1]) / second))
    axes.set_ylim(bottom=0)


def _states(axes: Any, curves: Curves, title: str) -> None:
    """Draw the numbers of cores in each state, one band on top of the other."""
    second, time = time_unit(float(curves.x[-1]))
    axes.stackplot(
        curves.x / second,
        curves.y,
        labels=[f"cores that {state}" for state in STATES],
        colors=STATE_COLOURS,
        step="post",
        linewidth=0,
    )
    axes.set(xlabel=f"virtual time, {time}", ylabel="cores", xlim=(0, float(curves.x[-1]) / second), ylim=(0, None))
    axes.set_title(escaped(title), fontsize=10)
    legend(axes)


def _storages(axes: Any, run: Run) -> None:
    """Draw three panels: how much each storage read, how much it wrote, and the part of its bandwidth that it used."""
    use = run.storages
    assert use is not None
    names = list(use.used)
    scale, unit = _unit(RATES, max(_top(list(use.read.values())), _top(list(use.written.values()))))
    panels = stacked(axes, 3, 1.7)
    for panel, name, side in zip(panels[:2], (f"read, {unit}", f"written, {unit}"), (use.read, use.written), strict=True):
        over_time(panel, Curves(use.moments, [one / scale for one in side.values()]), names, name, at_least=len(names) + 1)
        panel.set_xlabel("")
    over_time(panels[2], Curves(use.moments, list(use.used.values())), names, "used bandwidth, %", at_least=1)
    panels[2].set_ylim(top=max(102.0, *(float(one.max()) * 1.02 for one in use.used.values())))
    panels[0].set_title(escaped(run.label), fontsize=10)


def _links(axes: Any, run: Run) -> None:
    """Draw a panel for each of the busiest links, with common scales."""
    usage = run.links
    assert usage is not None
    names = usage.chosen([], LINKS_MAX)
    figure = axes.figure
    link_plot.draw_panels(stacked(axes, len(names), link_plot.PANEL_IN), usage, names)
    figure.suptitle(escaped(f"{run.label}: what the busiest links carried, per {usage.interval_s:g} s"), fontsize=10)


def _users(axes: Any, comparison: Comparison) -> None:
    """Draw the mean wait of each user in each run; users with the most work come first."""
    table = comparison.users.head(USERS_MAX)
    runs = comparison.runs
    sides = [table.get(f"mean_waiting_time.{number}") for number in range(len(runs))]
    top = max((float(side.max()) for side in sides if side is not None and side.notna().any()), default=0.0)
    second, unit = time_unit(top)
    axes.figure.set_figheight(1.4 + BAR_IN * len(table) * (len(runs) + 0.6))
    height = 0.8 / len(runs)
    for number, side in enumerate(sides):
        if side is not None:
            places = np.arange(len(table)) + (number - (len(runs) - 1) / 2) * height
            colour = PALETTE[number % len(PALETTE)]
            axes.barh(places, side.to_numpy(dtype=float) / second, height, color=colour, label=escaped(runs[number].label))
    axes.set_yticks(np.arange(len(table)), [escaped(str(name)) for name in table.index], fontsize=8)
    axes.set_ylim(len(table) - 0.4, -0.6)
    axes.set(xlabel=f"mean wait, {unit}", ylabel="user")
    if len(runs) > 1:
        legend(axes)
    grid(axes)
