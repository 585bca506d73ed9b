"""Where a trace comes from, kept in the trace: header Notes that every command adds to and none takes away.

    ; Note: made from: trace.swf.gz (sha256 0f3a…)
    ; Note: made by: simunix 0.1.0: simunix workload cut trace.swf.gz day.swf --begin 40d --end 41d

Oldest first. No dates and no names of machines: the same command on the same file gives the same bytes.
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
"""What stands for a run's folder."""
FROM, BY, WITH = " Note: made from: ", " Note: made by: ", " Note: made with: "


def history(trace: SwfTrace) -> tuple[str, ...]:
    """The lines of provenance in a trace's header, without the word Note, oldest first."""
    return tuple(line.removeprefix(" Note: ") for line in trace.comments if line.startswith((FROM, BY, WITH)))


def recorded(trace: SwfTrace, words: Sequence[str], sources: Iterable[Path] = ()) -> SwfTrace:
    """With the command line `simunix WORDS` and the files it read. Reads the files again, for their checksums."""
    files = [path / RUN_JOBS if path.is_dir() else path for path in sources]
    lines = [f"{FROM}{path.name} (sha256 {checksum(path)})" for path in files]
    lines.append(f"{BY}simunix {__version__}: {shlex.join(('simunix', *words))}")
    return replace(trace, comments=(*trace.comments, *lines))


def with_history_of(trace: SwfTrace, others: Iterable[SwfTrace]) -> SwfTrace:
    """With the provenance of traces whose jobs went into it, too."""
    known = set(history(trace))
    lines = dict.fromkeys(line for other in others for line in history(other) if line not in known)
    return replace(trace, comments=(*trace.comments, *(f" Note: {line}" for line in lines)))


def checksum(path: Path) -> str:
    """sha256 of a file as it is, packed or not; of a run's folder, of its jobs."""
    with (path / "jobs.csv" if path.is_dir() else path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
