"""Draw a trace of jobs: sizes, run times, arrivals by hour and over time, load over time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix.metrics.jobs import from_swf
from simunix.metrics.series import busy_processors, mean_over_bins
from simunix.workload.formats.swf import SwfTrace
from simunix.workload.transforms.sample import size_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "axes.xmargin": 0.01,
    "font.size": 9,
    "svg.hashsalt": "simunix",
}
UNITS = ((2 * 86400, 86400.0, "days"), (2 * 3600, 3600.0, "hours"), (120, 60.0, "minutes"), (0, 1.0, "seconds"))
"""The units of time: the shortest span that uses the unit, the unit's seconds, its name."""
JOBS, WORK, LIMITS, QUIET = "#2a6f97", "#e07a2f", "#8a8a8a", "#d9d9d9"
INTERVALS_S = (1, 10, 60, 300, 900, 3600, 6 * 3600, 86400, 7 * 86400, 28 * 86400)
MOST_INTERVALS = 200
TIME_TICKS = (
    (1, "1 s"),
    (10, "10 s"),
    (60, "1 min"),
    (600, "10 min"),
    (3600, "1 h"),
    (6 * 3600, "6 h"),
    (86400, "1 d"),
    (604800, "7 d"),
)
INTERVAL_NAMES = {
    1: "second",
    10: "10 seconds",
    60: "minute",
    300: "5 minutes",
    900: "15 minutes",
    3600: "hour",
    21600: "6 hours",
    86400: "day",
    604800: "week",
    2419200: "4 weeks",
}


def plot(trace: SwfTrace, name: str, target: Path) -> None:
    """Draw a trace into a file; the format follows from the file's name (.png, .svg, .pdf). Raises SimunixError."""
    if not (trace.jobs["submit_s"] >= 0).any():
        raise SimunixError(f"{name}: the trace has no job of known submission to draw")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with matplotlib.rc_context(STYLE):
        figure = pyplot.figure(figsize=(11, 9), layout="constrained")
        try:
            _panels(figure, trace, name)
            with whole_path(target) as draft:
                figure.savefig(draft, dpi=120, metadata={"Date": None} if target.suffix == ".svg" else None)
        except OSError as error:
            raise SimunixError(unwritten(target, error, "choose a name ending in .png or .svg with -o")) from error
        except ValueError as error:
            raise SimunixError(f"{target}: {error}; choose a name ending in .png or .svg with -o") from error
        finally:
            pyplot.close(figure)


def _panels(figure: Figure, trace: SwfTrace, name: str) -> None:
    from matplotlib.ticker import MaxNLocator

    grid = figure.add_gridspec(3, 3)
    top: tuple[Callable[[Axes, SwfTrace], None], ...] = (_sizes, _runtimes, _hours)
    for column, draw in enumerate(top):
        draw(figure.add_subplot(grid[0, column]), trace)
    arrivals = figure.add_subplot(grid[1, :])
    _arrivals(arrivals, trace)
    load = figure.add_subplot(grid[2, :], sharex=arrivals)
    _load(load, trace)
    _label_time(load, trace)
    for axes in (arrivals, load):
        axes.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter("{x:,.0f}")
    arrivals.tick_params(labelbottom=False)
    figure.suptitle(_title(trace, name), x=0.01, ha="left", fontsize=12)


def _title(trace: SwfTrace, name: str) -> str:
    seconds = float(trace.jobs["submit_s"].max() - trace.jobs["submit_s"].min())
    unit, unit_name = next((unit, name) for least, unit, name in UNITS if seconds >= least)
    span = f"in {seconds / unit:,.1f} {unit_name}" if seconds > 0 else "at once"
    computer = trace.header.get("Computer", "").removesuffix(".")
    where = f" · {computer}" if computer and computer.lower() != "unknown" else ""
    return f"{name}{where} · {len(trace.jobs):,} jobs {span} on {_processors(trace):,} processors"


def _processors(trace: SwfTrace) -> int:
    known = trace.number("MaxProcs") or trace.number("MaxNodes")
    return int(known or max(size_of(trace.jobs).max(), 1))


