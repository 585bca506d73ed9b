"""The jobs that the tests of several RJMSs submit: a small trace, and further commands of a user."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class SwfJob(NamedTuple):
    """A job of a trace: times in seconds; `before` is the number of the job that it waits for, -1 for none."""

    number: int
    submit: int
    runtime: int
    processors: int
    requested: int
    before: int = -1


JOBS = (
    SwfJob(1, 0, 60, 1, 100),
    SwfJob(2, 5, 60, 4, 100),
    SwfJob(3, 6, 30, 10, 100),
    SwfJob(4, 7, 300, 2, 100),
    SwfJob(5, 8, 20, 16, 100),
    SwfJob(6, 8, 20, 1, 100),
    SwfJob(7, 8, 20, 1, 100),
    SwfJob(8, 9, 10, 1, 100, before=4),
)
"""For 16 cores in four nodes. 4 runs into its limit, 5 needs the whole machine, 6 and 7 are equal, 8 waits for 4."""


def write_trace(folder: Path, jobs: Sequence[SwfJob], processors: int = 16) -> None:
    """Write `small.swf`, a trace of these jobs for a machine with so many processors."""
    lines = [
        f"{job.number} {job.submit} -1 {job.runtime} {job.processors} -1 -1 {job.processors} {job.requested} -1 1 1 1 -1 -1 -1"
        f" {job.before} -1\n"
        for job in jobs
    ]
    (folder / "small.swf").write_text(f"; MaxProcs: {processors}\n" + "".join(lines))


def write_workload(folder: Path, jobs: Sequence[SwfJob], scenario: str, processors: int = 16) -> Path:
    """Write a scenario that runs `small.swf`, and that trace; the scenario's path."""
    write_trace(folder, jobs, processors)
    (folder / "s.yaml").write_text(scenario)
    return folder / "s.yaml"


def user_commands(commands: str, keys: str = "") -> str:
    """Keys of a scenario: a shell on the host `l` runs these commands, and the run ends with it. `keys` are more of its own."""
    return f"processes: [{{name: user, host: l, {keys}command: [/bin/sh, -c, {json.dumps(commands)}]}}]\nstop: user\n"
