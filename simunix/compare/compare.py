"""Makes a whole comparison: runs the variants, reads the runs, and shows what changed on the terminal, on a page and in
tables.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rsg_server.errors import SimunixError
from simunix.compare.against import site_jobs, validation
from simunix.compare.conclusion import conclude_change
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
    """The options of `simunix compare`."""

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
    repetitions: int = 1


def compare(options: CompareOptions) -> int:
    """Make the runs that are missing, and show what changed; return 0 if all runs have come to their ends."""
    variants = variants_of(options.paths, options.sets, options.everywhere)
    if len(variants) < 2 and options.against is None:
        raise SimunixError(
            f"{options.paths[0]}: nothing to compare it with; add --set KEY=VALUE, another scenario, or --against the site's "
            "accounting"
        )
    if options.repetitions > 1 and variants[0].is_run:
        raise SimunixError(
            f"--repetitions: {options.paths[0]} is a finished run, which cannot get another seed; give its scenario"
        )
    runs = runs_of(variants, options.seed, options.repetitions)
    check([run for own in runs.values() for run in own])
    if options.against is not None and not options.against.exists():
        raise SimunixError(f"--against {options.against}: no such file; give what the site's accounting printed")
    if options.against is not None:
        site_jobs(options.against)  # a mistake in the accounting is reported before the runs
    out = options.out or Path("out") / f"compare-{options.paths[0].resolve().stem}"
    with claimed(out, resume=True, mark=MARK, what="comparison"):
        folders = {one.label: {0: one.path} for one in variants if one.is_run}
        outcome = None
        if runs:
            every = [run for own in zip(*runs.values(), strict=True) for run in own]
            outcome = carry_out(out.resolve(), every, True, options.workers, options.scheduler)
            folders |= {label: {run.seed: run_folder(out, run) for run in own} for label, own in runs.items()}
        return _told(variants, folders, options, out, outcome)


def _told(
    variants: Sequence[Variant],
    folders: dict[str, dict[int, Path]],
    options: CompareOptions,
    out: Path,
    outcome: Outcome | None,
) -> int:
    """Show what changed between the runs that exist; return the exit code."""
    if outcome is not None and outcome.interrupted:
        print(f"simunix: interrupted; the same command goes on where it was, in {out}", file=sys.stderr)
        return INTERRUPTED
    repeated = _read(variants, folders, options)
    base = variants[0].label
    if base not in repeated:
        failed = next(iter(folders[base].values()))
        raise SimunixError(f"{base}: the run has failed, so there is nothing to compare with; see {failed}.log")
    data = [next(iter(own.values())) for own in repeated.values()]
    study = _study(data, repeated, options)
    comparison = Comparison(data)
    show(study, comparison, options.most)
    _write(study, comparison, options, out, {label: next(iter(own.values())) for label, own in folders.items()})
    if outcome is not None:
        print(outcome.text)
    for conclusion in study.conclusions:
        print(f"\n{conclusion.text}")
    return 0 if outcome is None or outcome.is_whole else FAILED


def _read(
    variants: Sequence[Variant], folders: dict[str, dict[int, Path]], options: CompareOptions
) -> dict[str, dict[int, RunData]]:
    """Return the existing runs by label and seed. In all of them, jobs have the workload's name of the base's first run."""
    places = [(one.label, seed, folder) for one in variants for seed, folder in folders[one.label].items()]
    places = [place for place in places if _is_there(place[2])]
    data = with_common_names([read_run(folder, label, options.window) for label, _, folder in places])
    found: dict[str, dict[int, RunData]] = {}
    for (label, seed, _), run in zip(places, data, strict=True):
        found.setdefault(label, {})[seed] = run
    return found


def _is_there(folder: Path) -> bool:
    return (folder / "run.json").exists() or (folder / "jobs.csv").exists()


def _study(data: list[RunData], repeated: dict[str, dict[int, RunData]], options: CompareOptions) -> Study:
    changes = changes_of(data, repeated)
    found = None if options.against is None else validation(options.against, data)
    return Study(data, changes, found, [conclude_change(one, one.repetitions, found) for one in changes])


def _write(study: Study, comparison: Comparison, options: CompareOptions, out: Path, folders: dict[str, Path]) -> None:
    """Write the page, the tables and the pictures of the comparison; print where they are."""
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
