"""The table and the pictures of an experiment: on the terminal, and as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError
from simunix.sweep.analysis.estimates import Estimate, estimates
from simunix.sweep.analysis.files import write_files
from simunix.sweep.analysis.options import METRICS, WIDTH, TellOptions
from simunix.sweep.analysis.settings import Setting, settings_of
from simunix.sweep.analysis.terminal import show
from simunix.sweep.analysis.texts import notes
from simunix.sweep.runs import Run
from simunix.sweep.table import NO_METRICS


def tell(rows: Mapping[Run, Mapping[str, Any]], out: Path, options: TellOptions, perturbed: bool) -> None:
    """Print the table, write its files, draw the pictures. Raises SimunixError for a metric that no run has."""
    settings = settings_of(rows)
    metrics = options.metrics or METRICS
    check_metrics(metrics, rows)
    width = options.width or WIDTH
    found = estimates(settings, metrics, width)
    if options.table:
        _table(found, out, width, perturbed)
    if options.figures is not None:
        _figures(options, settings, found, out)


def check_metrics(metrics: Sequence[str], rows: Mapping[Run, Mapping[str, Any]]) -> None:
    """Raise SimunixError for a metric that is no number of results.csv, where any run has finished with jobs."""
    levels = {factor for run in rows for factor, _ in run.levels}
    known = sorted({name for row in rows.values() for name, value in row.items() if isinstance(value, float)} - levels)
    has_jobs = "jobs" in known
    for metric in metrics:
        if metric in NO_METRICS or (has_jobs and metric not in known):
            raise SimunixError(f"--metric {metric}: results.csv has no such number; known: {', '.join(known)}")


def _table(found: list[Estimate], out: Path, width: float, perturbed: bool) -> None:
    show(found, width)
    for line in notes(found, perturbed):
        print(f"{line}.")
    print("\n".join(f"  {path}" for path in write_files(out, found)))


def _figures(options: TellOptions, settings: Sequence[Setting], found: Sequence[Estimate], out: Path) -> None:
    from simunix.sweep.analysis.figures import write_figures  # brings matplotlib

    assert options.figures is not None
    written = write_figures(options.figures, settings, found, out, options.formats)
    print(f"  {options.figures}  {len(written)} pictures")
