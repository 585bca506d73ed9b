"""Decide which ends of processes are failures of a scenario, and describe them in words."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simunix.launch.plan import ProcessSpec

LAST_BYTES = 500
"""The number of bytes at the end of a program's output in which its last lines are searched."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A process that ended in another way than the plan expects; `last_line` is the last line of its standard error, if
    there is one.

    `exit_code` is numbered as by the module subprocess: a negative number is a signal. None means that the exit code is
    unknown.
    """

    spec: ProcessSpec
    exit_code: int | None
    at_ns: int
    last_line: str = ""

    def __str__(self) -> str:
        spec = self.spec
        wanted = "" if spec.expect == (0,) else f" instead of {' or '.join(map(describe_exit, spec.expect))}"
        said = f": {self.last_line}" if self.last_line else ""
        return f"{spec.host}: {spec.name} ended with {describe_exit(self.exit_code)}{wanted} at {self.at_ns / 1e9:.3f} s{said}"


def last_lines(output: Path, count: int) -> list[str]:
    """Return the last `count` non-empty lines of a program's output, which mostly tell why the program ended."""
    try:
        with output.open("rb") as file:
            file.seek(-min(LAST_BYTES, os.fstat(file.fileno()).st_size), os.SEEK_END)
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return [printable(line.strip()) for line in text.split("\n") if line.strip()][-count:]


def printable(text: str) -> str:
    """Return a text without the characters that move a terminal's cursor or change its colours."""
    return "".join(each if each.isprintable() else "?" for each in text.expandtabs(1))


def last_words(output: Path) -> str:
    """Return the last two lines of a program's output as the end of a sentence; "" if the output is empty."""
    lines = last_lines(output, 2)
    return f", and ends with: {'; '.join(lines)}" if lines else ""


def describe_exit(code: int | None) -> str:
    """Describe an exit code of the module subprocess in words; a negative number is a signal."""
    if code is None:
        return "an unknown status"
    return f"exit code {code}" if code >= 0 else f"signal {-code} ({signal_name(-code)})"


def signal_name(number: int) -> str:
    """Return the name of a signal, such as SIGTERM; real-time signals are counted from SIGRTMIN."""
    if number in signal.valid_signals() and number < signal.SIGRTMIN:
        return signal.Signals(number).name
    return f"SIGRTMIN+{number - signal.SIGRTMIN}" if number >= signal.SIGRTMIN else f"signal {number}"


NAMED = 5
"""The number of failures that are named in a message; further ones are only counted."""


def failed_lines(failures: Sequence[Failure], logs: Path | None = None) -> list[str]:
    """Return a line for each of the first NAMED failures, with the file of the process's standard error below `logs`,
    and one line for the number of all others.
    """
    lines = []
    for failure in failures[:NAMED]:
        spec = failure.spec
        where = "" if logs is None else f" (its standard error: {logs / spec.host / spec.name}.err)"
        lines.append(f"{failure}{where}")
    if more := failures[NAMED:]:
        hosts = len({failure.spec.host for failure in more})
        processes, places = f"process{'es' if len(more) > 1 else ''}", f"host{'s' if hosts > 1 else ''}"
        lines.append(f"{len(more):,} more {processes}, on {hosts:,} {places}, did not end as expected")
    return lines
