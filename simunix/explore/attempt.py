"""One run of an exploration, in a process forked from a parent that has loaded everything already: a start costs no imports."""

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
"""Files of an attempt beside its run's folder: what came out of it, and what the run has said."""
RUN = "run"
"""The run's folder in that of the attempt."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A run to be made: scenario file, --set, the faults as further events, and how choices are taken at which places.

    `random_seed` is the run's own seed, from which come the random numbers of programs. Relative paths of the scenario are
    below `folder`, by default that of the scenario's file. `traces`: all calls are traced (--strace).
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
        """The --set of the run, with its faults."""
        return (*self.overrides, f"events+={json.dumps(list(self.events))}") if self.events else self.overrides


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of a run: findings as Finding.as_json, the digest of its log, and how many choices and turns it had.

    `places`: of each place how many choices there were, and how many of these took another alternative than 0. `seen`: what a
    strategy that looks has seen.

    `problem` says why there is none: a scenario that cannot be run, an error of simunix itself.
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
        """Those of the findings, the most telling one first."""
        return [str(finding["signature"]) for finding in self.findings]


def start(attempt: Attempt, folder: Path) -> int:
    """Fork a process that makes the run in `folder`, which must not exist; returns its pid. `outcome` reads what came out."""
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
    except BaseException:  # nothing of the parent must go on in this process
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _make(attempt: Attempt, folder: Path) -> None:
    """Make the run and write the result; standard output and error go to a file."""
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
    """Let a strategy look at the threads of a run."""

    def processes() -> list[Process]:
        living = {actor.process for actor in emulation.kernel.actors.values() if actor.process.global_pid}
        named = ((f"{each.host.name}: {each.program.rpartition('/')[2]}[{each.pid}]", each.global_pid) for each in living)
        return [Process(*each) for each in sorted(named, key=lambda pair: pair[1])]

    strategy.lines, strategy.processes = emulation.service.actor_lines, processes


class Counted:
    """Takes what another strategy takes, and counts the choices of each place, and those that are not 0."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self.places: dict[str, list[int]] = {}

    def take(self, number: int, place: str, alternatives: int, actors: list[int]) -> int:
        """What the other strategy takes."""
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
    """What came out of a run whose process ended with a wait status; None if an interrupt has ended the run."""
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
