"""Read and write job tables: CSV or Parquet with a row for each job, and columns named as in accounting (`columns.py`).

A job table becomes a trace whose frame also has the columns in `columns.TEXTS`, so that transforms of the trace keep
them. Lines that begin with `#` at the head of a CSV file are the header of the trace; Parquet has the header in its
metadata.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rsg_server.errors import SimunixError
from rsg_server.whole_files import unwritten, whole_path
from simunix.workload.formats.columns import COLUMNS, OF_SWF, TEXTS, UNKNOWN_LIMITS
from simunix.workload.formats.durations import duration_s, duration_text
from simunix.workload.formats.swf import FIELDS, LEAST_DATE_S, LIMIT, UNKNOWN, SwfTrace, table
from simunix.workload.formats.text import decode, read_bytes
from simunix.workload.request import parts_of

EXPECTED = "a job table in CSV"
NEEDED = ("JobID", "Submit")
METADATA = b"simunix"
LAST_DATE_S = 253_402_300_800
"""The first second, in Unix time, of the year 10,000."""
STATUS = {"COMPLETED": 1, "CANCELLED": 5}
STATES = {1: "COMPLETED", 0: "FAILED", 5: "CANCELLED"}
UNFINISHED = ("PENDING", "RUNNING", "SUSPENDED", "REQUEUED", "CONFIGURING", "COMPLETING", "")
NAMED = {"User": ("user", "user"), "Group": ("group", "group")}
"""The columns with names: the field with their numbers, and the word in front of a number that a name is made of."""


def read_job_table(path: Path) -> SwfTrace:
    """Read a job table. Raises SimunixError with file, line and column if the file is malformed."""
    comments, frame = _parquet(path) if path.suffix == ".parquet" else csv_rows(path)
    return trace_of(frame, comments, str(path))


def trace_of(frame: pd.DataFrame, comments: Sequence[str], where: str) -> SwfTrace:
    """Return the trace of a frame of texts, whose column `line` is each row's line in `where`. Raises SimunixError."""
    for name in NEEDED:
        if name not in frame:
            raise SimunixError(f"{where}: column {name} is missing; a job table has at least {' and '.join(NEEDED)}")
    if unknown := [name for name in frame if name not in COLUMNS and name != "line"]:
        mend = "take the column out, or rename it; docs/reference/job-table.md has them all"
        raise SimunixError(f"{where}: {unknown[0]} is no column of a job table; {mend}")
    _check_texts(frame, where)
    return _Reader(frame, where, tuple(comments)).trace()


def _check_texts(frame: pd.DataFrame, where: str) -> None:
    for name, column in COLUMNS.items():
        if name in frame:
            refuse((frame[name] != "") & ~frame[name].str.fullmatch(column.pattern), frame, name, where, column.expected)
    for name in NEEDED:
        refuse(frame[name] == "", frame, name, where, COLUMNS[name].expected)


def refuse(wrong: pd.Series, frame: pd.DataFrame, column: str, where: str, expected: str) -> None:
    """Raise SimunixError for the first row that is `wrong`, with file, line, column and what was expected there."""
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        got = str(frame[column].iloc[row])[:60]
        line = frame["line"].iloc[row]
        raise SimunixError(f"{where}:{line}: {column}: expected {expected}, got {got!r}; mend or delete the line")


