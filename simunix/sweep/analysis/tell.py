"""Print the table of an experiment on the terminal, and write the table and the pictures as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simunix.sweep.analysis.estimates import Estimate, estimates
from simunix.sweep.analysis.files import write_files
from simunix.sweep.analysis.options import METRICS, WIDTH, TellOptions
from simunix.sweep.analysis.settings import Setting, settings_of
from simunix.sweep.analysis.terminal import show
from simunix.sweep.analysis.texts import notes
from simunix.sweep.runs import Run


def tell(rows: Mapping[Run, Mapping[str, Any]], out: Path, options: TellOptions, perturbed: bool) -> None:
    """Print the table, write its files, and draw the pictures; `perturbed` says whether runs differ at random."""
    settings = settings_of(rows)
    found = estimates(settings, options.metrics or METRICS, options.width or WIDTH)
    if options.table:
        _show(found, options, perturbed)
        print("\n".join(f"  {path}" for path in write_files(out, found)))
    if options.figures is not None:
        _figures(options, settings, found, out)


def show_so_far(rows: Mapping[Run, Mapping[str, Any]], options: TellOptions, perturbed: bool) -> None:
    """Print the table of the finished runs without writing files, because the disk of the sweep is full."""
    if options.table:
        _show(estimates(settings_of(rows), options.metrics or METRICS, options.width or WIDTH), options, perturbed)


def _show(found: list[Estimate], options: TellOptions, perturbed: bool) -> None:
    show(found, options.width or WIDTH)
    for line in notes(found, perturbed):
        print(f"{line}.")


def _figures(options: TellOptions, settings: Sequence[Setting], found: Sequence[Estimate], out: Path) -> None:
    from simunix.sweep.analysis.figures import write_figures  # imports matplotlib, which takes long

    assert options.figures is not None
    written = write_figures(options.figures, settings, found, out, options.formats)
    print(f"  {options.figures}  {len(written)} pictures")
