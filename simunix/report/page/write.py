"""Write the page of a comparison of runs: numbers as HTML; curves, charts and jobs as compressed data for the page's
script.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix import __version__
from simunix.report.comparison import PER_RUN, Comparison, Curves, Rectangles
from simunix.report.differences import differences
from simunix.report.page.rows import USERS_MAX, event_rows, has_energy, request_rows, summary_rows, user_rows
from simunix.report.power import bands, power
from simunix.report.run_data import Run
from simunix.units import human_time

HERE = Path(__file__).parent
RECTANGLES_MAX = 200_000
"""Most rectangles of a Gantt chart; the smallest ones of a larger chart are left out, and the page says so."""
DIGITS = 3
NO_STORAGE = "no storage did anything"
MEGA = 1e6
LINKS_MAX = 8
"""The most links in a chart; those that carried the most bytes are shown."""


@dataclass(frozen=True, slots=True)
class Addition:
    """The part of a page in front of the report's own sections: `template` extends report.html; `data` has curves for
    report.js.
    """

    template: str
    context: Mapping[str, Any]
    data: Mapping[str, Curves]


PLAIN = Addition("report.html", {}, {})


def write_page(target: Path, comparison: Comparison, title: str, addition: Addition = PLAIN) -> int:
    """Write the page; return its size in bytes. Raises SimunixError if the file cannot be written."""
    text = render(comparison, title, addition)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_path(target) as draft:
            return draft.write_bytes(text.encode(errors="replace"))
    except OSError as error:
        raise SimunixError(unwritten(target, error, "choose another file with -o")) from error


def render(comparison: Comparison, title: str, addition: Addition = PLAIN) -> str:
    """Return the HTML of the page that compares runs."""
    from jinja2 import Environment, FileSystemLoader
    from markupsafe import Markup

    runs = comparison.runs
    rectangles = [comparison.rectangles(number, RECTANGLES_MAX) for number in range(len(runs))]
    utilisation, queue = comparison.utilisation(), comparison.queue()
    differing, agreeing = differences(runs)
    template = Environment(loader=FileSystemLoader(HERE), autoescape=True, trim_blocks=False).get_template(addition.template)
    watts = power(runs, comparison.end_s)
    data = payload(comparison, rectangles, utilisation, queue) | _power(watts, comparison) | _resources(runs)
    data |= {name: _curves(one) for name, one in addition.data.items()}
    return template.render(
        **addition.context,
        **_there(comparison),
        title=title,
        subtitle=f"{len(runs)} run{'s' if len(runs) != 1 else ''}",
        version=__version__,
        runs=[_run_notes(run, one) for run, one in zip(runs, rectangles, strict=True)],
        no_storage=NO_STORAGE,
        notes=[{"label": run.label, "text": note} for run in runs for note in run.notes],
        summary=summary_rows(comparison),
        users=user_rows(comparison),
        user_columns=["jobs", "wait", "bounded slowdown", *(["energy"] if has_energy(comparison) else [])],
        users_left_out=max(0, len(comparison.users) - USERS_MAX),
        differences=differing,
        agreeing=agreeing,
        has_power=watts is not None,
        power_bin=human_time(watts[0].bin_s) if watts and watts[0].bin_s else None,
        bin=human_time(utilisation.bin_s) if utilisation.bin_s else None,
        requests=request_rows(runs),
        events=event_rows(runs),
        data=_packed(data),
        css=Markup((HERE / "report.css").read_text()),
        js=Markup((HERE / "report.js").read_text()),
        vendor_css=Markup(_vendor("uPlot.min.css", "tabulator_simple.min.css")),
        vendor_js=Markup(_vendor("uPlot.iife.min.js", "tabulator.min.js")),
    )


def _there(comparison: Comparison) -> dict[str, bool]:
    """Return, by name, whether the page has each of its sections, except for power."""
    return {
        "has_jobs": any(run.jobs is not None for run in comparison.runs),
        "has_storages": any(run.storages is not None for run in comparison.runs),
        "has_links": any(run.links is not None for run in comparison.runs),
        "has_gpus": comparison.gpus() is not None,
        "has_changes": comparison.wait_changes() is not None,
    }


def _resources(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the data for the charts of storages and links, for each run."""
    return {"storages": [_storages(run) for run in runs], "links": [_links(run) for run in runs]}


def _power(watts: tuple[Curves, Curves] | None, comparison: Comparison) -> dict[str, Any]:
    """Return the data for the figures of power; empty if no run has watts."""
    if watts is None:
        return {}
    shown = [bands(run, comparison.end_s) for run in comparison.runs]
    found: dict[str, Any] = {"power": _curves(watts[0]), "caps": _curves(watts[1])}
    return found | {"bands": [_curves(each) if each is not None else None for each in shown]}


def _vendor(*names: str) -> str:
    return "\n".join((HERE / "vendor" / name).read_text() for name in names)


def _run_notes(run: Run, rectangles: Rectangles | None) -> dict[str, str]:
    notes = {"gantt_note": _gantt_note(run, rectangles), "storage_note": _storage_note(run), "link_note": _link_note(run)}
    return {"label": run.label, **notes}