class _Reader:
    """Computes the fields of a trace from the texts of a checked frame."""

    def __init__(self, frame: pd.DataFrame, where: str, comments: tuple[str, ...]) -> None:
        self.frame, self.where, self.comments = frame, where, comments

    def trace(self) -> SwfTrace:
        """Return the trace, ordered by submission; rows with equal submissions keep their order."""
        jobs = table([]).reindex(range(len(self.frame)), fill_value=UNKNOWN)
        for column, field in OF_SWF.items():
            if column in self.frame:
                jobs[field] = self._numbers(column).fillna(UNKNOWN).astype(jobs[field].dtype)
        submit, comments = self._moments(jobs)
        jobs["requested_s"] = self._limits()
        jobs["status"] = self._status()
        jobs["job"], is_plain = self._ids()
        notes = [note for column in NAMED for note in self._names(column, jobs)]
        if not is_plain:
            jobs["JobID"] = self.frame["JobID"]
        for name in TEXTS:
            if name in self.frame and name != "Timelimit" and (self.frame[name] != "").any():
                jobs[name] = self.frame[name]
        self._unlimited(jobs)
        self._cancelled(jobs, submit)
        order = jobs["submit_s"].argsort(kind="stable")
        return SwfTrace(_header(comments, len(jobs), notes), jobs.iloc[order].reset_index(drop=True))

    def _numbers(self, column: str) -> pd.Series:
        texts = self.frame[column]
        numbers = pd.to_numeric(texts.where(texts != ""), errors="coerce")
        self._refuse(numbers.notna() & ~(numbers.abs() < LIMIT), column, "a smaller number")
        return numbers

    def _refuse(self, wrong: pd.Series, column: str, expected: str) -> None:
        refuse(wrong, self.frame, column, self.where, expected)

    def _moments(self, jobs: pd.DataFrame) -> tuple[pd.Series, tuple[str, ...]]:
        """Fill in submission, wait and run time in seconds; return the table's submissions, and the header's lines."""
        submit, start, end = (self._dates(name) for name in ("Submit", "Start", "End"))
        zero, comments = self._zero(submit)
        self._refuse(start < submit, "Start", "a moment from Submit on")
        jobs["submit_s"] = (submit - zero).round(6)
        jobs["wait_s"] = (start - submit).round(6).fillna(UNKNOWN)
        if "Elapsed" in self.frame:
            elapsed = self.frame["Elapsed"].map(duration_s, na_action="ignore").astype(float)
            self._refuse((self.frame["Elapsed"] != "") & ~(elapsed < LIMIT), "Elapsed", COLUMNS["Elapsed"].expected)
            jobs["runtime_s"] = jobs["runtime_s"].where(jobs["runtime_s"] >= 0, elapsed.fillna(UNKNOWN))
        if "End" in self.frame:
            self._refuse(end < start.fillna(submit), "End", "a moment from Start on")
            jobs["runtime_s"] = jobs["runtime_s"].where(jobs["runtime_s"] >= 0, (end - start).fillna(UNKNOWN))
        if "State" in self.frame:  # accounting prints 0 seconds for jobs that never ran
            never = ((jobs["wait_s"] < 0) & (jobs["runtime_s"] == 0)) & ~self.frame["State"].isin(("COMPLETED", "FAILED"))
            jobs["runtime_s"] = jobs["runtime_s"].where(~never, UNKNOWN)
        return submit, comments

    def _zero(self, submit: pd.Series) -> tuple[float, tuple[str, ...]]:
        """Return the moment that counts as 0 (header's date, first submission, or 0 for seconds), and header lines."""
        first = float(submit.min()) if len(submit) else 0.0
        if first < LEAST_DATE_S:
            return 0.0, self.comments
        known = SwfTrace(self.comments, table([])).number("UnixStartTime")
        if known is not None and known <= first:
            return known, self.comments
        rest = tuple(line for line in self.comments if line.partition(":")[0].strip() != "UnixStartTime")
        return first, (*rest, f" UnixStartTime: {first:.15g}", " TimeZoneString: UTC")

    def _dates(self, column: str) -> pd.Series:
        """Return a column in seconds (dates: since the Unix epoch, in UTC if without a zone); NaN for unknown ones."""
        if column not in self.frame:
            return pd.Series(np.nan, index=self.frame.index)
        return dates(self.frame, column, self.where)

    def _limits(self) -> pd.Series:
        found = pd.Series(float(UNKNOWN), index=self.frame.index)
        for column, unit in (("TimelimitRaw", 60.0), ("Timelimit", 0.0)):
            if column in self.frame:
                texts = self.frame[column].where(~self.frame[column].isin(("", "UNLIMITED", *UNKNOWN_LIMITS)))
                seconds = texts.astype(float) * unit if unit else texts.map(duration_s, na_action="ignore").astype(float)
                self._refuse(texts.notna() & ~(seconds < LIMIT), column, COLUMNS[column].expected)
                found = seconds.fillna(found)
        return found

    def _unlimited(self, jobs: pd.DataFrame) -> None:
        """Keep the text of a time limit only if it is no number of seconds."""
        given = [self.frame[column] for column in ("Timelimit", "TimelimitRaw") if column in self.frame]
        texts = given[0].where(given[0] != "", given[-1]).where(jobs["requested_s"] < 0, "") if given else None
        if texts is not None and (texts != "").any():
            jobs["Timelimit"] = texts

    def _status(self) -> pd.Series:
        if "State" not in self.frame:
            return pd.Series(UNKNOWN, index=self.frame.index)
        words = self.frame["State"].str.split(" ").str[0].fillna("")
        return words.map(STATUS).fillna(0).where(~words.isin(UNFINISHED), UNKNOWN).astype("int64")

    def _ids(self) -> tuple[pd.Series, bool]:
        """Return the numbers of jobs, and whether they are JobID's; if not (job arrays, say), jobs count from 1."""
        texts = self.frame["JobID"]
        if texts.str.isdecimal().all() and texts.astype("int64").is_unique:
            return texts.astype("int64"), True
        double = texts.duplicated()
        self._refuse(double, "JobID", "a number that no other row has (of a requeued job, its last run alone)")
        return pd.Series(np.arange(1, len(texts) + 1), index=texts.index), False

    def _names(self, column: str, jobs: pd.DataFrame) -> list[str]:
        """Number the names in a column, keep the names, and return Notes for the header that list them."""
        if column not in self.frame or (self.frame[column] == "").all():
            return []
        field, word = NAMED[column]
        numbers, names = numbered(self.frame[column], word)
        jobs[field] = numbers
        if not names:
            return []
        jobs[column] = self.frame[column]
        return [f" Note: {field} {number}: {name}" for name, number in names.items()]

    def _cancelled(self, jobs: pd.DataFrame, submit: pd.Series) -> None:
        """Compute how long a job waited that was cancelled while it waited, if only its end is known."""
        if "End" not in self.frame or "State" not in self.frame:
            return
        after = (self._dates("End") - submit).where(self.frame["State"].str.startswith("CANCELLED") & (jobs["wait_s"] < 0))
        if after.notna().any():
            given = jobs["CancelAfter"] if "CancelAfter" in jobs else pd.Series("", index=jobs.index)
            jobs["CancelAfter"] = given.where((given != "") | after.isna(), after.map("{:.15g}".format))


