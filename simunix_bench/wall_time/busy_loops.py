"""Measure loops that never wait, for 20 virtual seconds each; the aim is that none takes longer in real time.

Computing takes no virtual time, so the moment for which such a loop waits would never come. The server takes the turn
(the right to run) from a loop without system calls (rsg_server/turn/preemption.py), and each system call in a loop
costs virtual time (csrc/shim/turn/call_price.c).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simunix_bench.context import SIMUNIX, Context, MeasurementError
from simunix_bench.row import Row, at_most

SECONDS, QUICK_SECONDS = 20, 4
TIMED_OUT = 124
"""The exit code of timeout(1) after it has ended its command."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: the name of its row, a description, and the command."""

    name: str
    text: str
    command: tuple[str, ...]


LOOPS = (
    Loop("shell", "`while :; do :; done`", ("sh", "-c", "while :; do :; done")),
    Loop("python", "Python's `while True: pass`", ("python3", "-c", "while True: pass")),
    Loop(
        "ticking",
        "`while :; do :; done` beside a process that wakes up each 0.1 s",
        ("sh", "-c", "while :; do :; done & while sleep 0.1; do :; done"),
    ),
    Loop(
        "pair",
        "two such loops beside it",
        ("sh", "-c", "while :; do :; done & while :; do :; done & while sleep 0.1; do :; done"),
    ),
    Loop("clock", "`while time.time() < end: pass`", ("python3", "-c", "import time\nwhile time.time() < 9e9: pass")),
    Loop("file", "`until [ -e FILE ]; do :; done`", ("sh", "-c", "until [ -e /nowhere ]; do :; done")),
    Loop("read", "`while read x < FILE; do :; done`", ("sh", "-c", "while read x < /etc/passwd; do :; done")),
    Loop("subshell", "`while :; do x=$(:); done`", ("sh", "-c", "while :; do x=$(:); done")),
    Loop("spawn", "`while :; do /bin/true; done`", ("sh", "-c", "while :; do /bin/true; done")),
)


def busy_loops(context: Context) -> Iterator[Row]:
    """Run each loop until timeout(1) ends it, and yield its row."""
    seconds = QUICK_SECONDS if context.is_quick else SECONDS
    for loop in LOOPS:
        context.say(loop.text)
        done = context.run([*SIMUNIX, "run", "--", "timeout", "-s", "KILL", str(seconds), *loop.command])
        if done.returncode not in (TIMED_OUT, 128 + 9):
            raise MeasurementError(f"{loop.text}: exit code {done.returncode}: {done.last_words}")
        aim = None if context.is_quick else at_most(seconds)
        yield Row(f"busy-{loop.name}", f"{seconds} virtual seconds of {loop.text}: wall time", done.wall_s, "s", aim)
