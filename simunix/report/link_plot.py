"""Draw the rates that links carried: a small panel for each link, with common scales of time and rate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path

if TYPE_CHECKING:
    from simunix.results.link_usage import Usage

UNITS = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
TIMES = ((2 * 86400.0, 86400.0, "days"), (2 * 3600.0, 3600.0, "hours"), (2 * 60.0, 60.0, "minutes"), (0.0, 1.0, "seconds"))
"""The units of time axes: the shortest span that uses the unit, the unit's seconds, its name."""
SMALLEST = 1e-4
"""Parts of a bandwidth below this value are not written as numbers."""
WIDTH_IN, PANEL_IN, EDGES_IN = 9.0, 0.9, 1.1


def steps(usage: Usage, link: str) -> tuple[list[float], list[float]]:
    """Return moments in seconds and the bits per second of a link from each moment on, including the zeros that
    links.csv leaves out.
    """
    interval_s, rows = usage.interval_s, usage.links[link]
    moments, rates = [usage.moments[0]], [0.0]
    for moment in sorted(rows):
        if moment - moments[-1] > interval_s / 2:
            moments.append(moment)
            rates.append(0.0)
        moments[-1], rates[-1] = moment, rows[moment][1] * 8
        moments.append(moment + interval_s)
        rates.append(0.0)
    return moments, rates


def draw_panels(panels: Sequence[Any], usage: Usage, names: Sequence[str]) -> str:
    """Draw each link into a panel, with common scales; return the unit of the rates."""
    drawn = {name: steps(usage, name) for name in names}
    top = max(max(rates) for _, rates in drawn.values())
    scale, unit = next(((scale, unit) for scale, unit in UNITS if top >= scale), UNITS[-1])
    begin, end = usage.moments[0], usage.moments[-1] + usage.interval_s
    second, time_unit = next((second, name) for least, second, name in TIMES if end - begin >= least)
    for panel, name in zip(panels, names, strict=True):
        moments, rates = drawn[name]
        _draw(panel, name, [moment / second for moment in moments], [rate / scale for rate in rates], usage)
        panel.set_ylim(0, top / scale * 1.08)
    panels[-1].set_xlabel(f"virtual time in {time_unit}; rates in {unit}")
    panels[-1].set_xlim(begin / second, end / second)
    return unit


def plot(usage: Usage, names: list[str], target: Path) -> None:
    """Draw the links into a file, in the format that the ending of its name says. Raises SimunixError if the file
    cannot be written.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise SimunixError("net plot: matplotlib is missing; pip install matplotlib") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = (WIDTH_IN, EDGES_IN + PANEL_IN * len(names))
    figure, panels = pyplot.subplots(len(names), 1, sharex=True, sharey=True, figsize=size, squeeze=False)
    try:
        unit = draw_panels([panel for (panel,) in panels], usage, names)
        figure.suptitle(f"what the links carried, {unit}, per {usage.interval_s:g} s", fontsize=10)
        figure.tight_layout()
        with whole_path(target) as draft:
            figure.savefig(draft, dpi=120, metadata={"Date": None} if target.suffix == ".svg" else None)
    except OSError as error:
        raise SimunixError(unwritten(target, error, "choose another name with -o")) from error
    except ValueError as error:
        raise SimunixError(f"{target}: {error}; choose another name with -o") from error
    finally:
        pyplot.close(figure)


def _draw(panel: Any, name: str, moments: list[float], rates: list[float], usage: Usage) -> None:
    panel.fill_between(moments, rates, step="post", color="#4477aa", linewidth=0)
    panel.set_ylabel(name, rotation=0, horizontalalignment="right", verticalalignment="center", fontsize=8)
    panel.tick_params(labelsize=7)
    panel.margins(x=0)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    most = max(part for _, _, part in usage.links[name].values())
    text = f"peak {100 * most:.2g} % of its bandwidth" if most >= SMALLEST else "never 0.01 % of its bandwidth"
    panel.text(1.0, 1.0, text, transform=panel.transAxes, ha="right", va="bottom", fontsize=7)
