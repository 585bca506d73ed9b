"""Measure what it costs to start a process, to let it exec and end, and to wait for it, inside of simunix and natively.

Each figure is for one process, computed from the difference between a run that starts `FEW` processes and a run that
starts `MANY`, so that starting simunix costs nothing. CPU time is in ms, user and kernel, of all processes of the run,
including the server (getrusage(2), the least of several runs). System calls of all these processes are counted by the
tracepoint raw_syscalls:sys_enter, which needs perf and root. Page faults, minor and major, and messages from emulated
processes to the server are counted as well. Native runs have no messages.
"""

from __future__ import annotations

import json
import resource
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from simunix_bench.context import SIMUNIX, Context, MeasurementError
from simunix_bench.costs.turns import build, checked
from simunix_bench.requirements import lacks
from simunix_bench.row import Row, at_most, missing

REPEATS = 5
FEW, MANY, QUICK_MANY = 20, 220, 60
EXTRA_MS = 0.4
SLURM_CONF = "ClusterName=none\nSlurmctldHost=localhost\n"
"""The configuration file for sbatch, which does not even print its version without one."""
PERF = ("perf", "stat", "--field-separator=,", "--event=raw_syscalls:sys_enter")
CHILD_LIMIT = "perf is not installed, or may not count system calls: apt install linux-perf, as root"


@dataclass(frozen=True, slots=True)
class Birth:
    """A way to start a process (benchmarks/spawn.c), and a program with its arguments; `text` is for people."""

    name: str
    text: str
    kind: str
    program: str
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


BIRTHS = (
    Birth("true", "vfork of a small dynamic program (true)", "vfork", "true"),
    Birth("shell", "vfork of a shell (sh -c :)", "vfork", "sh", ("-c", ":")),
    Birth("sbatch", "vfork of Slurm's sbatch (--version)", "vfork", "sbatch", ("--version",), ("slurm",)),
    Birth("posix-spawn", "posix_spawn of true", "posix_spawn", "true"),
    Birth("fork", "fork, then exec, of true", "fork", "true"),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a run or, after `per_birth`, of starting a single process."""

    cpu_ms: float
    faults: float

    def per_birth(self, few: Cost, births: int) -> Cost:
        """Return the cost of one of the `births` processes by which this run exceeds the run `few`."""
        return Cost((self.cpu_ms - few.cpu_ms) / births, (self.faults - few.faults) / births)


def spawns(context: Context) -> Iterator[Row]:
    """Measure each way to start a process natively and inside of simunix."""
    program, configuration = build(context, "spawn"), context.folder / "slurm.conf"
    configuration.write_text(SLURM_CONF)
    for birth in BIRTHS:
        if why := lacks(birth.needs):
            yield missing(f"spawn-{birth.name}-extra", f"{birth.text}: CPU time above native", why, at_most(EXTRA_MS))
            continue
        context.say(birth.text)
        yield from rows_of(context, birth, ["env", f"SLURM_CONF={configuration}", program, birth.kind])


def rows_of(context: Context, birth: Birth, program: list[str | Path]) -> Iterator[Row]:
    """Yield the rows of one way to start a process."""
    name, text = f"spawn-{birth.name}", birth.text
    many = QUICK_MANY if context.is_quick else MANY
    runs = {
        count: [*program, str(count), shutil.which(birth.program) or birth.program, *birth.arguments] for count in (FEW, many)
    }
    inside = {count: [*SIMUNIX, "run", "--", *command] for count, command in runs.items()}
    repeats = 1 if context.is_quick else REPEATS
    native, ours = (_of_one(context, commands, many, repeats) for commands in (runs, inside))
    yield Row(f"{name}-native", f"{text}: CPU time natively", native.cpu_ms, "ms")
    yield Row(f"{name}-inside", f"{text}: CPU time inside", ours.cpu_ms, "ms")
    yield Row(f"{name}-extra", f"{text}: CPU time above native", ours.cpu_ms - native.cpu_ms, "ms", at_most(EXTRA_MS))
    yield Row(f"{name}-native-faults", f"{text}: page faults natively", native.faults, "", is_detail=True)
    yield Row(
        f"{name}-faults", f"{text}: page faults", ours.faults, "", note=f"{text}: {native.faults:.0f} page faults natively"
    )
    if why := _lacks_perf(context):
        yield missing(f"{name}-calls", f"{text}: system calls", why)
    else:
        calls, native_calls = (_calls_of_one(context, commands, many) for commands in (inside, runs))
        yield Row(f"{name}-calls", f"{text}: system calls", calls, "", note=f"{native_calls:.0f} natively")
        yield Row(f"{name}-native-calls", f"{text}: system calls natively", native_calls, "", is_detail=True)
    yield Row(f"{name}-messages", f"{text}: messages to the server", _messages_of_one(context, inside, many))


def _of_one(context: Context, commands: dict[int, list[str | Path]], many: int, repeats: int) -> Cost:
    """Return the cost of starting one process: the least of several runs, because other work of the computer only adds
    to it.
    """
    least = {}
    for count, command in commands.items():
        costs = [_cost(context, command) for _ in range(repeats)]
        least[count] = Cost(min(cost.cpu_ms for cost in costs), min(cost.faults for cost in costs))
    return least[many].per_birth(least[FEW], many - FEW)


def _cost(context: Context, command: list[str | Path]) -> Cost:
    """Return the cost of a command with all its descendants for which it, or its own children, have waited."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    checked(context, command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    faults = after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt
    return Cost(cpu_s * 1000, faults)


def _lacks_perf(context: Context) -> str:
    if shutil.which(PERF[0]) is None:
        return CHILD_LIMIT
    return "" if context.run([*PERF, "true"]).returncode == 0 else CHILD_LIMIT


def _calls_of_one(context: Context, commands: dict[int, list[str | Path]], many: int) -> float:
    found = {}
    for count, command in commands.items():
        done = context.run([*PERF, "--", *command])
        lines = [line for line in done.stderr.splitlines() if "raw_syscalls:sys_enter" in line]
        if done.returncode != 0 or not lines or not lines[-1].split(",")[0].isdigit():
            raise MeasurementError(f"perf has counted no system calls: {done.last_words}")
        found[count] = int(lines[-1].split(",")[0])
    return (found[many] - found[FEW]) / (many - FEW)


def _messages_of_one(context: Context, commands: dict[int, list[str | Path]], many: int) -> float:
    found = {}
    for count, command in commands.items():
        out = Path(tempfile.mkdtemp(prefix="spawn-", dir=context.folder)) / "run"
        place = command.index("--")
        checked(context, [*command[:place], "--out", out, *command[place:]])
        found[count] = json.loads((out / "run.json").read_text())["counts"]["messages"]
    return float(found[many] - found[FEW]) / (many - FEW)
