"""What has become of the runs, from their folders alone: a row for each."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from simunix.results.run_json import read_record, sha256_of
from simunix.sweep.child import last_words, run_folder
from simunix.sweep.runs import Run

if TYPE_CHECKING:
    from simunix.report.run_data import Run as RunData

FINISHED = ("done", "time limit")
"""What run.json says of a run that came to its end."""
DONE, FAILED, INTERRUPTED, MISSING = "done", "failed", "interrupted", "missing"
RESULTS, USERS = "results.csv", "users.csv"


def record_of(directory: Path, run: Run) -> dict[str, Any] | None:
    """The run's run.json; None if there is none, or one cut short by a crash."""
    try:
        return read_record(run_folder(directory, run) / "run.json")
    except (OSError, SimunixError):
        return None


def status_of(record: dict[str, Any] | None) -> str:
    """done, failed, interrupted or missing."""
    if record is None:
        return MISSING
    if record["failure"]:
        return FAILED
    return DONE if record["ended"] in FINISHED else INTERRUPTED


def is_kept(directory: Path, run: Run) -> bool:
    """Whether the run has come to its end, from inputs that are the same still: it need not be repeated."""
    record = record_of(directory, run)
    if record is None or status_of(record) != DONE or record["seed"] != run.seed:
        return False
    return all(sha256_of(Path(each["path"])) == each["sha256"] for each in record["inputs"].values())


def row_of(directory: Path, run: Run) -> dict[str, Any]:
    """Factors, repetition, seed, status, digest, and what simunix.metrics says of the jobs if there were any."""
    record = record_of(directory, run)
    row: dict[str, Any] = {"run": run.name, **dict(run.levels), "repetition": run.repetition, "seed": run.seed}
    row["status"] = status_of(record)
    if record is None:
        row["failure"] = last_words(directory, run)
    else:
        row |= {
            "digest": record["events_sha256"],
            "deterministic": record["deterministic"],
            "valid": record.get("valid", True),
            "virtual_s": record["virtual_s"],
            "wall_s": record["wall_s"],
            "failure": record["failure"] or "",
        }
        try:
            row |= metrics_of(run_folder(directory, run))
        except SimunixError as error:
            row["failure"] = row["failure"] or f"no metrics: {error}"
    return row


def metrics_of(folder: Path) -> dict[str, float]:
    """The summary of a run's schedule, without the jobs of a context, by the metrics' names.

    Raises SimunixError for no jobs.csv of ours, and for a run whose context was not established: it says nothing.
    """
    run = _with_jobs(folder)
    return {} if run is None else {str(name): float(value) for name, value in run.summary.items()}


def users_of(directory: Path, run: Run) -> list[dict[str, Any]]:
    """A row for each user of a run whose RJMS knew several: `simunix.metrics.fairness.user_table`."""
    from simunix.metrics.fairness import user_table

    try:
        found = _with_jobs(run_folder(directory, run))
    except SimunixError:
        return []  # the run's own row says so
    if found is None or found.counted is None:
        return []
    identity = {"run": run.name, **dict(run.levels), "repetition": run.repetition, "seed": run.seed}
    table = user_table(found.counted)
    rows = zip(*(table[name].tolist() for name in table), strict=True)
    return [{**identity, **dict(zip(map(str, table), row, strict=True))} for row in rows] if len(table) > 1 else []


def _with_jobs(folder: Path) -> RunData | None:
    """A run that has jobs; None for another."""
    if not (folder / "jobs.csv").exists():
        return None
    from simunix.metrics.jobs import why_invalid
    from simunix.report.run_data import read_run

    run = read_run(folder)
    if reason := why_invalid(run.record):
        raise SimunixError(f"INVALID, its context was not established: {reason}")
    return run if run.jobs is not None else None


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """One line a run, columns in the order of their first appearance; whoever reads sees the old file or the new one."""
    columns = list(dict.fromkeys(column for row in sorted(rows, key=len, reverse=True) for column in row))
    new = path.with_suffix(".new")
    with new.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows({name: _text(value) for name, value in row.items()} for row in rows)
    os.replace(new, path)


def _text(value: object) -> object:
    """Numbers in full, unknown ones as nothing."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.10g}"
    return value
