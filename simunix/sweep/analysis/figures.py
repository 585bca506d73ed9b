"""Draw pictures of an experiment for papers: boxes, means with intervals, differences, distributions, and curves over
time with bands.

A setting has one colour in all pictures. Legends are beside the axes, never over curves.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix.report.drawing import PALETTE, escaped, time_unit, width
from simunix.report.static_figures import SLOWDOWNS, WAITS, file_name
from simunix.statistics.interval import Interval
from simunix.sweep.analysis import curves
from simunix.sweep.analysis.estimates import Estimate
from simunix.sweep.analysis.settings import Setting
from simunix.sweep.analysis.texts import name_of

COLUMN_IN, PAGE_IN = 3.5, 7.16
"""The widths, in inches, of a column and of a page in a two-column paper."""
ROW_IN, LINE_IN, FRAME_IN, CURVES_IN = 0.26, 0.11, 0.62, 2.4
"""The heights, in inches, of a setting's row, of each additional line of its name, of the space above and below all
rows, and of a picture of curves.
"""
THIN = 0.9
"""The width of curves in points, less than in reports, whose pictures are larger."""
NAME_WIDTH = 22
"""Names of settings that are longer than this number of characters are broken into several lines."""
STYLE: Any = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "pdf.fonttype": 42,  # text stays text in PDF files, as journals ask
    "savefig.dpi": 300,
}
Draw = Callable[[Any], None]
Colours = dict[str, str]


def write_figures(
    folder: Path, settings: Sequence[Setting], found: Sequence[Estimate], out: Path, formats: Sequence[str]
) -> list[Path]:
    """Write every picture in every format, and return the files. Raises SimunixError if the folder cannot be written
    to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimunixError(f"--figures {folder}: {error.strerror}; choose another folder") from error
    colours = dict(zip((each.name for each in settings), colours_of(len(settings)), strict=True))
    rows = ROW_IN + LINE_IN * max((name.count("\n") for name in map(shown, colours)), default=0)
    height = FRAME_IN + rows * len(settings)
    written: list[Path] = []
    for metric in dict.fromkeys(each.metric for each in found):
        own = [each for each in found if each.metric == metric and each.interval.count]
        if not own:
            continue
        stem, values = file_name(metric), {each.name: _finite(each, metric) for each in settings}
        written += _save(folder, f"box-{stem}", (COLUMN_IN, height), partial(_boxes, metric, values, colours), formats)
        written += _save(folder, f"mean-{stem}", (COLUMN_IN, height), partial(_means, metric, own, colours), formats)
        others = [each for each in own if each.difference is not None and np.isfinite(each.difference.interval.width)]
        if others:
            size = (COLUMN_IN, FRAME_IN + rows * len(others))
            base = settings[0].name
            written += _save(folder, f"difference-{stem}", size, partial(_differences, metric, others, base, colours), formats)
    return written + _curves(folder, settings, out, colours, formats)


def colours_of(count: int) -> list[str]:
    """Return `count` different colours: those of reports or, for more, a range from blue to red."""
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    import matplotlib
    from matplotlib.colors import to_hex

    return [to_hex(colour) for colour in matplotlib.colormaps["turbo"](np.linspace(0.05, 0.95, count))]


def shown(name: str) -> str:
    """Return a setting's name as pictures show it: special characters escaped, long names broken into lines."""
    return "\n".join(textwrap.wrap(escaped(name), NAME_WIDTH)) or name


def _finite(setting: Setting, metric: str) -> list[float]:
    return [value for value in setting.values(metric).values() if np.isfinite(value)]


def _save(folder: Path, name: str, size: tuple[float, float], draw: Draw, formats: Sequence[str]) -> list[Path]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    files = [folder / f"{name}.{kind}" for kind in dict.fromkeys(formats)]
    with matplotlib.rc_context({**STYLE, "svg.hashsalt": name}):
        figure, axes = pyplot.subplots(figsize=size, layout="constrained")
        try:
            draw(axes)
            axes.grid(color="#dddddd", linewidth=0.5, axis="x" if name.startswith(("box", "mean", "diff")) else "both")
            axes.set_axisbelow(True)
            for file in files:
                metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(file.suffix)
                with whole_path(file) as draft:
                    figure.savefig(draft, metadata=metadata)
        except OSError as error:
            raise SimunixError(f"--figures {unwritten(folder, error, 'choose another folder')}") from error
        finally:
            pyplot.close(figure)
    return files


# Pictures with a row for each setting


