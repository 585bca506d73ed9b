"""Measure messages and sleeps of actors: in simunix, in SimGrid's own Python module, and in SimGrid's C++ with a thread
for each actor.

The loads are those of benchmarks/rsg_actors.py, and of rsg_actors.cpp and rsg_actors.c in the same folder. Each figure
is computed from the difference between a long and a short run, so that the start costs nothing. The unit is messages or
sleeps per second of CPU time of all processes of the run, including the server, user and kernel time (getrusage(2), the
best of several runs). All processes run on one core.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from simunix_bench.context import CHECKOUT, SIMUNIX, Context, MeasurementError
from simunix_bench.costs.turns import HANDOVERS, QUICK, build
from simunix_bench.row import Aim, Row, at_least, missing

REPEATS = 3
PING_PONG_AIM = 10_000.0
HANDOVERS_A_MESSAGE = 2
"""The number of switches between processes for a message: a put and a get, each with a switch to the server and one to
the next actor.
"""
SYSTEM_PYTHON = "/usr/bin/python3"
FOLDER = CHECKOUT / "benchmarks"
SCRIPT, PLATFORM = str(FOLDER / "rsg_actors.py"), str(FOLDER / "rsg_actors.xml")
INSIDE = (*SIMUNIX, "rsg", "run", PLATFORM, "--")


@dataclass(frozen=True, slots=True)
class Load:
    """What the actors of a benchmark do, and how many rounds they do: in the short run, in the long run, and in the
    long run with --quick.
    """

    name: str
    text: str
    actors: int
    rounds: tuple[int, int, int]
    aim: Aim | None = None

    @property
    def a_round(self) -> int:
        """The number of messages or sleeps in a round."""
        return 1 if self.name == "ping-pong" else self.actors


PING_PONG = Load("ping-pong", "messages between two actors", 2, (100, 20_100, 2_100), at_least(PING_PONG_AIM))
LOADS = (
    PING_PONG,
    Load("random", "messages of 1,000 actors to others at random", 1000, (1, 11, 3)),
    Load("sleepers", "sleeps of 1,000 actors", 1000, (1, 21, 5)),
)


@dataclass(frozen=True, slots=True)
class Arm:
    """A simulator, and its command without load, actors and rounds; or the reason why it is not installed."""

    name: str
    text: str
    command: tuple[str, ...] = ()
    why: str = ""


def mailboxes(context: Context) -> Iterator[Row]:
    """Yield the rows of all loads in all installed simulators, and of a message that consists only of switches between
    processes.
    """
    here = Arm("rsg", "simunix.rsg", (*INSIDE, sys.executable, SCRIPT, PLATFORM, "simunix"))
    arms = (here, _python(context), _threads(context))
    for load in LOADS:
        context.say(load.text)
        for arm in arms:
            name, text = f"{arm.name}-{load.name}", f"{load.text}: {arm.text}"
            if arm.why:
                yield missing(name, text, arm.why)
            else:
                aim = load.aim if arm is here else None
                yield Row(name, text, _per_second(context, arm.command, load), "/s", aim)
        if load is PING_PONG:
            yield Row("librsg-ping-pong", f"{load.text}: librsg", _per_second(context, _library(context), load), "/s")
            yield _floor(context)


def _python(context: Context) -> Arm:
    """Return SimGrid's own Python module as a simulator."""
    arm = Arm("simgrid-python", "SimGrid's Python module", (SYSTEM_PYTHON, SCRIPT, PLATFORM, "simgrid"))
    if context.run((SYSTEM_PYTHON, "-c", "import simgrid")).returncode == 0:
        return arm
    return Arm(arm.name, arm.text, why="python3-simgrid is not installed: apt install python3-simgrid")


def _threads(context: Context) -> Arm:
    """Return SimGrid in C++, with a thread for each actor, as a simulator."""
    name, text, program = "simgrid-threads", "SimGrid in C++, threads", context.folder / "rsg_actors_cpp"
    done = context.run(("g++", "-std=c++17", "-O2", FOLDER / "rsg_actors.cpp", "-o", program, "-lsimgrid"))
    if done.returncode != 0:
        return Arm(name, text, why="no SimGrid to build with: apt install g++ libsimgrid-dev")
    return Arm(name, text, (str(program), "--cfg=contexts/factory:thread", PLATFORM))


def _library(context: Context) -> tuple[str, ...]:
    """Return the command of a C program with librsg. Raises MeasurementError if the program cannot be compiled."""
    program, library = context.folder / "rsg_actors_c", CHECKOUT / "simunix/lib"
    flags = ("-O2", "-pthread", f"-I{CHECKOUT / 'csrc'}", f"-L{library}", f"-Wl,-rpath,{library}")
    done = context.run(("gcc", FOLDER / "rsg_actors.c", "-o", program, *flags, "-lrsg"))
    if done.returncode != 0:
        raise MeasurementError(f"gcc cannot build benchmarks/rsg_actors.c: {done.last_words}")
    return (*INSIDE, str(program))


def _floor(context: Context) -> Row:
    """Return the cost of a message that would consist only of switches between processes, as a lower bound."""
    rounds = HANDOVERS // (QUICK if context.is_quick else 1)
    taken_s = min(_cpu_s(context, (str(build(context, "handover")), str(rounds))) for _ in range(REPEATS))
    text = "messages that are two bare futex hand-overs and back"
    return Row("handover-ping-pong", text, rounds / (HANDOVERS_A_MESSAGE * taken_s), "/s")


def _per_second(context: Context, command: Sequence[str], load: Load) -> float:
    few, many = load.rounds[0], load.rounds[2 if context.is_quick else 1]
    runs = [(*command, load.name, str(load.actors), str(rounds)) for rounds in (few, many)]
    few_s, many_s = (min(_cpu_s(context, run) for _ in range(REPEATS)) for run in runs)
    return (many - few) * load.a_round / max(many_s - few_s, 1e-9)


def _cpu_s(context: Context, command: Sequence[str]) -> float:
    """Return the CPU time, in seconds, of a command and its children on the first core that this process may use."""
    core = min(os.sched_getaffinity(0))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = context.run(("taskset", "--cpu-list", str(core), *command))
    if done.returncode != 0:
        raise MeasurementError(f"{' '.join(command)}: exit {done.returncode}: {done.last_words}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
