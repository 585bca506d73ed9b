"""Read output of Slurm's accounting: `sacct -a -X -P -o
JobID,User,Submit,Start,End,TimelimitRaw,AllocCPUS,ReqCPUS,State`.

The output may have any columns in any order, but must have those in `NEEDED`. Job steps are left out. Dates without a
time zone count as UTC (run sacct with TZ=UTC, or with SLURM_TIME_FORMAT=%s).
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from simunix.workload.formats.sacct_rows import sacct_rows
from simunix.workload.formats.swf import LIMIT, UNKNOWN, SwfTrace, table
from simunix.workload.formats.text import decode, read_bytes

NEEDED = ("JobID", "Submit", "Start", "End", "AllocCPUS")
USED = (*NEEDED, "ReqCPUS", "State", "Group", "Account", "User", "Partition", "QOS", "TimelimitRaw", "Timelimit", "Cluster")
STATUS = {"COMPLETED": 1, "FAILED": 0, "TIMEOUT": 0, "NODE_FAIL": 0, "OUT_OF_MEMORY": 0, "DEADLINE": 0, "PREEMPTED": 0}
CANCELLED = 5
_UNKNOWN_DATES = ("Unknown", "None", "", "N/A")
_UNKNOWN_LIMITS = ("UNLIMITED", "Partition_Limit", "INVALID", "")
_LIMIT = re.compile(r"^(?:(\d{1,9})-)?(\d{1,9}):(\d\d):(\d\d)(?:\.\d+)?$")
LAST_DATE_S = 253_402_300_800
"""The first second, in Unix time, of the year 10,000, which Slurm's four-digit years cannot express."""
_JOB = re.compile(r"^(\d{1,15})(?:_\d+|_\[.*\]|\+\d+)?$")


def read_sacct(path: Path) -> SwfTrace:
    """Read sacct's output: a header line, then a line per job with fields separated by `|`. Raises SimunixError with
    file and line.

    Jobs are sorted by submission. The first submission becomes 0 s, and its date becomes the header's UnixStartTime.
    """
    return _read(path)[0]


def job_ids(path: Path) -> list[str]:
    """Return the JobID, such as `12_3`, of each job in sacct's output, in the order of the jobs that `read_sacct`
    returns.
    """
    return _read(path)[1]


def _read(path: Path) -> tuple[SwfTrace, list[str]]:
    """Return the trace, and the JobID of each of its jobs."""
    frame = _frame(path)
    for name in NEEDED:
        if name not in frame:
            raise SimunixError(f"{path}: column {name} is missing; run sacct -a -X -P -o {','.join(NEEDED)},State,…")
    frame = frame[~frame["JobID"].str.contains(".", regex=False)].reset_index(drop=True)
    moments = {name: _dates(frame, name, path) for name in ("Submit", "Start", "End")}
    zero = float(moments["Submit"].min()) if moments["Submit"].notna().any() else 0.0
    _check_order(moments, frame, path)
    jobs = table([]).reindex(range(len(frame)), fill_value=UNKNOWN)
    jobs["job"] = _jobs(frame, path)
    jobs["submit_s"] = (moments["Submit"] - zero).fillna(UNKNOWN)
    jobs["wait_s"] = (moments["Start"] - moments["Submit"]).fillna(UNKNOWN)
    jobs["runtime_s"] = (moments["End"] - moments["Start"]).fillna(UNKNOWN)
    jobs["allocated"] = _whole(frame, "AllocCPUS", path).where(moments["Start"].notna(), UNKNOWN)
    jobs["requested"] = _whole(frame, "ReqCPUS" if "ReqCPUS" in frame else "AllocCPUS", path)
    jobs["requested_s"] = _limits(frame, path)
    if "State" in frame:
        jobs["status"] = _status(frame, path)
    notes = _named(frame, jobs)
    order = jobs["submit_s"].argsort(kind="stable")
    head = (" Version: 2.2", f" Computer: {_cluster(frame)}", f" UnixStartTime: {zero:.15g}", " TimeZoneString: UTC")
    counts = (f" MaxJobs: {len(jobs)}", f" MaxRecords: {len(jobs)}", f" Note: converted from sacct's {path.name}")
    trace = SwfTrace((*head, *counts, *notes), jobs.iloc[order].reset_index(drop=True))
    return trace, frame["JobID"].iloc[order].tolist()


def _status(frame: pd.DataFrame, path: Path) -> pd.Series:
    """Return the status number of the Standard Workload Format for each state. Only the first word counts, as in
    "CANCELLED by 1000".
    """
    words = frame["State"].str.partition(" ")[0] if len(frame) else frame["State"]
    _refuse(words == "", frame, "State", path, "a state such as COMPLETED, as sacct prints of every job")
    known = words.map(STATUS).where(~words.str.startswith("CANCELLED", na=False), CANCELLED)
    return known.fillna(UNKNOWN).astype("int64")


