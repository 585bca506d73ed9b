"""Makes one run of an exploration, in a process forked from a parent that has imported all modules already, so that the
start takes no time for imports.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
import traceback
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rsg_server.choices.places import PLACES
from rsg_server.choices.source import Choice, Choices, Strategy
from rsg_server.choices.strategies import Recorded, Reseeded
from rsg_server.errors import SimunixError, described
from rsg_server.whole_files import whole_file
from simunix.app.runner import ScenarioOptions, run_scenario
from simunix.checks.patterns import reached
from simunix.explore.findings import findings
from simunix.explore.why.watch import Process, Watched
from simunix.launch.debug.strace import NO_STRACE, StraceOptions
from simunix.launch.emulation import Emulation
from simunix.results.choices_file import NAME as CHOICES
from simunix.results.choices_file import read_choices
from simunix.results.run_json import read_record
from simunix.rjms.scenario import load

RESULT = "result.json"
LOG = "log"
"""The files of an attempt beside its run's folder: the result, and the output of the run."""
RUN = "run"
"""The name of the run's folder within the folder of the attempt."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run that is to be made: its scenario file, its settings (--set), its faults as additional events, the strategy
    that makes choices, and the kinds of choices (places).

    `random_seed` is the run's own seed, from which programs get their random numbers. Relative paths of the scenario
    are relative to `folder`, by default the folder of the scenario's file. With `traces`, all system calls are traced
    (--strace).
    """

    path: Path
    overrides: tuple[str, ...]
    random_seed: int
    events: tuple[dict[str, Any], ...] = ()
    strategy: Strategy = field(default_factory=lambda: Recorded(()))
    places: frozenset[str] = frozenset(PLACES)
    every_turn: bool = False
    folder: Path | None = None
    traces: bool = False

    @property
    def all_overrides(self) -> tuple[str, ...]:
        """The settings (--set) of the run, with its faults."""
        return (*self.overrides, f"events+={json.dumps(list(self.events))}") if self.events else self.overrides


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run: its findings (as Finding.as_json), the digest of its event log, and its numbers of choices
    and turns.

    `places` has, for each kind of choice, how many choices there were, and how many of these took another alternative
    than 0. `seen` is what a strategy that observes the threads has recorded.

    `problem` says why there is no result: the scenario cannot be run, or simunix itself has failed.
    """

    findings: tuple[dict[str, Any], ...]
    digest: str = ""
    choices: int = 0
    taken: tuple[Choice, ...] = ()
    turns: int = 0
    virtual_s: float = 0.0
    reached: tuple[str, ...] = ()
    deterministic: bool = True
    departed: bool = False
    places: dict[str, list[int]] = field(default_factory=dict)
    seen: dict[str, Any] | None = None
    problem: str = ""
    wall_s: float = 0.0

    @property
    def signatures(self) -> list[str]:
        """The signatures of the findings, the most telling one first."""
        return [str(finding["signature"]) for finding in self.findings]


def start(attempt: Attempt, folder: Path) -> int:
    """Fork a process that makes the run in `folder`, which must not exist; returns its pid. `outcome` reads the result."""
    folder.mkdir(parents=True)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        _make(attempt, folder)
        code = 0
    except KeyboardInterrupt:
        pass
    except BaseException:  # the code of the parent must not go on in this process
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _make(attempt: Attempt, folder: Path) -> None:
    """Make the run and write its result; standard output and standard error go to a file."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    log = os.open(folder / LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor, copy in ((null, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, copy)
    started = time.monotonic()
    choices = Choices(Counted(attempt.strategy), attempt.places)
    if isinstance(attempt.strategy, Reseeded):
        attempt.strategy.now_ns = lambda: choices.now_ns()
    options = ScenarioOptions(
        path=attempt.path,
        folder=attempt.folder,
        out=folder / RUN,
        overrides=attempt.all_overrides,
        seed=attempt.random_seed,
        choices=choices,
        log_every_turn=attempt.every_turn,
        strace=StraceOptions(("",), stable=True) if attempt.traces else NO_STRACE,
        when_made=partial(_look, attempt.strategy) if isinstance(attempt.strategy, Watched) else None,
    )
    problem = ""
    try:
        run_scenario(options)
    except SimunixError as error:
        problem = str(error)
    except (OSError, MemoryError) as error:
        problem = described(error)
    result: dict[str, Any] = {"problem": problem, "wall_s": time.monotonic() - started}
    if not problem and (folder / RUN / "run.json").exists():
        result |= _result(attempt, folder / RUN, choices)
    with whole_file(folder / RESULT) as file:
        file.write(json.dumps(result))


def _look(strategy: Watched, emulation: Emulation) -> None:
    """Give a strategy that observes threads access to the threads of a run."""

    def processes() -> list[Process]:
        living = {actor.process for actor in emulation.kernel.actors.values() if actor.process.global_pid}
        named = ((f"{each.host.name}: {each.program.rpartition('/')[2]}[{each.pid}]", each.global_pid) for each in living)
        return [Process(*each) for each in sorted(named, key=lambda pair: pair[1])]

    strategy.lines, strategy.processes = emulation.service.actor_lines, processes


class Counted:
    """A strategy that makes the choices of another strategy, and counts, for each kind of choice, all choices and those
    other than 0.
    """

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self.places: dict[str, list[int]] = {}

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """Return the alternative that the other strategy chooses."""
        taken = self._strategy.take(number, place, alternatives, actors)
        counts = self.places.setdefault(place, [0, 0])
        counts[0] += 1
        counts[1] += taken != 0
        return taken


def _result(attempt: Attempt, run: Path, choices: Choices) -> dict[str, Any]:
    scenario, record = load(attempt.path, attempt.overrides), read_record(run / "run.json")
    strategy, counted = attempt.strategy, choices.strategy
    assert isinstance(counted, Counted)
    return {
        "findings": [finding.as_json() for finding in findings(run, scenario)],
        "digest": record["events_sha256"],
        "choices": choices.count,
        "turns": record["turns"],
        "virtual_s": record["virtual_s"],
        "reached": reached(scenario.check, run / "hosts"),
        "deterministic": record["deterministic"],
        "interrupted": record["ended"] == "interrupted",
        "departed": isinstance(strategy, Recorded) and strategy.departure is not None,
        "places": counted.places,
        "seen": strategy.seen if isinstance(strategy, Watched) else None,
    }


def outcome(folder: Path, status: int) -> Outcome | None:
    """Return the result of a run whose process ended with a wait(2) status; None if an interrupt has ended the run."""
    try:
        result: dict[str, Any] = json.loads((folder / RESULT).read_text())
    except (OSError, ValueError):
        log = folder / LOG
        lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
        said = f": {lines[-1]}" if lines else ""
        return Outcome((), problem=f"the run's process ended with wait status {status}{said}")
    if result.pop("interrupted", False):
        return None
    if "findings" not in result:
        return Outcome((), problem=str(result["problem"]) or "the run has written no run.json", wall_s=result["wall_s"])
    taken = read_choices(folder / RUN / CHOICES).taken
    found, names = tuple(result.pop("findings")), tuple(result.pop("reached"))
    return Outcome(found, reached=names, taken=taken, **result)
