"""Read the trace of a `workload:` section once, for its jobs and for its header."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from simunix.workload.formats.by_name import is_table

if TYPE_CHECKING:
    from simunix.workload.formats.batsim import BatsimWorkload
    from simunix.workload.formats.swf import SwfTrace
    from simunix.workload.transforms.context import Context

TELLS_CONTEXT = ".swf"
"""The ending of trace files that, besides job tables, may have a context in the header."""


@dataclass(frozen=True, slots=True)
class OpenedTrace:
    """A trace that has been read: `records`, or `batsim` for a Batsim workload. `context` is the context in its header;
    None without one.
    """

    path: Path
    records: SwfTrace | None = None
    batsim: BatsimWorkload | None = None
    context: Context | None = None

    @property
    def of_context(self) -> tuple[int, ...]:
        """The numbers of the jobs that belong to the trace's context."""
        return () if self.context is None else (*self.context.running, *self.context.waiting)


def open_trace(path: Path) -> OpenedTrace:
    """Read a trace in the format that the ending of its name says. Raises SimunixError with the file if it is
    malformed.
    """
    # imported here, because these modules import pandas, which only workloads need
    if path.suffix == ".json":
        from simunix.workload.formats.batsim import read_workload

        return OpenedTrace(path, batsim=read_workload(path))
    if is_table(path):
        from simunix.workload.formats.job_table import read_job_table

        records = read_job_table(path)
    else:
        from simunix.workload.formats.swf import read_swf

        records = read_swf(path)
    return OpenedTrace(path, records, context=_context(path, records))


def _context(path: Path, records: SwfTrace) -> Context | None:
    from simunix.workload.transforms.context import context_of

    if TELLS_CONTEXT not in path.suffixes and not is_table(path):
        return None
    try:
        return context_of(records.comments)
    except SimunixError as error:
        raise SimunixError(f"{path}: {error}") from error