def _named(frame: pd.DataFrame, jobs: pd.DataFrame) -> list[str]:
    """Fill the columns user, group, partition and queue of `jobs` with numbers; return Notes that list the name of each
    number.
    """
    group = "Group" if "Group" in frame else "Account"
    notes = []
    for column, field in (("User", "user"), (group, "group"), ("Partition", "partition"), ("QOS", "queue")):
        if column in frame:
            codes, names = pd.factorize(frame[column].where(frame[column] != ""), sort=True)
            jobs[field] = np.where(codes < 0, UNKNOWN, codes + 1)
            notes += [f" Note: {field} {code}: {name}" for code, name in enumerate(names, 1)]
    return notes


def _limits(frame: pd.DataFrame, path: Path) -> pd.Series:
    """Return the time limits in seconds, from minutes (TimelimitRaw) or `[days-]hours:minutes:seconds` (Timelimit);
    UNKNOWN for no limit.
    """
    column = next((name for name in ("TimelimitRaw", "Timelimit") if name in frame), None)
    if column is None:
        return pd.Series(float(UNKNOWN), index=frame.index)
    known = frame[column].where(~frame[column].isin(_UNKNOWN_LIMITS))
    if column == "TimelimitRaw":
        seconds = pd.to_numeric(known, errors="coerce") * 60.0
    else:
        parts = known.str.extract(_LIMIT).astype(float)
        seconds = (((parts[0].fillna(0) * 24 + parts[1]) * 60 + parts[2]) * 60 + parts[3]).astype(float)
    _refuse(known.notna() & ~seconds.between(0, LIMIT), frame, column, path, "a limit as sacct prints it")
    return seconds.fillna(UNKNOWN)


def _check_order(moments: dict[str, pd.Series], frame: pd.DataFrame, path: Path) -> None:
    for earlier, later in (("Submit", "Start"), ("Start", "End")):
        _refuse(moments[later] < moments[earlier], frame, later, path, f"a moment from {earlier} on")


def _refuse(wrong: pd.Series, frame: pd.DataFrame, column: str, path: Path, expected: str) -> None:
    """Raise SimunixError for the first row in which `wrong` is true, with file, line, column and what was expected
    there.
    """
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        got = str(frame[column].iloc[row])[:60]
        raise SimunixError(
            f"{path}:{frame['line'].iloc[row]}: {column}: expected {expected}, got {got!r}; mend or delete the line"
        )


def _frame(path: Path) -> pd.DataFrame:
    """Return the used fields of each job and step, with the number of the row's first line."""
    content = decode(read_bytes(path, "what sacct -P prints"))
    if not content.strip():
        raise SimunixError(f"{path}: nothing in it; expected what sacct -P prints")
    names = content.partition("\n")[0].rstrip("\r").split("|")
    wanted = [place for place, name in enumerate(names) if name in USED and names.index(name) == place]
    rows: list[list[str]] = []
    numbers: list[int] = []
    for number, fields in sacct_rows(path, content):
        numbers.append(number)
        rows.append([fields[place] for place in wanted])
    frame = pd.DataFrame(rows, columns=[names[place] for place in wanted], dtype=object)
    frame["line"] = np.array(numbers, dtype="int64")
    return frame


def _dates(frame: pd.DataFrame, column: str, path: Path) -> pd.Series:
    """Return a column of dates as seconds since the Unix epoch; NaN for a date that Slurm does not know."""
    known = frame[column].where(~frame[column].isin(_UNKNOWN_DATES))
    seconds = pd.to_numeric(known, errors="coerce")
    dates = pd.to_datetime(known.where(seconds.isna()), format="ISO8601", utc=True, errors="coerce")
    seconds = seconds.fillna((dates - pd.Timestamp(0, tz="UTC").as_unit(dates.dt.unit)) / pd.Timedelta(seconds=1))
    _refuse(known.notna() & ~seconds.between(0, LAST_DATE_S), frame, column, path, "a date such as 2024-02-29T12:00:00")
    return seconds


def _jobs(frame: pd.DataFrame, path: Path) -> pd.Series:
    """Return the job numbers: Slurm's own if they are unique; otherwise (job arrays, requeued jobs) numbers counted
    from 1.
    """
    found = frame["JobID"].str.extract(_JOB, expand=False)
    _refuse(found.isna(), frame, "JobID", path, "a job's number")
    numbers = found.astype("int64")
    return numbers if numbers.is_unique else pd.Series(np.arange(1, len(frame) + 1), index=frame.index)


def _whole(frame: pd.DataFrame, column: str, path: Path) -> pd.Series:
    """Return a column as whole numbers; UNKNOWN where the field is empty."""
    known = frame[column].where(frame[column] != "")
    numbers = pd.to_numeric(known, errors="coerce")
    _refuse(known.notna() & ~(numbers.between(0, LIMIT) & (numbers % 1 == 0)), frame, column, path, "a whole number")
    return numbers.fillna(UNKNOWN).astype("int64")


def _cluster(frame: pd.DataFrame) -> str:
    return str(frame["Cluster"].iloc[0]) if "Cluster" in frame and len(frame) else "unknown"