def _rows(axes: Any, names: Sequence[str], label: str) -> None:
    axes.set_yticks(range(len(names)), [shown(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(label)
    axes.xaxis.set_major_locator(_locator())


def _locator() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=5)


def _boxes(metric: str, values: dict[str, list[float]], colours: Colours, axes: Any) -> None:
    """Draw a box from the lower to the upper quartile, whiskers of up to 1.5 times the box's length, and all
    repetitions as points.
    """
    random = np.random.default_rng(0)
    for row, (name, own) in enumerate(values.items()):
        colour = colours[name]
        if len(own) > 1:
            drawn = axes.boxplot(
                [own], positions=[row], widths=0.5, orientation="horizontal", showfliers=False, patch_artist=True
            )
            for part in ("boxes", "whiskers", "caps", "medians"):
                for artist in drawn[part]:
                    artist.set(color=colour, linewidth=1.4 if part == "medians" else 0.8)
            drawn["boxes"][0].set_facecolor(f"{colour}33")
        axes.plot(own, row + random.uniform(-0.12, 0.12, len(own)), ".", color=colour, markersize=3, alpha=0.8)
    _rows(axes, list(values), name_of(metric))


def _means(metric: str, own: Sequence[Estimate], colours: Colours, axes: Any) -> None:
    for row, each in enumerate(own):
        colour, interval = colours[each.setting], each.interval
        _interval(axes, interval, row, colour)
    _rows(axes, [each.setting for each in own], f"{name_of(metric)}:\nmean and its 95 % interval")


def _differences(metric: str, others: Sequence[Estimate], base: str, colours: Colours, axes: Any) -> None:
    axes.axvline(0, color="#555555", linewidth=0.8)
    for row, each in enumerate(others):
        assert each.difference is not None
        colour, interval = colours[each.setting], each.difference.interval
        _interval(axes, interval, row, colour)
    names = [each.setting for each in others]
    base_shown = textwrap.shorten(escaped(base), NAME_WIDTH, placeholder="…")
    _rows(axes, names, f"{name_of(metric)}: difference\nfrom {base_shown} and its 95 % interval")


def _interval(axes: Any, interval: Interval, row: int, colour: str) -> None:
    """Draw a mean as a point, and its interval as a line with caps, which are visible even if the interval is narrower
    than the point.
    """
    if np.isfinite(interval.width):
        sides = [[interval.mean - interval.low], [interval.high - interval.mean]]
        axes.errorbar([interval.mean], [row], xerr=sides, fmt="none", ecolor=colour, elinewidth=1.4, capsize=4.0, capthick=0.9)
    axes.plot(interval.mean, row, "o", color=colour, markersize=3)


# Curves with bands


def _curves(folder: Path, settings: Sequence[Setting], out: Path, colours: Colours, formats: Sequence[str]) -> list[Path]:
    repetitions = curves.read_repetitions(settings, out)
    size = (PAGE_IN, CURVES_IN)
    drawn: dict[str, tuple[list[curves.Band], Draw]] = {
        "waits": (curves.waits(repetitions), partial(_logarithmic, "wait at most", WAITS)),
        "slowdowns": (curves.slowdowns(repetitions), partial(_logarithmic, "bounded slowdown at most", SLOWDOWNS)),
        "queue": (curves.queues(repetitions), partial(_in_time, "queue length, jobs")),
        "utilisation-over-time": (curves.utilisations(repetitions), partial(_in_time, "utilisation, %")),
    }
    written: list[Path] = []
    for name, (bands, finish) in drawn.items():
        if bands:
            written += _save(folder, name, size, partial(_bands, bands, colours, finish), formats)
    return written


def _bands(bands: Sequence[curves.Band], colours: Colours, finish: Draw, axes: Any) -> None:
    for place, band in enumerate(bands):
        colour, thick = colours[band.setting], THIN * width(place, len(bands))
        axes.fill_between(band.x, band.low, band.high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(band.x, band.middle, color=colour, linewidth=thick, label=shown(band.setting))
    finish(axes)
    axes.set_ylim(bottom=0)
    title = "median, and 5 to 95 %\nof the repetitions"
    axes.figure.legend(loc="outside right upper", frameon=False, title=title, title_fontsize=7, alignment="left")


def _logarithmic(name: str, ticks: dict[float, str], axes: Any) -> None:
    axes.set_xscale("symlog", linthresh=1.0) if 0 in ticks else axes.set_xscale("log")
    low, high = axes.dataLim.intervalx
    least = min(place for place in ticks)
    inside = {place: text for place, text in ticks.items() if max(low, least) / 1.01 <= place <= high}
    every = -(-len(inside) // 8) or 1
    shown_ticks = dict(list(inside.items())[::every])
    axes.set_xticks(list(shown_ticks), list(shown_ticks.values()))
    axes.set_xticks([], minor=True)
    axes.set(xlabel=name, ylabel="jobs, %", xlim=(max(low, least), max(high, max(low, least) * 1.01 + 1e-9)), ylim=(0, 102))


def _in_time(name: str, axes: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MultipleLocator

    end_s = float(axes.dataLim.intervalx[1])
    second, unit = time_unit(end_s)
    step = next((each for each in (1, 2, 5, 10, 20, 50, 100, 200, 500) if end_s / second / each <= 8), 1000)
    axes.xaxis.set_major_locator(MultipleLocator(step * second))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda place, _: f"{place / second:g}"))
    axes.set(xlabel=f"virtual time, {unit}", ylabel=name, xlim=(0, end_s))
