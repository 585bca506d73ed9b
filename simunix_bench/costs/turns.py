"""Measure the cost of a turn (passing the right to run to another thread), as a ratio to a bare futex switch between
two processes on one core.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simunix_bench.context import CHECKOUT, SIMUNIX, Context, MeasurementError
from simunix_bench.row import Aim, Row, at_most

INSIDE: tuple[str, ...] = (*SIMUNIX, "run", "--")
OUTSIDE: tuple[str, ...] = ()
REPEATS = 3
HANDOVERS = 100_000
QUICK = 10
"""With --quick, the numbers of rounds and switches are divided by this, and each loop runs once instead of REPEATS
times.
"""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of benchmarks/calls.c: rounds of `calls` calls each, with or without simunix. Its row has the µs of one
    call.
    """

    name: str
    text: str
    kind: str
    rounds: int
    prefix: tuple[str, ...] = INSIDE
    calls: int = 1
    aim: Aim | None = None
    ratio: tuple[str, str, Aim] | None = None  # an additional row: name, text and aim of the ratio to the futex switch


LOOPS = (
    Loop(
        "turn",
        "turn through the server: a byte to another process that waits for it",
        "ping-pong",
        10_000,
        calls=2,
        ratio=("turn-ratio", "turn through the server ÷ futex hand-over", at_most(2)),
    ),
    Loop(
        "relay",
        "remote handoff: a sleep while another process is due first",
        "two-processes",
        200_000,
        calls=2,
        ratio=("relay-ratio", "remote handoff ÷ futex hand-over", at_most(2)),
    ),
    Loop("step", "handoff from thread to thread of a process", "two-threads", 200_000, calls=2),
    Loop("lone-sleep", "sleep of a lone actor, no message", "lone-sleeper", 2_000_000, aim=at_most(1)),
    Loop("trapped-call", "trapped system call", "trap", 300_000),
    Loop("native-call", "the same call without simunix", "trap", 300_000, OUTSIDE),
    Loop("preloaded-call", "the same call through the preload net", "preload", 1_000_000),
    Loop("preloaded-handler", "preloaded call that the shim answers: dup2", "preload-handler", 1_000_000),
    Loop("clock-read", "clock read", "clock", 50_000_000),
    Loop("native-clock-read", "the same read without simunix", "clock", 50_000_000, OUTSIDE),
)


def turns(context: Context) -> Iterator[Row]:
    """Compile the C programs, then measure one loop after the other, and yield the rows."""
    repeats, fewer = (1, QUICK) if context.is_quick else (REPEATS, 1)
    handover, calls = build(context, "handover"), build(context, "calls")
    bare_us = min(float(checked(context, [handover, str(HANDOVERS // fewer)])[0]) for _ in range(repeats)) / 1000
    yield Row("handover", "futex hand-over and back, two processes, one core", bare_us, "µs")
    bases: dict[tuple[str, ...], float] = {}
    for loop in LOOPS:
        context.say(loop.text)
        if loop.prefix not in bases:
            bases[loop.prefix] = seconds(context, [*loop.prefix, str(calls), "nothing", "1"], REPEATS)
        rounds = loop.rounds // fewer
        taken = seconds(context, [*loop.prefix, str(calls), loop.kind, str(rounds)], repeats) - bases[loop.prefix]
        cost_us = taken / rounds / loop.calls * 1e6
        yield Row(loop.name, loop.text, cost_us, "µs", loop.aim)
        if loop.ratio is not None:
            name, text, aim = loop.ratio
            yield Row(name, text, cost_us / bare_us, "×", aim)


def build(context: Context, name: str) -> Path:
    """Compile one of the C programs in benchmarks/; return the program. Raises MeasurementError if that fails."""
    program = context.folder / name
    done = context.run(["gcc", "-O2", "-pthread", CHECKOUT / "benchmarks" / f"{name}.c", "-o", program])
    if done.returncode != 0:
        raise MeasurementError(f"gcc cannot build benchmarks/{name}.c: {done.last_words}")
    return program


def checked(context: Context, command: list[str | Path]) -> tuple[str, float]:
    """Run a command; return its output and its wall time in seconds. Raises MeasurementError if it fails."""
    done = context.run(command)
    if done.returncode != 0:
        raise MeasurementError(f"{' '.join(map(str, command))}: {done.last_words}")
    return done.stdout, done.wall_s


def seconds(context: Context, command: list[str | Path], repeats: int) -> float:
    """Return the least wall time, in seconds, of several runs of a command."""
    return min(checked(context, command)[1] for _ in range(repeats))