def _sizes(axes: Axes, trace: SwfTrace) -> None:
    """Draw the shares of the jobs and of their work by size, in powers of two."""
    size = size_of(trace.jobs)
    jobs = trace.jobs[size > 0].assign(size=size[size > 0])
    axes.set_title("sizes")
    if jobs.empty:
        _say(axes, "no sizes known")
        return
    power = np.ceil(np.log2(jobs["size"])).astype(int)
    work = (jobs["size"] * jobs["runtime_s"].clip(lower=0)).groupby(power).sum()
    count = power.value_counts().reindex(range(power.min(), power.max() + 1), fill_value=0)
    work = work.reindex(count.index, fill_value=0.0)
    places = np.arange(len(count))
    axes.bar(places - 0.2, 100 * count / count.sum(), 0.4, color=JOBS, label="of the jobs")
    if work.sum() > 0:
        axes.bar(places + 0.2, 100 * work / work.sum(), 0.4, color=WORK, label="of the work")
    step = max(1, len(places) // 9 + (len(places) > 9))
    axes.set_xticks(places[::step], [_power_name(one) for one in count.index[::step]])
    axes.set(xlabel="processors (up to the power of 2)", ylabel="%", ylim=(0, axes.get_ylim()[1] * 1.12))
    axes.legend(frameon=False, ncols=2, loc="upper center", borderaxespad=0)
    axes.grid(axis="y", color=QUIET)


def _power_name(power: int) -> str:
    return f"{2**power}" if power < 10 else f"{2 ** (power - 10)}K"


def _runtimes(axes: Axes, trace: SwfTrace) -> None:
    """Draw the distributions of run times and of requested times."""
    axes.set_title("run times")
    runtime, requested = trace.jobs["runtime_s"], trace.jobs["requested_s"]
    known = [("run time", runtime[runtime >= 0], JOBS, "-"), ("requested", requested[requested > 0], LIMITS, "--")]
    longest = max((float(values.max()) for _, values, _, _ in known if len(values)), default=0.0)
    if longest <= 0:
        _say(axes, "no run times known")
        return
    for label, values, colour, line in known:
        if len(values):
            ordered = np.sort(values.clip(lower=1.0).to_numpy())
            shares = np.arange(1, len(ordered) + 1) / len(ordered) * 100
            kept = np.unique(np.linspace(0, len(ordered) - 1, 2000).astype(int))  # as many points as a picture can show
            axes.step(ordered[kept], shares[kept], where="post", color=colour, linestyle=line, label=label)
    axes.set_xscale("log")
    ticks = [(seconds, text) for seconds, text in TIME_TICKS if seconds <= longest * 1.2]
    axes.set_xticks([seconds for seconds, _ in ticks], [text for _, text in ticks], rotation=30)
    axes.minorticks_off()
    axes.set(ylabel="% of the jobs are shorter", ylim=(0, 100), xlim=(1, max(longest * 1.2, 2)))
    axes.legend(frameon=False, loc="upper left")
    axes.grid(color=QUIET)


def _hours(axes: Axes, trace: SwfTrace) -> None:
    """Draw the number of submissions in each hour of the day. If the header gives the date, working days and week-ends
    are apart.
    """
    submit = trace.jobs["submit_s"][trace.jobs["submit_s"] >= 0]
    begin, zone, zone_name = _begin(trace)
    axes.set_title("submissions by the hour of the day")
    if begin is None:
        counts = np.bincount((submit // 3600 % 24).astype(int), minlength=24)
        axes.bar(np.arange(24), 100 * counts / counts.sum(), 0.8, color=JOBS)
        axes.set(xlabel="hour of 24 since the trace's beginning")
    else:
        moments = pd.to_datetime(submit + begin.timestamp(), unit="s", utc=True).dt.tz_convert(zone)
        free = moments.dt.day_of_week >= 5
        counts = np.bincount(moments[~free].dt.hour, minlength=24)
        ends = np.bincount(moments[free].dt.hour, minlength=24)
        axes.bar(np.arange(24), 100 * counts / len(submit), 0.8, color=JOBS, label="Monday to Friday")
        if ends.any():
            axes.bar(np.arange(24), 100 * ends / len(submit), 0.8, counts * 100 / len(submit), color=WORK, label="week-end")
        axes.set(xlabel=f"hour ({zone_name})")
        axes.legend(frameon=False, ncols=2, loc="upper center", borderaxespad=0)
    axes.set(ylabel="% of the jobs", xlim=(-0.7, 23.7), ylim=(0, axes.get_ylim()[1] * 1.12))
    axes.set_xticks(range(0, 24, 3))
    axes.grid(axis="y", color=QUIET)


def _begin(trace: SwfTrace) -> tuple[datetime | None, tzinfo, str]:
    start = trace.number("UnixStartTime")
    try:
        zone: tzinfo = ZoneInfo(trace.header["TimeZoneString"])
        name = trace.header["TimeZoneString"]
    except (KeyError, ValueError, ZoneInfoNotFoundError, OSError):
        zone, name = UTC, "UTC"
    try:
        return (datetime.fromtimestamp(start, zone) if start else None), zone, name
    except (OverflowError, ValueError, OSError):
        return None, zone, name


def _arrivals(axes: Axes, trace: SwfTrace) -> None:
    submit = trace.jobs["submit_s"][trace.jobs["submit_s"] >= 0]
    interval = _interval(trace)
    counts = np.bincount((submit // interval).astype(int))
    axes.stairs(counts, _moments(trace, np.arange(len(counts) + 1) * interval), fill=True, color=JOBS)
    axes.autoscale(axis="x", tight=True)
    axes.set_title(f"submissions per {INTERVAL_NAMES[interval]}")
    axes.set(ylabel="jobs", ylim=(0, None))
    axes.grid(color=QUIET)


def _load(axes: Axes, trace: SwfTrace) -> None:
    """Draw the number of processors in use. If waits are unknown, draw the number in use if every job had begun at its
    submission.
    """
    is_known = bool((trace.jobs["wait_s"] >= 0).any())
    jobs = from_swf(trace if is_known else SwfTrace(trace.comments, trace.jobs.assign(wait_s=0.0)))
    axes.set_title(
        "processors in use" if is_known else "processors asked for (no waits known: each job as if it began at once)"
    )
    busy = busy_processors(jobs)
    if busy.empty:
        _say(axes, "no run times or sizes known")
        return
    interval = _interval(trace)
    edges = np.arange(0, float(busy.index[-1]) + interval, interval)
    means = mean_over_bins(busy, edges)
    processors = _processors(trace)
    axes.stairs(means, _moments(trace, edges), fill=True, color=JOBS if is_known else LIMITS, alpha=0.9)
    axes.autoscale(axis="x", tight=True)
    axes.axhline(processors, color=WORK, linewidth=1)
    axes.annotate(
        f"all {processors:,}",
        (1, processors),
        (0, 3),
        ("axes fraction", "data"),
        "offset points",
        color=WORK,
        ha="right",
        weight="bold",
    )
    axes.set(ylabel=f"mean per {INTERVAL_NAMES[interval]}", ylim=(0, 1.15 * max(processors, float(means.max()))))
    axes.grid(color=QUIET)


def _label_time(axes: Axes, trace: SwfTrace) -> None:
    """Label the axis with short dates, or with the unit of time."""
    begin, _, zone_name = _begin(trace)
    if begin is None:
        axes.set_xlabel(f"time of the trace, {_unit(trace)[1]}")
        return
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    axes.set_xlabel(f"date ({zone_name})")


def _unit(trace: SwfTrace) -> tuple[float, str]:
    span = trace.jobs["submit_s"].max() + max(trace.jobs["runtime_s"].max(), 0)
    return next((seconds, name) for least, seconds, name in UNITS if span >= least)


def _interval(trace: SwfTrace) -> int:
    span = float(trace.jobs["submit_s"].max())
    return next((interval for interval in INTERVALS_S if span / interval <= MOST_INTERVALS), INTERVALS_S[-1])


def _moments(trace: SwfTrace, seconds: np.ndarray) -> np.ndarray:
    """Return the values for the time axis: dates, or times since the beginning of the trace in the unit of its span."""
    begin, zone, _ = _begin(trace)
    if begin is None:
        return seconds / _unit(trace)[0]
    from matplotlib.dates import date2num

    local = begin.astimezone(zone).replace(tzinfo=None)
    return np.asarray(date2num([local + timedelta(seconds=float(second)) for second in seconds]))  # type: ignore[no-untyped-call]


def _say(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color=LIMITS)
