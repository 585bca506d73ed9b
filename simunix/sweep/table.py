"""Read the results of a sweep's runs from their folders: a row for each run."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError
from rsg_server.whole_files import whole_file
from simunix.metrics.catalog import BY_NAME
from simunix.results.run_json import read_record, sha256_of
from simunix.sweep.child import last_words, run_folder
from simunix.sweep.runs import Run

if TYPE_CHECKING:
    from simunix.report.run_data import Run as RunData

FINISHED = ("done", "time limit")
"""The values of `ended` in run.json that mean a regular end of the run."""
DONE, FAILED, INTERRUPTED, MISSING = "done", "failed", "interrupted", "missing"
OF_RUNS = ("virtual_s", "wall_s")
"""The numeric columns of results.csv about a run itself, besides the metrics of its jobs."""
RESULTS, USERS = "results.csv", "users.csv"


def check_metrics(metrics: Sequence[str]) -> None:
    """Raise SimunixError for a name that is no numeric column of results.csv."""
    known = (*BY_NAME, *OF_RUNS)
    for metric in metrics:
        if metric not in known:
            raise SimunixError(f"--metric {metric}: results.csv has no such number; known: {', '.join(known)}")


def record_of(directory: Path, run: Run) -> dict[str, Any] | None:
    """Return the content of a run's run.json; None if the file does not exist, or is incomplete after a crash."""
    try:
        return read_record(run_folder(directory, run) / "run.json")
    except (OSError, SimunixError):
        return None


def status_of(record: dict[str, Any] | None) -> str:
    """Return the status of a run by its run.json: done, failed, interrupted or missing."""
    if record is None:
        return MISSING
    if record["failure"] or record.get("failed_processes"):
        return FAILED
    return DONE if record["ended"] in FINISHED else INTERRUPTED


def is_kept(directory: Path, run: Run) -> bool:
    """Return whether a run has ended regularly and its inputs have not changed since, so that it need not be executed
    again.
    """
    record = record_of(directory, run)
    if record is None or status_of(record) != DONE or record["seed"] != run.seed:
        return False
    if (scenario := record["inputs"].get("scenario")) is None or scenario["path"] != str(run.scenario):
        return False  # the folder has a run of another scenario
    return all(sha256_of(Path(each["path"])) == each["sha256"] for each in record["inputs"].values())


def row_of(directory: Path, run: Run) -> dict[str, Any]:
    """Return the row of a run: factors, repetition, seed, status, digest, and the metrics of its jobs, if it has jobs."""
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
            "rjms_release": record.get("rjms") or "",
            "failure": record["failure"] or "; ".join(record.get("failed_processes") or []),
        }
        try:
            row |= metrics_of(run_folder(directory, run))
        except SimunixError as error:
            row["failure"] = row["failure"] or f"no metrics: {error}"
    return row


def metrics_of(folder: Path) -> dict[str, float]:
    """Return the summary of a run's schedule by the names of the metrics, without the jobs of a context.

    Raises SimunixError for a malformed jobs.csv, and for a run whose context was not established, since its metrics mean
    nothing.
    """
    run = _with_jobs(folder)
    return {} if run is None else {str(name): float(value) for name, value in run.summary.items()}


def users_of(directory: Path, run: Run) -> list[dict[str, Any]]:
    """Return a row for each user (`simunix.metrics.fairness.user_table`) of a run with several known users."""
    from simunix.metrics.fairness import user_table

    try:
        found = _with_jobs(run_folder(directory, run))
    except SimunixError:
        return []  # the run's own row reports the error
    if found is None or found.counted is None:
        return []
    identity = {"run": run.name, **dict(run.levels), "repetition": run.repetition, "seed": run.seed}
    table = user_table(found.counted)
    rows = zip(*(table[name].tolist() for name in table), strict=True)
    return [{**identity, **dict(zip(map(str, table), row, strict=True))} for row in rows] if len(table) > 1 else []


def _with_jobs(folder: Path) -> RunData | None:
    """Return the data of a run that has jobs; otherwise None."""
    if not (folder / "jobs.csv").exists():
        return None
    from simunix.metrics.jobs import why_invalid
    from simunix.report.run_data import read_run

    run = read_run(folder)
    if reason := why_invalid(run.record):
        raise SimunixError(f"INVALID, its context was not established: {reason}")
    return run if run.jobs is not None else None


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write a table, columns in the order of their first appearance. The file is replaced atomically."""
    columns = list(dict.fromkeys(column for row in sorted(rows, key=len, reverse=True) for column in row))
    with whole_file(path) as file:
        writer = csv.DictWriter(file, columns, restval="")
        writer.writeheader()
        writer.writerows({name: _text(value) for name, value in row.items()} for row in rows)


def _text(value: object) -> object:
    """Return a number rounded to ten digits, "" for NaN, any other value unchanged."""
    if isinstance(value, float):
        return "" if value != value else f"{value:.10g}"
    return value
