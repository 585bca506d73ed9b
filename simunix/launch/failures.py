"""Which ends of processes are failures of a scenario, and the words for them."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from simunix.launch.plan import ProcessSpec

LAST_BYTES = 500
"""How much of a program's output is read for its last lines."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A process of a plan that has ended as the plan does not expect; `last_line` is that of its standard error, if any.

    `exit_code` is as subprocess gives it: negative numbers are signals; None is an unknown one.
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
    """The last lines of a program's output that are not empty, which mostly tell why the program ended."""
    try:
        with output.open("rb") as file:
            file.seek(-min(LAST_BYTES, os.fstat(file.fileno()).st_size), os.SEEK_END)
            text = file.read().decode(errors="replace")
    except OSError:
        return []
    return [printable(line.strip()) for line in text.split("\n") if line.strip()][-count:]


def printable(text: str) -> str:
    """A text without characters that would move the cursor of a terminal, or change its colours."""
    return "".join(each if each.isprintable() else "?" for each in text.expandtabs(1))


def last_words(output: Path) -> str:
    """The last two lines of a program's output, as the end of a sentence; nothing if there are none."""
    lines = last_lines(output, 2)
    return f", and ends with: {'; '.join(lines)}" if lines else ""


def describe_exit(code: int | None) -> str:
    """Words for an exit code as subprocess gives it: negative numbers are signals."""
    if code is None:
        return "an unknown status"
    return f"exit code {code}" if code >= 0 else f"signal {-code} ({signal_name(-code)})"


def signal_name(number: int) -> str:
    """Such as SIGTERM; real-time signals count from SIGRTMIN."""
    if number in signal.valid_signals() and number < signal.SIGRTMIN:
        return signal.Signals(number).name
    return f"SIGRTMIN+{number - signal.SIGRTMIN}" if number >= signal.SIGRTMIN else f"signal {number}"


NAMED = 5
"""So many failures are named; the others are counted."""


def failed_lines(failures: Sequence[Failure], logs: Path | None = None) -> list[str]:
    """A line for each of the first failures, with the file of its standard error below `logs`, and one for all others."""
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