def _header(comments: Sequence[str], count: int, notes: Sequence[str]) -> tuple[str, ...]:
    """Return the header's lines with the numbers of jobs updated, and with those of `notes` that are not there yet."""
    counts = {"Version": "2.2", "MaxJobs": str(count), "MaxRecords": str(count)}
    keys = [line.partition(":")[0].strip() for line in comments]
    found = [f" {key}: {counts[key]}" if key in counts else line for key, line in zip(keys, comments, strict=True)]
    missing = [f" {key}: {value}" for key, value in counts.items() if key not in keys]
    known = {line.strip() for line in comments}
    return (*found, *missing, *(note for note in notes if note.strip() not in known))


def numbered(texts: pd.Series, word: str) -> tuple[pd.Series, dict[str, int]]:
    """Return a number for each name (-1 for none), and the numbers of names that are not `word` plus a number."""
    own = texts.str.extract(rf"^{word}(\d{{1,9}})$", expand=False).astype(float)
    highest = int(own.max()) if own.notna().any() else 0
    names = {name: highest + place for place, name in enumerate(sorted(set(texts[own.isna()]) - {""}), 1)}
    return own.fillna(texts.map(names)).fillna(UNKNOWN).astype("int64"), names


def dates(frame: pd.DataFrame, column: str, where: str) -> pd.Series:
    """Return a column of dates or seconds in seconds since the Unix epoch; NaN for unknown. Raises SimunixError."""
    texts = frame[column].where(~frame[column].isin(("", "Unknown", "None", "N/A")))
    seconds = pd.to_numeric(texts, errors="coerce")
    found = pd.to_datetime(texts.where(seconds.isna()), format="ISO8601", utc=True, errors="coerce")
    seconds = seconds.fillna((found - pd.Timestamp(0, tz="UTC").as_unit(found.dt.unit)) / pd.Timedelta(seconds=1))
    wrong = texts.notna() & ~seconds.between(0, LAST_DATE_S)
    refuse(wrong, frame, column, where, "a date such as 2024-02-29T12:00:00, or seconds from 0 up")
    return seconds.astype(float)


