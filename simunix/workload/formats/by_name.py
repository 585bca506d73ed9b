"""Read and write traces of jobs in the format that the ending of the file's name says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    from simunix.workload.formats.swf import SwfTrace

ENDINGS = (
    ".swf (SWF), .csv (job table), .json (Batsim), .sacct or .txt (what sacct -P prints), each also with .gz, .xz or .bz2, "
    "or .parquet (job table), or a run's folder"
)
PACKED = (".gz", ".xz", ".bz2")
TABLES = (".csv", ".parquet")


def read_trace(path: Path) -> SwfTrace:
    """Read a trace of jobs in any of these formats. Raises SimunixError if the file is malformed.
    (`simunix.results.as_trace` also reads a run's folder.)
    """
    kind = _ending(path)
    if kind == ".json":
        from simunix.workload.formats.batsim import read_workload, to_swf

        return to_swf(read_workload(path), path.name)
    if kind in (".sacct", ".txt"):
        from simunix.workload.formats.sacct import read_sacct

        return read_sacct(path)
    if kind in TABLES:
        from simunix.workload.formats.job_table import read_job_table

        return read_job_table(path)
    from simunix.workload.formats.swf import read_swf

    return read_swf(path)


def job_names(path: Path, trace: SwfTrace) -> list[str]:
    """Return the name of each job of a trace in the accounting from which it was read, such as `12_3` for an element of
    a job array.

    If the format has no names, a job's name is its number. Raises SimunixError if the file is malformed.
    """
    if "JobID" in trace.jobs:  # only a job table has this column
        return [str(name) for name in trace.jobs["JobID"]]
    if _ending(path) in (".sacct", ".txt"):
        from simunix.workload.formats.sacct import job_ids

        return job_ids(path)
    return [str(number) for number in trace.jobs["job"].astype(int)]


def write_trace(path: Path, trace: SwfTrace) -> None:
    """Write a trace as SWF, job table or Batsim's JSON, by the ending of the file's name. Raises SimunixError if the
    file cannot be written.
    """
    kind = _ending(path)
    if path.suffix in PACKED and (kind, path.suffix) not in ((".swf", ".gz"), (".swf", ".xz")):
        raise SimunixError(f"{path}: only .swf.gz and .swf.xz can be written packed; choose another name")
    if kind == ".json":
        from simunix.workload.formats.batsim import write_workload

        write_workload(path, trace)
    elif kind in TABLES:
        from simunix.workload.formats.job_table import write_job_table

        write_job_table(path, trace)
    elif kind == ".swf":
        from simunix.workload.formats.swf import write_swf

        write_swf(path, trace)
    else:
        raise SimunixError(f"{path}: can be read but not written; name it .swf, .swf.gz, .swf.xz, .csv, .parquet or .json")


def is_table(path: Path) -> bool:
    """Return whether the ending of a file's name is that of a job table."""
    return (Path(path.stem).suffix if path.suffix in PACKED else path.suffix) in TABLES


def _ending(path: Path) -> str:
    kind = Path(path.stem).suffix if path.suffix in PACKED else path.suffix
    if kind not in (".swf", ".json", ".sacct", ".txt", *TABLES):
        raise SimunixError(f"{path}: cannot tell its format; expected a name ending in {ENDINGS}")
    return kind
