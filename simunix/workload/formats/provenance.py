"""The provenance of a trace, in Notes of its header: every command adds Notes, and none removes any.

    ; Note: made from: trace.swf.gz (sha256 0f3a…)
    ; Note: made by: simunix 0.1.0: simunix workload cut trace.swf.gz day.swf --begin 40d --end 41d

The oldest Note comes first. Notes have neither dates nor names of machines, so that one command on one file always gives the
same bytes.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from simunix import __version__
from simunix.workload.formats.swf import SwfTrace

RUN_JOBS = "jobs.csv"
"""The file of a run directory whose name and checksum identify the directory as a source."""
FROM, BY, WITH = " Note: made from: ", " Note: made by: ", " Note: made with: "


def history(trace: SwfTrace) -> tuple[str, ...]:
    """Return the provenance Notes of a trace's header without the leading `Note:`, oldest first."""
    return tuple(line.removeprefix(" Note: ") for line in trace.comments if line.startswith((FROM, BY, WITH)))


def recorded(trace: SwfTrace, arguments: Sequence[str], sources: Iterable[Path] = ()) -> SwfTrace:
    """Return the trace with Notes about the command `simunix ARGUMENTS` and about the files in `sources` that the
    command read.

    The sources are read again for their checksums; for a run directory, its jobs.csv is read.
    """
    files = [path / RUN_JOBS if path.is_dir() else path for path in sources]
    lines = [f"{FROM}{path.name} (sha256 {checksum(path)})" for path in files]
    lines.append(f"{BY}simunix {__version__}: {shlex.join(('simunix', *arguments))}")
    return replace(trace, comments=(*trace.comments, *lines))


def with_history_of(trace: SwfTrace, others: Iterable[SwfTrace]) -> SwfTrace:
    """Return the trace with the provenance Notes of the traces that its jobs come from added to its own."""
    known = set(history(trace))
    lines = dict.fromkeys(line for other in others for line in history(other) if line not in known)
    return replace(trace, comments=(*trace.comments, *(f" Note: {line}" for line in lines)))


def checksum(path: Path) -> str:
    """Return the sha256 of a file's bytes; for a compressed file, of the compressed bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