# Files


def csv_rows(path: Path) -> tuple[list[str], pd.DataFrame]:
    """Return the header's lines, and the rows as texts, each with its `line`. Raises SimunixError with file and line."""
    content = decode(read_bytes(path, EXPECTED)).replace("\r\n", "\n")
    comments: list[str] = []
    lines = content.split("\n")
    while len(comments) < len(lines) and lines[len(comments)].startswith("#"):
        comments.append(lines[len(comments)][1:])
    reader = csv.reader(io.StringIO("\n".join(lines[len(comments) :])), strict=True)
    rows: list[list[str]] = []
    numbers: list[int] = []
    names: list[str] = []
    try:
        names = next(reader, [])
        for row in reader:
            line = len(comments) + reader.line_num
            if row and len(row) != len(names):
                raise SimunixError(f"{path}:{line}: expected {len(names)} fields as in the first line, got {len(row)}; mend it")
            if row:
                rows.append([cell.strip() for cell in row])
                numbers.append(line)
    except csv.Error as error:
        raise SimunixError(f"{path}:{len(comments) + reader.line_num}: {error}; expected {EXPECTED}") from error
    if len(set(names)) != len(names):
        double = next(name for name in names if names.count(name) > 1)
        raise SimunixError(f"{path}:{len(comments) + 1}: column {double!r} is there twice; take one out")
    frame = pd.DataFrame(rows, columns=pd.Index(names), dtype=object).astype(object)
    frame["line"] = np.array(numbers, "int64")
    return comments, frame


def _parquet(path: Path) -> tuple[list[str], pd.DataFrame]:
    parquet = _pyarrow(path)
    try:
        found = parquet.read_table(path)
    except (OSError, ValueError) as error:
        raise SimunixError(f"{path}: {' '.join(str(error).split())[:200]}; expected a job table in Parquet") from error
    metadata = (found.schema.metadata or {}).get(METADATA, b"").decode()
    frame = found.to_pandas().reset_index(drop=True)
    texts = pd.DataFrame({str(name): frame[name].map(_text).astype(object) for name in frame})
    texts["line"] = np.arange(1, len(frame) + 1)
    return metadata.split("\n") if metadata else [], texts


def _text(value: object) -> str:
    """Return a cell of Parquet as the text that CSV has for it."""
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, pd.Timestamp) else str(value).strip()


def _pyarrow(path: Path):  # type: ignore[no-untyped-def]
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise SimunixError(f"{path}: Parquet needs pyarrow; pip install 'simunix[parquet]', or name the file .csv") from error
    return pyarrow.parquet


def write_job_table(path: Path, trace: SwfTrace) -> None:
    """Write a trace as a job table, without empty columns. Reading the file gives an equal trace. Raises SimunixError."""
    frame = table_of(trace)
    try:
        if path.suffix == ".parquet":
            parquet = _pyarrow(path)
            import pyarrow

            made = pyarrow.Table.from_pandas(frame, preserve_index=False)
            made = made.replace_schema_metadata({METADATA: "\n".join(trace.comments).encode()})
            with whole_path(path) as draft:
                parquet.write_table(made, draft)
            return
        with whole_path(path) as draft, draft.open("w", newline="") as file:
            file.write("".join(f"#{comment}\n" for comment in trace.comments))
            frame.to_csv(file, index=False, lineterminator="\n")
    except OSError as error:
        raise SimunixError(unwritten(path, error)) from error


