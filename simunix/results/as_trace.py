"""Reads a finished run as a trace: its jobs.csv in the Standard Workload Format, with the run's provenance in the header."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from rsg_server.errors import SimunixError
from simunix.results import jobs_csv
from simunix.results.job_table import NUMBERS, numbers, read_columns
from simunix.results.machines import read_machines
from simunix.results.run_json import read_record
from simunix.workload.formats import by_name
from simunix.workload.formats.swf import LIMIT, UNKNOWN, SwfTrace, table

USER, GROUP = (re.compile(rf"^(?:{word})?(\d{{1,9}})$") for word in ("user", "group"))
"""The names that `simunix.workload.population` gives to users and groups of a trace, or their bare numbers."""
TEXTS = ("job_id", "metadata", "final_state", "user", "account")
COMPLETED, FAILED, CANCELLED = 1, 0, 5
NOT_ENDED = (jobs_csv.UNFINISHED, jobs_csv.UNKNOWN)
"""The values of `final_state` for a job whose end the run has not seen."""
NOTED = ("seed", "rjms", "network_model", "cpu_policy", "deterministic", "ended", "events_sha256", "kernel")
"""The keys of run.json that describe where the trace comes from."""


def read_trace(path: Path) -> SwfTrace:
    """Read the folder of a finished run, or a file of jobs in any format that `by_name` knows. Raises SimunixError."""
    return read_run(path) if path.is_dir() else by_name.read_trace(path)


def read_run(directory: Path) -> SwfTrace:
    """Return the submitted jobs, in the order of their submission. Raises SimunixError if this is no finished run."""
    jobs, record = _jobs(directory / "jobs.csv"), _record(directory)
    submitted = jobs[jobs["submission_time"].notna()].sort_values("submission_time", kind="stable").reset_index(drop=True)
    started = submitted["starting_time"].notna()
    numbers = pd.to_numeric(submitted["job_id"], errors="coerce")
    is_number = bool((numbers.notna() & (numbers % 1 == 0) & (numbers.abs() < LIMIT)).all() and numbers.is_unique)
    records = table([]).reindex(range(len(submitted)), fill_value=UNKNOWN)
    records["job"] = (numbers if is_number else pd.Series(range(1, len(submitted) + 1))).astype("int64")
    records["submit_s"] = submitted["submission_time"]
    wait = (submitted["starting_time"] - submitted["submission_time"]).clip(lower=0)  # accounting may drop fractions of seconds
    records["wait_s"] = wait.round(6).fillna(UNKNOWN)
    records["runtime_s"] = submitted["execution_time"].fillna(UNKNOWN)
    asked = submitted["requested_number_of_resources"].fillna(UNKNOWN).astype("int64")
    given = submitted["allocated_cores"].where(lambda cores: cores > 0) if "allocated_cores" in submitted else asked
    records["allocated"] = given.fillna(asked).astype("int64").where(started, UNKNOWN)
    records["requested"] = asked
    records["requested_s"] = submitted["requested_time"].fillna(UNKNOWN)
    words = submitted["final_state"].astype(str)
    status = (words == "COMPLETED").astype("int64").where(~words.str.startswith("CANCELLED"), CANCELLED)
    records["status"] = status.where(~words.isin(NOT_ENDED), UNKNOWN)
    notes = _notes(record, len(jobs) - len(submitted))
    for column, field, known in (("user", "user", USER), ("account", "group", GROUP)):
        if column in submitted:
            records[field], names = _numbers(submitted[column], known)
            notes += [f" Note: {field} {number}: {_line(name)}" for name, number in names.items()]
    return SwfTrace((*_header(directory, record, records), *notes), records)


def _numbers(column: pd.Series, known: re.Pattern[str]) -> tuple[pd.Series, dict[str, int]]:
    """Return numbers for names, and the names that got a new number.

    Names of users and groups that simunix made from numbers of a trace get those numbers back.
    """
    texts = column.fillna("").astype(str)
    numbers = texts.str.extract(known, expand=False).astype(float)
    highest = int(numbers.max()) if numbers.notna().any() else 0
    others = sorted(set(texts[numbers.isna()]) - {"", "-1"})
    names = {name: highest + place for place, name in enumerate(others, 1)}
    return numbers.fillna(texts.map(names)).fillna(UNKNOWN).astype("int64"), names


def _jobs(path: Path) -> pd.DataFrame:
    expected = "the folder of a run that ended and had a workload"
    jobs = read_columns(path, TEXTS, ("job_id", "final_state", *NUMBERS), expected)
    for name in (*NUMBERS, *({"allocated_cores"} & set(jobs))):
        jobs[name] = numbers(jobs[name], str(path), 2)
    return jobs


def _record(directory: Path) -> dict[str, Any]:
    try:
        return read_record(directory / "run.json")
    except FileNotFoundError as error:
        raise SimunixError(f"{directory / 'run.json'}: {error.strerror}; expected the folder of a run that ended") from error


def _header(directory: Path, record: dict[str, Any], records: pd.DataFrame) -> list[str]:
    lines = [" Version: 2.2", f" Computer: {_line(record.get('rjms') or 'unknown')}, emulated by simunix"]
    if isinstance(record.get("epoch_s"), int | float):
        lines.append(f" UnixStartTime: {record['epoch_s']:.15g}")
    lines += [" TimeZoneString: UTC", f" MaxJobs: {len(records)}", f" MaxRecords: {len(records)}"]
    machines = directory / "machines.csv"
    if machines.exists():
        found = read_machines(machines)
        lines += [f" MaxNodes: {len(found.cores)}", f" MaxProcs: {found.total}"]
    return lines


def _notes(record: dict[str, Any], left_out: int) -> list[str]:
    notes = [f" Note: run {_line(record.get('name'))} of simunix {_line(record.get('simunix'))}"]
    notes += [f" Note: {key} {_line(record[key])}" for key in NOTED if record.get(key) is not None]
    for role, file in (record.get("inputs") or {}).items():
        notes.append(f" Note: {_line(role)} {_line(Path(str(file.get('path'))).name)} sha256 {_line(file.get('sha256'))}")
    if left_out:
        notes.append(f" Note: {left_out} jobs were not submitted and are left out")
    return notes


def _line(value: object) -> str:
    """Write a value as a text without characters that would end a line of the header."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", str(value))
