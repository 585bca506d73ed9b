"""Draw the figures of a report as pictures for papers, with matplotlib, from the report's own numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix.report.comparison import Comparison, Rectangles
from simunix.report.drawing import counts_over_time, draw_shares, escaped, over_time, time_unit
from simunix.report.resource_figures import resource_figures

if TYPE_CHECKING:
    from simunix.report.run_data import Run

JOB_COLOURS = ("#4477aa", "#66aadd", "#88ccee", "#44aa99", "#117733", "#999933", "#ddcc77", "#ee9966", "#cc6677", "#aa4499")
WAITS = {0.0: "0", 1.0: "1 s", 10.0: "10 s", 60.0: "1 min", 600.0: "10 min", 3600.0: "1 h", 36e3: "10 h", 345.6e3: "4 d"}
CHANGES = {**{-place: f"−{text}" for place, text in list(WAITS.items())[:0:-1]}, **WAITS}
SLOWDOWNS = {factor * 10.0**power: f"{factor * 10**power:,}" for power in range(8) for factor in (1, 2, 5)}
WIDTH_IN = 8.0
LABELLED_MAX = 200
"""Charts with more rectangles than this show no job numbers."""
RASTER_FROM = 2000
"""In charts with more rectangles than this, the rectangles are drawn as pixels, also in vector formats."""


Drawn = Mapping[str, Callable[[Any], None]]
"""The figures by name: each is a function that draws into axes."""


def write_figures(folder: Path, comparison: Comparison, formats: Sequence[str], more: Drawn | None = None) -> list[Path]:
    """Write every figure of the report, and those in `more`, in every format; return the files. Raises SimunixError if
    a file cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimunixError(f"--figures {folder}: {error.strerror}; choose another folder") from error
    written: list[Path] = []
    figures = {} if all(run.jobs is None for run in comparison.runs) else {**_figures(comparison), **(more or {})}
    for name, draw in {**figures, **resource_figures(comparison, partial(_name_of, comparison))}.items():
        written += _save(folder, name, draw, formats)
    return written


def _name_of(comparison: Comparison, kind: str, number: int) -> str:
    """Return the name of a figure of one run; the run's number is added if two runs have one label."""
    labels = [file_name(run.label) for run in comparison.runs]
    ending = f"-{number + 1}" if labels.index(labels[number]) != number else ""
    return f"{kind}-{labels[number]}{ending}"


def _figures(comparison: Comparison) -> dict[str, Callable[[Any], None]]:
    """Return, by the figure's name, the function that draws it into axes."""
    labels = [run.label for run in comparison.runs]
    found: dict[str, Callable[[Any], None]] = {
        "utilisation": lambda axes: over_time(axes, comparison.utilisation(), labels, "utilisation, %"),
        "queue": lambda axes: counts_over_time(axes, comparison.queue(), labels, "queue length, jobs"),
        "waits": lambda axes: draw_shares(axes, comparison.waits(), labels, "wait at most", WAITS),
        "slowdowns": lambda axes: draw_shares(axes, comparison.slowdowns(), labels, "bounded slowdown at most", SLOWDOWNS),
    }
    changes = comparison.wait_changes()
    if changes is not None:
        longer = f"wait at most … longer than in {escaped(labels[0])}"
        found["wait-changes"] = lambda axes: draw_shares(axes, changes, labels, longer, CHANGES)
    for number, run in enumerate(comparison.runs):
        rectangles = comparison.rectangles(number, RASTER_FROM * 100)
        if rectangles is not None:
            found[_name_of(comparison, "gantt", number)] = _gantt_of(comparison, number, run, rectangles)
    return found


def file_name(label: str) -> str:
    """Return a label with the characters that a file name may have."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", label).strip("-.") or "run"


def _gantt_of(comparison: Comparison, number: int, run: Run, rectangles: Rectangles) -> Callable[[Any], None]:
    return lambda axes: _gantt(axes, comparison, number, run, rectangles)


def _save(folder: Path, name: str, draw: Callable[[Any], None], formats: Sequence[str]) -> list[Path]:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    files = [folder / f"{name}.{kind}" for kind in dict.fromkeys(formats)]
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure, axes = pyplot.subplots(figsize=(WIDTH_IN, 3.6), layout="constrained")
        try:
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
            draw(axes)
            for file in files:
                with whole_path(file) as draft:
                    figure.savefig(draft, dpi=130, metadata={"Date": None} if file.suffix == ".svg" else None)
        except OSError as error:
            raise SimunixError(f"--figures {unwritten(folder, error, 'choose another folder')}") from error
        finally:
            pyplot.close(figure)
    return files


def _label(axes: Any, comparison: Comparison, rectangles: Rectangles, left: np.ndarray, right: np.ndarray) -> None:
    """Write the job numbers into the rectangles that are large enough."""
    names = comparison.table["job_id"].to_numpy()[rectangles.job]
    wide, tall = comparison.end_s / time_unit(comparison.end_s)[0], rectangles.cores
    for name, begin, end, low, high in zip(names, left, right, rectangles.low, rectangles.high + 1, strict=True):
        if (end - begin) / wide > 0.012 * len(str(name)) and (high - low) / tall > 0.05:
            middle = ((begin + end) / 2, (low + high) / 2)
            axes.text(*middle, escaped(str(name)), ha="center", va="center", fontsize=7, clip_on=True)


def _gantt(axes: Any, comparison: Comparison, number: int, run: Run, rectangles: Rectangles) -> None:
    from matplotlib.collections import PolyCollection

    second, unit = time_unit(comparison.end_s)
    if rectangles.density is not None:
        extent = (0, comparison.end_s / second, rectangles.cores, 0)
        axes.imshow(rectangles.density, extent=extent, aspect="auto", cmap="Blues", vmin=0, vmax=1, interpolation="nearest")
    else:
        left = comparison.table[f"start.{number}"].to_numpy()[rectangles.job] / second
        right = comparison.table[f"finish.{number}"].to_numpy()[rectangles.job] / second
        x, y = np.stack([left, left, right, right], 1), np.stack([rectangles.low, rectangles.high + 1], 1)[:, [0, 1, 1, 0]]
        colours = np.array(JOB_COLOURS)[rectangles.job * 7 % len(JOB_COLOURS)]
        collection = PolyCollection(list(np.stack([x, y], 2)), facecolors=list(colours), edgecolors="white", linewidths=0.2)
        collection.set_rasterized(len(rectangles.job) > RASTER_FROM)
        axes.add_collection(collection)
        if len(rectangles.job) <= LABELLED_MAX:
            _label(axes, comparison, rectangles, left, right)
    axes.set(xlim=(0, comparison.end_s / second), ylim=(rectangles.cores, 0), xlabel=f"virtual time, {unit}")
    axes.set_title(escaped(run.label), fontsize=10)
    if run.machines is not None and run.machines.cores:
        hosts = list(run.machines.cores)
        shown = hosts[:: -(-len(hosts) // 16)]
        middles = [run.machines.first[host] + run.machines.cores[host] / 2 for host in shown]
        axes.set_yticks(middles, shown, fontsize=7)
    else:
        axes.set_ylabel("core")
