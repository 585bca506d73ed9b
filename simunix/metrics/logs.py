"""Read the logs of jobs that do a profile (docs/guide/jobs.md): when the job's script began and ended, and its
suspensions, in nanoseconds.

These logs are more precise than the accounting of an RJMS, which has whole seconds and often no suspensions.

    946684814.003494354 begins line 4: suspendable 100.3
    946684872.000567704 suspended for 50.501120599 s
    946684964.804615853 ends line 4: suspendable 100.3
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from simunix.results.run_json import read_record

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "shared/run_simunix_jobs"
"""The folder of jobs' logs, relative to the run directory."""
NS = 10**9
_FILE = re.compile(r"(?:(?P<host>.*)-)?swf-(?P<job>\d+)-(?P<number>\d+)\.log")
_LINE = re.compile(r"(?P<s>\d+)\.(?P<ns>\d{9}) (?P<what>begins|ends|suspended)(?: for (?P<for_s>\d+)\.(?P<for_ns>\d{9}) s)?")


@dataclass(frozen=True, slots=True)
class JobLog:
    """The moments of a job, in nanoseconds of the hosts' clock since the Unix epoch; None for a moment that is not in the log.

    `suspensions` are pairs of a beginning and a duration.
    """

    begin_ns: int | None = None
    end_ns: int | None = None
    suspensions: tuple[tuple[int, int], ...] = ()

    @property
    def suspended_s(self) -> float:
        """The total duration of the job's suspensions, in seconds."""
        return sum(length for _, length in self.suspensions) / NS


def parse_log(lines: Iterable[str]) -> JobLog:
    """Return the first beginning, the last end and all suspensions in a log. Lines that the job itself printed are
    ignored.
    """
    begin = end = None
    suspensions = []
    for found in filter(None, map(_LINE.match, lines)):
        moment = int(found["s"]) * NS + int(found["ns"])
        if found["what"] == "begins":
            begin = moment if begin is None else begin
        elif found["what"] == "ends":
            end = moment
        elif found["for_s"]:
            suspensions.append((moment, int(found["for_s"]) * NS + int(found["for_ns"])))
    return JobLog(begin, end, tuple(suspensions))


def logs_by_number(folder: Path, host: str = "") -> dict[int, JobLog]:
    """Return the logs in a folder by the number that the RJMS gave to the job.

    If a run has several workloads, the names of logs begin with the name of the submitting host; `host` selects one.
    """
    return {int(found["number"]): _read(path) for path, found in _files(folder) if (found["host"] or "") == host}


def read_logs(run: Path) -> dict[str, JobLog]:
    """Return the logs of a run directory by `job_id`. Raises SimunixError if two workloads have jobs of one number."""
    found: dict[str, JobLog] = {}
    for path, name in _files(run / FOLDER):
        if name["job"] in found:
            raise SimunixError(f"{path}: there is another log of job {name['job']}; read the logs of each workload by itself")
        found[name["job"]] = _read(path)
    return found


def with_logged_times(jobs: pd.DataFrame, logs: Mapping[str, JobLog], run: Path) -> pd.DataFrame:
    """Return the job table with starts, ends, suspended and execution times from the logs, in seconds of the run.

    Jobs without a log, or whose log has no end, are unchanged. Raises SimunixError if run.json does not tell the run's start.
    """
    epoch_ns = _epoch_ns(run)
    table = jobs.copy()
    for row, name in zip(table.index, table["job_id"].astype(str), strict=True):
        log = logs.get(name)
        if log is None or log.begin_ns is None or log.end_ns is None:
            continue
        own = {"starting_time": (log.begin_ns - epoch_ns) / NS, "finish_time": (log.end_ns - epoch_ns) / NS}
        own["suspended_time"] = log.suspended_s
        own["execution_time"] = (log.end_ns - log.begin_ns) / NS - log.suspended_s
        table.loc[row, list(own)] = list(own.values())
    return table


def suspensions(jobs: pd.DataFrame, logs: Mapping[str, JobLog], run: Path) -> pd.DataFrame:
    """Return a row for each suspension: job_id, begin, end (seconds of the run), requested_number_of_resources.

    Raises SimunixError if run.json does not tell when the run began.
    """
    import pandas as pd

    epoch_ns = _epoch_ns(run)
    sizes = dict(zip(jobs["job_id"].astype(str), jobs["requested_number_of_resources"], strict=True))
    rows = [
        (name, (begin - epoch_ns) / NS, (begin + length - epoch_ns) / NS, sizes[name])
        for name, log in logs.items()
        for begin, length in log.suspensions
        if name in sizes
    ]
    return pd.DataFrame(rows, columns=["job_id", "begin", "end", "requested_number_of_resources"])


def _files(folder: Path) -> list[tuple[Path, re.Match[str]]]:
    """Return the logs in a folder, sorted by name, with the match of a regular expression that splits each name."""
    return [(path, found) for path in sorted(folder.glob("*.log")) if (found := _FILE.fullmatch(path.name))]


def _read(path: Path) -> JobLog:
    return parse_log(path.read_text(errors="replace").splitlines())


def _epoch_ns(run: Path) -> int:
    """Return the moment at which the run began, from run.json, in nanoseconds since the Unix epoch."""
    try:
        return int(read_record(run / "run.json")["epoch_s"] * NS)
    except (OSError, KeyError, TypeError) as error:
        raise SimunixError(f"{run / 'run.json'}: no epoch_s ({error}); expected the folder of a run that ended") from error
