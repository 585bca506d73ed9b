"""The sections of a failed test's report: how the last run ended, the end and the last output of each program, and
where to look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rsg_server.errors import DeadlockError, StallError
from simunix.launch.failures import describe_exit
from simunix.testing.attempt import isolation

if TYPE_CHECKING:
    from simunix.testing.attempt import Attempt
    from simunix.testing.cluster import Cluster
    from simunix.testing.process import EmulatedProcess

LAST_LINES = 20
REPORTS = {DeadlockError: "simunix: deadlock", StallError: "simunix: stall"}


def sections_of(cluster: Cluster, is_kept: bool) -> list[tuple[str, str]]:
    """Return the sections of the report in reading order, each with a title and a text. `is_kept` says that the run's
    folder remains after the test.
    """
    if not cluster.attempts:
        return []
    attempt = cluster.attempts[-1]
    sections = [("simunix: run", "\n".join(_run_lines(cluster, attempt, is_kept)))]
    for kind, title in REPORTS.items():
        if isinstance(attempt.problem, kind):
            sections.append((title, str(attempt.problem)))
    if attempt.emulation.waiting and not isinstance(attempt.problem, tuple(REPORTS)):
        sections.append(("simunix: who still lived at the end", "\n".join(attempt.emulation.waiting)))
    for process in cluster.processes:
        sections += _last_words(process)
    return sections


def _run_lines(cluster: Cluster, attempt: Attempt, is_kept: bool) -> list[str]:
    number = len(cluster.attempts)
    which = f"run {number} " if number > 1 else ""
    how = attempt.result.ended if attempt.result is not None else "not ended"
    lines = [f"{which}seed {attempt.scenario.seed}, ended at {attempt.now_ns / 1e9:.6f} s of virtual time: {how or 'an error'}"]
    lines += [f"  {process!r}: {_fate(process)}" for process in cluster.processes]
    lines += [f"  warning: {text}" for text in attempt.emulation.warnings]
    if isolation()[1]:
        lines.append(f"  {isolation()[1]}")
    where = attempt.directory.path if is_kept else "not kept; see --simunix-keep and the ini value simunix_keep"
    lines.append(f"run directory: {where}")
    return lines


def _fate(process: EmulatedProcess) -> str:
    if process.started_s is None:
        return "not started"
    if process.has_ended and process.ended_s is None:
        return "could not be started"
    text = f"started at {process.started_s:.6f} s"
    if process.ended_s is None:
        return f"{text}, still running{' (daemon)' if process.is_daemon else ''}"
    return f"{text}, ended at {process.ended_s:.6f} s with {describe_exit(process.exit_code)}"


def _last_words(process: EmulatedProcess) -> list[tuple[str, str]]:
    """Return the last lines of a process's outputs that are not empty, with a title for each output."""
    found = []
    for name, text in (("stdout", process.stdout), ("stderr", process.stderr)):
        lines = text.splitlines()
        if lines:
            cut = [f"… {len(lines) - LAST_LINES} lines more in the run directory"] if len(lines) > LAST_LINES else []
            found.append((f"simunix: {name} of {process!r}", "\n".join([*cut, *lines[-LAST_LINES:]])))
    return found