def table_of(trace: SwfTrace) -> pd.DataFrame:
    """Return the job table of a trace as texts, without empty columns."""
    jobs = trace.jobs
    columns = {name: _column(name, trace) for name in COLUMNS}
    kept = {name: column for name, column in columns.items() if name in NEEDED or (column is not None and (column != "").any())}
    return pd.DataFrame(kept, index=jobs.index, dtype=object)


def _column(name: str, trace: SwfTrace) -> pd.Series | None:
    jobs = trace.jobs
    if name == "JobID":
        numbers = jobs["job"].astype(str)
        return jobs["JobID"].where(jobs["JobID"].fillna("") != "", numbers) if "JobID" in jobs else numbers
    if name in OF_SWF:
        return _known(jobs[OF_SWF[name]])
    if name in ("Submit", "Start"):
        return _moment_texts(trace, jobs["submit_s"], jobs["wait_s"] if name == "Start" else None)
    if name == "Timelimit":
        own = jobs["Timelimit"] if "Timelimit" in jobs else pd.Series("", index=jobs.index)
        return own.where(jobs["requested_s"] < 0, jobs["requested_s"].map(duration_text))
    if name == "State" and name not in jobs:
        return jobs["status"].map(STATES).fillna("")
    if name in NAMED:
        names = _names(trace, *NAMED[name])
        return jobs[name].where(jobs[name].fillna("") != "", names) if name in jobs else names
    if name in TEXTS:
        return jobs[name].fillna("") if name in jobs else None
    return None


def _known(values: pd.Series) -> pd.Series:
    return values.map("{:.15g}".format).where(values >= 0, "")


def _moment_texts(trace: SwfTrace, submit: pd.Series, wait: pd.Series | None) -> pd.Series:
    """Return moments as dates if the header says when the trace began, otherwise as seconds."""
    moments = submit if wait is None else submit + wait
    zero = trace.number("UnixStartTime")
    if zero is None or zero < LEAST_DATE_S:
        texts = moments.map("{:.15g}".format)
    else:
        micro = ((moments + zero) * 1e6).round().astype("int64")
        texts = pd.to_datetime(micro, unit="us").map(lambda moment: moment.isoformat())
    return texts if wait is None else texts.where(wait >= 0, "")


def _names(trace: SwfTrace, field: str, word: str) -> pd.Series:
    """Return the names that Notes in the header give to numbers; for other numbers, the word and the number."""
    notes = re.compile(rf"\s*Note: {field} ([0-9]{{1,15}}): (\S+)\s*$")
    known = {int(found[1]): found[2] for comment in trace.comments if (found := notes.match(comment))}
    pattern = COLUMNS["User"].pattern
    known = {number: name for number, name in known.items() if pattern.fullmatch(name)}
    return trace.jobs[field].map(lambda number: "" if number < 0 else known.get(number, f"{word}{number}"))


def is_table(trace: SwfTrace) -> bool:
    """Return whether a trace has columns that only a job table has."""
    return any(name not in FIELDS and name in COLUMNS for name in trace.jobs)


def renumbered(jobs: pd.DataFrame, numbers: dict[int, int]) -> pd.DataFrame:
    """Return a frame with the numbers in `JobID` and `Dependency` replaced by `numbers`; others are unchanged."""

    def changed(text: str, pattern: str) -> str:
        return re.sub(pattern, lambda found: str(numbers.get(int(found[0]), int(found[0]))), text)

    found = jobs
    if "JobID" in jobs:
        found = found.assign(JobID=jobs["JobID"].map(lambda text: changed(text, r"^\d+")))
    if "Dependency" in jobs:
        found = found.assign(Dependency=jobs["Dependency"].map(lambda text: changed(text, r"(?<=:)\d+")))
    return found


def base_numbers(jobs: pd.DataFrame) -> pd.Series:
    """Return the number of each row's job; for an element of a job array, the number of the array."""
    parts = (jobs["JobID"] if "JobID" in jobs else pd.Series("", index=jobs.index)).map(parts_of)
    return pd.Series([each[0] if each else job for each, job in zip(parts, jobs["job"], strict=True)], index=jobs.index)
