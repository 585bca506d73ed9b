"""Make a job table from the output of `sacct -P` or `sacct --json`, including sbatch options that only the submit line
shows.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from rsg_server.errors import SimunixError
from simunix.rjms.slurm.files.lines import read_text, whole_number
from simunix.rjms.slurm.site.anonymous import MAY_TELL, anonymous_job
from simunix.rjms.slurm.site.changes import Change
from simunix.rjms.slurm.site.names import Names
from simunix.rjms.slurm.site.sacct_json import SITE_CLOCK, json_rows
from simunix.rjms.slurm.site.submit_lines import KNOWN, submit_options
from simunix.workload.formats.columns import COLUMNS
from simunix.workload.formats.job_table import trace_of
from simunix.workload.formats.sacct_rows import sacct_rows
from simunix.workload.formats.swf import SwfTrace

WHAT = "what sacct -P prints"
FORMAT = (
    "JobID,JobName,User,Group,Account,Partition,QOS,Submit,Start,End,ElapsedRaw,Timelimit,ReqCPUS,AllocCPUS,ReqMem,ReqTRES,"
    "Constraints,Licenses,Reservation,State,ExitCode,NodeList,SubmitLine"
)
"""The columns that the user must ask sacct for (`sacct --format`)."""
KEPT = tuple(name for name in FORMAT.split(",") if name in COLUMNS)
NEEDED = ("JobID", "Submit", "Start", "End", "State")
UNFINISHED = ("RUNNING", "PENDING", "SUSPENDED", "REQUEUED", "COMPLETING", "CONFIGURING")
NOTHING = ("None assigned", "Unknown", "None", "N/A", "(null)")
NO_COLUMN = "left out: the job table has no column for it, or not for its value"
MOST_ELEMENTS = 4_000_001
"""Slurm's own limit for the size of a job array; see MaxArraySize in slurm.conf(5)."""
_PENDING = re.compile(r"(\d+)_\[([\d,-]+)(%\d+)?\]")


def read_jobs(path: Path, changes: list[Change], names: Names | None = None) -> SwfTrace:
    """Read the jobs. Jobs and options that are left out are counted, and added to `changes`.

    Raises SimunixError with file and line.
    """
    read = _Jobs(path, names)
    for number, row in _rows(path):
        read.add(number, row)
    frame = pd.DataFrame(list(read.rows.values()), dtype=object).fillna("")
    frame["line"] = frame["line"].astype("int64")
    counted = {
        "steps": (read.steps, "left out: a job sleeps for its run time"),
        "runs before a requeue": (read.again, "left out: the last run of a job counts"),
        "jobs that had not ended": (int(frame["State"].isin(UNFINISHED).sum()), "run until their limit"),
    }
    changes += [Change(str(path), f"{count} {what}", reason) for what, (count, reason) in counted.items() if count]
    changes += [Change(str(path), f"{count} submit lines with {what}", NO_COLUMN) for what, count in sorted(read.left.items())]
    changes += [Change(str(path), f"{count} values of {what}", MAY_TELL) for what, count in sorted(read.hidden.items())]
    return trace_of(frame, (f" Note: converted from sacct's {path.name if names is None else 'output'}",), str(path))


class _Jobs:
    """The rows of a job table by job number, and how often each thing was left out."""

    def __init__(self, path: Path, names: Names | None) -> None:
        self.path = path
        self.names = names
        self.rows: dict[str, dict[str, str]] = {}
        self.left: Counter[str] = Counter()
        self.hidden: Counter[str] = Counter()
        self.steps = self.again = 0

    def add(self, number: int, row: dict[str, str]) -> None:
        """Add a row of sacct, which is a job, some elements of a job array, or a job step."""
        if "." in row["JobID"]:
            self.steps += 1
            return
        said, omitted = submit_options(row.get("SubmitLine", ""), row.get(SITE_CLOCK, row["Submit"]))
        self.left.update(omitted if self.names is None else (each if each in KNOWN else "another option" for each in omitted))
        place = f"{self.path}:{number}"
        for id, own in _elements(row, place):
            made = {**self._named(_job(own, said, place)), "JobID": id, "line": str(number)}
            if id in self.rows:
                self.again += 1
                # for a requeued job, the last run counts, with the first run's submission
                made["Submit"] = self.rows[id]["Submit"]
            self.rows[id] = made

    def _named(self, made: dict[str, str]) -> dict[str, str]:
        if self.names is None:
            return made
        made, hidden = anonymous_job(made, self.names)
        self.hidden.update(hidden)
        return made


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    text = read_text(path, WHAT)
    if text.lstrip().startswith("{"):
        yield from json_rows(path, text)
        return
    lines = text.split("\n")
    names = lines[0].split("|")
    for name in NEEDED:
        if name not in names:
            raise SimunixError(f"{path}:1: column {name} is missing; run sacct -a -D -P -o {FORMAT}")
    if len(lines) < 2 or not any(lines[1:]):
        raise SimunixError(f"{path}: no jobs; run sacct with -S and -E of the time that you mean")
    for number, fields in sacct_rows(path, text):
        yield number, dict(zip(names, fields, strict=True))


def _elements(row: dict[str, str], place: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield a row for each element in the range of a job array that never started; any other row is yielded unchanged."""
    found = _PENDING.fullmatch(row["JobID"])
    if found is None:
        yield row["JobID"], row
        return
    for part in found[2].split(","):
        first, dash, last = part.partition("-")
        begin, end = (whole_number(text, f"{place}: JobID") for text in (first, last if dash else first))
        if end - begin >= MOST_ELEMENTS:
            raise SimunixError(f"{place}: JobID: an array of more than {MOST_ELEMENTS:,} elements; mend {part!r:.60}")
        yield from ((f"{found[1]}_{index}", row) for index in range(begin, end + 1))


def _job(row: Mapping[str, str], said: Mapping[str, str], place: str) -> dict[str, str]:
    """Return the columns of the job table for a row of sacct; `said` has the columns that the job's submit line gives."""
    made = {name: "" if (value := row.get(name, "").strip()) in NOTHING else value for name in KEPT}
    made["Submit"], state = row["Submit"], made["State"]
    if state.split(" ")[0] in UNFINISHED:
        made["ElapsedRaw"] = made["End"] = ""
    nodes = re.search(r"\bnode=([0-9]{1,9})\b", made["ReqTRES"])
    made["ReqNodes"] = "" if nodes is None or nodes[1] in ("0", "1") else nodes[1]
    cpus = whole_number(made["ReqCPUS"], f"{place}: ReqCPUS") if made["ReqCPUS"] else 1
    made["ReqMem"] = _memory(made["ReqMem"], cpus)
    made["JobName"] = " ".join(made["JobName"].split("\n"))  # a name in a job table is one line
    return {**made, **said}


def _memory(text: str, cpus: int) -> str:
    """Return a job's memory as sbatch's options give it. Since 21.08 sacct prints the memory of the whole job, which is
    divided among the cores.
    """
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([KMGTP]?)([cn]?)", text)
    if found is None or float(found[1]) == 0:
        return ""
    if found[3]:
        return text
    mib = float(found[1]) * {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}[found[2]]
    return f"{max(1, int(mib / max(1, cpus)))}Mc"