def _link_note(run: Run) -> str:
    if run.links is None:
        return "not recorded; simunix run --link-usage"
    shown, total = min(LINKS_MAX, len(run.links.links)), len(run.links.links)
    return f"the {shown} that carried most, of {total:,}" if shown < total else "all that carried anything"


def _gantt_note(run: Run, rectangles: Rectangles | None) -> str:
    if run.jobs is None:
        return "no jobs"
    if rectangles is None:
        return "it is not known which job ran where"
    left_out = rectangles.total - len(rectangles.job)
    if rectangles.density is None:
        return ""
    text = "the darker, the more of the cores are busy; zoom in to see single jobs"
    return f"{text} (the {len(rectangles.job):,} largest of {rectangles.total:,} rectangles)" if left_out else text


def _storage_note(run: Run) -> str:
    if run.storages is None:
        return NO_STORAGE
    left_out = run.storages.total - len(run.storages.used)
    return f"the {len(run.storages.used)} that moved most bytes, of {run.storages.total}" if left_out else ""


# Data for the page's script


def payload(
    comparison: Comparison, rectangles: Sequence[Rectangles | None], utilisation: Curves, queue: Curves
) -> dict[str, Any]:
    """Return the data that report.js draws; if no run has jobs, only the labels of the runs."""
    runs, table = comparison.runs, comparison.table
    if table.empty:
        return {"runs": [{"label": run.label} for run in runs]}
    sides = [[f"{name}.{number}" for name in PER_RUN] for number in range(len(runs))]
    states = sorted({state for side in sides if side[-1] in table for state in table[side[-1]].dropna().unique()})
    workloads, names = pd.factorize(table["workload_name"])
    return {
        "end": comparison.end_s,
        "runs": [{"label": run.label, "gantt": _gantt(run, one)} for run, one in zip(runs, rectangles, strict=True)],
        "utilisation": _curves(utilisation),
        "queue": _curves(queue),
        "gpus": _curves(gpus) if (gpus := comparison.gpus()) is not None else None,
        "waits": _curves(comparison.waits()),
        "slowdowns": _curves(comparison.slowdowns()),
        "changes": _curves(changes) if (changes := comparison.wait_changes()) is not None else None,
        "states": states,
        "workloads": list(names),
        "table": {
            "job": table["job_id"].tolist(),
            "workload": workloads.tolist(),
            "cores": numbers(table["cores"]),
            "runs": [_side(table, side, states) if side[0] in table else None for side in sides],
            "changes": [numbers(one) if one is not None else None for one in comparison.wait_differences()],
        },
    }


def _side(table: pd.DataFrame, names: Sequence[str], states: Sequence[str]) -> dict[str, list[float | None]]:
    codes = {state: code for code, state in enumerate(states)}
    known = [name for name in names[:-1] if not name.startswith("energy.") or table[name].notna().any()]
    values = {name.partition(".")[0]: numbers(table[name]) for name in known}
    return {**values, "state": numbers(table[names[-1]].map(codes).astype(float))}


def _gantt(run: Run, rectangles: Rectangles | None) -> dict[str, Any] | None:
    if rectangles is None:
        return None
    found: dict[str, Any] = {"cores": rectangles.cores, "job": rectangles.job.tolist()}
    found |= {"low": rectangles.low.tolist(), "high": rectangles.high.tolist(), "hosts": None, "density": None}
    if rectangles.density is not None:
        height, width = rectangles.density.shape
        shares = np.round(np.clip(rectangles.density, 0, 1) * 255).astype(np.uint8).tobytes()
        found["density"] = {"width": width, "height": height, "shares": base64.b64encode(shares).decode()}
    if run.machines is not None and run.machines.cores:
        found |= {"hosts": list(run.machines.cores), "first": list(run.machines.first.values())}
    return found


def _storages(run: Run) -> dict[str, Any] | None:
    """Return the curves of a run's storages; None if there are none."""
    if run.storages is None:
        return None
    used = run.storages.used
    return {
        "names": list(used),
        "x": numbers(run.storages.moments),
        "y": [numbers(one) for one in used.values()],
        "read": [numbers(one / MEGA) for one in run.storages.read.values()],
        "written": [numbers(one / MEGA) for one in run.storages.written.values()],
    }


def _links(run: Run) -> dict[str, Any] | None:
    """Return the curves of a run's busiest links, in per cent of their bandwidth; None without links.csv."""
    if run.links is None:
        return None
    names = run.links.chosen([], LINKS_MAX)
    moments, curves = run.links.curves(names)
    return {"names": names, "x": numbers(moments), "y": [numbers(one) for one in curves], "total": len(run.links.links)}


def _curves(curves: Curves) -> dict[str, Any]:
    return {"x": numbers(curves.x), "y": [numbers(one) for one in curves.y]}


def numbers(values: Any) -> list[float | None]:
    """Return values for JSON: rounded, whole numbers as integers, None for NaN."""
    rounded = np.round(np.asarray(values, dtype=float), DIGITS).tolist()
    return [None if value != value else int(value) if value.is_integer() else value for value in rounded]


def _packed(data: dict[str, Any]) -> str:
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()
