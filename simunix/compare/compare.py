"""A whole comparison: the variants run, the runs read, and what changed told on the terminal, on a page and in tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.compare.against import site_jobs, validation
from simunix.compare.figures import figures
from simunix.compare.files import write_tables
from simunix.compare.page import addition
from simunix.compare.study import Study, changes_of, with_common_names
from simunix.compare.terminal import show
from simunix.compare.variants import Variant, runs_of, variants_of
from simunix.report.comparison import Comparison
from simunix.report.page.write import write_page
from simunix.report.run_data import Run as RunData
from simunix.report.run_data import read_run
from simunix.report.static_figures import write_figures
from simunix.sweep.child import run_folder
from simunix.sweep.runs import check
from simunix.sweep.sweep import FAILED, INTERRUPTED, Outcome, carry_out, claimed

MARK = ".simunix-compare"
PAGE = "compare.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """The options of the command line."""

    paths: Sequence[Path]
    sets: Sequence[Sequence[str]] = ()
    everywhere: Sequence[str] = ()
    against: Path | None = None
    out: Path | None = None
    page: Path | None = None
    figures: Path | None = None
    formats: Sequence[str] = ("png", "svg")
    seed: int | None = None
    workers: int | None = None
    scheduler: str | None = None
    most: int = 5
    window: str = "whole"


def compare(options: CompareOptions) -> int:
    """Do the runs that are missing, and tell what changed; return 0 if all runs have come to their ends."""
    variants = variants_of(options.paths, options.sets, options.everywhere)
    if len(variants) < 2 and options.against is None:
        raise SimunixError(
            f"{options.paths[0]}: nothing to compare it with; add --set KEY=VALUE, another scenario, or --against the site's "
            "accounting"
        )
    runs = runs_of(variants, options.seed)
    check(list(runs.values()))
    if options.against is not None and not options.against.exists():
        raise SimunixError(f"--against {options.against}: no such file; give what the site's accounting printed")
    if options.against is not None:
        site_jobs(options.against)  # what is wrong with it is said before the runs
    out = options.out or Path("out") / f"compare-{options.paths[0].resolve().stem}"
    with claimed(out, resume=True, mark=MARK, what="comparison"):
        folders = {one.label: one.path for one in variants if one.is_run}
        outcome = None
        if runs:
            outcome = carry_out(out.resolve(), list(runs.values()), True, options.workers, options.scheduler)
            folders |= {label: run_folder(out, run) for label, run in runs.items()}
        return _told(variants, folders, options, out, outcome)


def _told(
    variants: Sequence[Variant], folders: dict[str, Path], options: CompareOptions, out: Path, outcome: Outcome | None
) -> int:
    """Tell what changed between the runs that there are; return the exit code."""
    if outcome is not None and outcome.interrupted:
        print(f"simunix: interrupted; the same command goes on where it was, in {out}", file=sys.stderr)
        return INTERRUPTED
    data = [read_run(folders[one.label], one.label, options.window) for one in variants if _is_there(folders[one.label])]
    base = variants[0].label
    if not data or data[0].label != base:
        raise SimunixError(f"{base}: the run has failed, so there is nothing to compare with; see {folders[base]}.log")
    data = with_common_names(data)
    study = _study(data, options)
    comparison = Comparison(data)
    show(study, comparison, options.most)
    _write(study, comparison, options, out, folders)
    if outcome is not None:
        print(outcome.text)
    return 0 if outcome is None or outcome.is_whole else FAILED


def _is_there(folder: Path) -> bool:
    return (folder / "run.json").exists() or (folder / "jobs.csv").exists()


def _study(data: list[RunData], options: CompareOptions) -> Study:
    study = Study(data, changes_of(data))
    return study if options.against is None else replace(study, validation=validation(options.against, data))


def _write(study: Study, comparison: Comparison, options: CompareOptions, out: Path, folders: dict[str, Path]) -> None:
    """Write page, tables and pictures; print where everything is."""
    page = options.page or out / PAGE
    labels = [run.label for run in study.runs]
    others, base = labels[1:], labels[0]
    if study.validation is not None and not others:
        others, base = labels, study.validation.source
    title = f"{', '.join(others)} against {base}"
    write_page(page, comparison, title, addition(study))
    tables = write_tables(out, study)
    print("\nWhere to look next:")
    print(f"  {page}")
    for path in tables:
        print(f"  {path}")
    if options.figures is not None:
        pictures = write_figures(options.figures, comparison, options.formats, figures(study))
        print(f"  {options.figures}  {len(pictures)} pictures")
    for label in labels:
        print(f"  {folders[label]}  the run {label}")
    if len(labels) > 1:
        print(f"Why two event logs differ: simunix report --why {folders[labels[0]]} {folders[labels[1]]}")
