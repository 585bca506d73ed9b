"""Makes an exploration: runs seed after seed, keeps failing runs, and reduces the first failure of each kind to a small
case.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rsg_server.errors import SimunixError
from simunix.checks.commands import name_of
from simunix.explore import nemesis
from simunix.explore.attempt import RUN, Attempt, Outcome
from simunix.explore.capsule import RUN as CAPSULE_RUN
from simunix.explore.capsule import Capsule, keep_inputs, programs_of, read_capsule, write_capsule
from simunix.explore.minimise import Minimiser
from simunix.explore.pool import Pool, kept
from simunix.explore.record import FAILURES, SEEDS, Row, SeedsFile, claim_settings, row_of
from simunix.explore.report import write_report
from simunix.explore.seeds import Seed, seed_of
from simunix.explore.story import story
from simunix.explore.terminal import Terminal
from simunix.launch.claims import claim
from simunix.launch.interrupts import Interrupts
from simunix.planning.expand import expand
from simunix.results.run_json import sha256_of
from simunix.rjms.scenario import load
from simunix.scenario.model import Scenario

FOUND, NOTHING_FOUND = 1, 0
ATTEMPTS = "attempts"
LOCK = ".lock"
LARGEST_NAME = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """The options of `simunix explore`. `seconds` and `minimise_s` are real time; None: without limit."""

    path: Path
    out: Path
    overrides: tuple[str, ...] = ()
    first_seed: int = 0
    seeds: int = 1000
    jobs: int = 1
    seconds: float | None = None
    strategy: str = "portfolio"
    stops_at_first: bool = False
    checks_determinism: bool = False
    minimise_s: float = 60.0


@dataclass(slots=True)
class Progress:
    """The state of the exploration: rows by seed, seeds by the signature of their failure, the `sometimes` checks that
    were reached, and runs that could not be made.
    """

    rows: dict[int, Row] = field(default_factory=dict)
    failures: dict[str, list[int]] = field(default_factory=dict)
    reached: dict[str, int] = field(default_factory=dict)
    unequal: list[int] = field(default_factory=list)
    new: int = 0

    def add(self, row: Row) -> None:
        """Add the row of a seed to the counts."""
        self.rows[row.seed] = row
        for signature in row.failed[:1]:
            self.failures.setdefault(signature, []).append(row.seed)
        for name in row.reached:
            self.reached[name] = self.reached.get(name, 0) + 1


class Exploration:
    """Explores a scenario in a folder; `run` may be called once."""

    def __init__(
        self, options: ExploreOptions, scenario: Scenario, inputs: Iterable[Path], interrupts: Interrupts, terminal: Terminal
    ) -> None:
        self._options, self._scenario, self._inputs = options, scenario, tuple(inputs)
        self._interrupts, self._terminal = interrupts, terminal
        self._folder = options.out.resolve()
        self._seeds_file = SeedsFile(self._folder / SEEDS)
        self._pool: Pool[tuple[Seed, str]] = Pool(self._folder / ATTEMPTS, options.jobs, interrupts)
        self._found = nemesis.targets(scenario, scenario.nemesis) if scenario.nemesis is not None else None
        self._until = time.monotonic() + options.seconds if options.seconds is not None else None
        self.progress = Progress()

    def run(self) -> int:
        """Explore the scenario; return the exit code."""
        for row in self._seeds_file.read():
            self.progress.add(row)
        self._terminal.begin(self._options.seeds, len(self.progress.rows))
        try:
            self._measure()
            self._search()
            if not self._interrupts.came:
                self._minimise_all()
        finally:
            self._pool.close()
        report = write_report(self._folder, self._scenario)
        self._terminal.end(self.progress, self._folder, self._never_reached(), self._interrupts.came, report)
        if self._interrupts.came:
            return self._interrupts.code
        is_bad = self.progress.failures or self.progress.unequal or self._never_reached()
        return FOUND if is_bad else NOTHING_FOUND

    def _never_reached(self) -> list[str]:
        """Return the names of the `sometimes` checks that no run has reached."""
        names = [name_of(section, index) for index, section in enumerate(self._scenario.check) if section.sometimes is not None]
        return [name for name in names if name not in self.progress.reached]

    # The search

    def _measure(self) -> None:
        """Run seed 0, to learn how many choices and turns a run has: other seeds draw their moments from these numbers."""
        if 0 not in self.progress.rows:
            self._pool.start((seed_of(0), ""), self._attempt(seed_of(0)))
            self._collect()

    def _search(self) -> None:
        waiting = self._numbers()
        number = next(waiting, None)
        while (number is not None or len(self._pool)) and not self._interrupts.came:
            while number is not None and not self._pool.is_full and not self._is_over():
                seed = seed_of(number, self._options.strategy)
                self._pool.start((seed, ""), self._attempt(seed))
                number = next(waiting, None)
            if not len(self._pool):
                return
            self._collect()

    def _numbers(self) -> Iterator[int]:
        first = self._options.first_seed
        return (number for number in range(first, first + self._options.seeds) if number not in self.progress.rows)

    def _is_over(self) -> bool:
        is_late = self._until is not None and time.monotonic() > self._until
        return is_late or (self._options.stops_at_first and bool(self.progress.failures))

    def _collect(self) -> None:
        for (seed, digest), outcome, folder in self._pool.ended(lambda: self._terminal.tick(self.progress)):
            if outcome.problem:
                raise SimunixError(f"seed {seed.number}: {outcome.problem}")
            if self._options.checks_determinism and not digest:
                self._pool.start((seed, outcome.digest), self._attempt(seed))
                continue
            if digest and digest != outcome.digest:
                self.progress.unequal.append(seed.number)
            self._ended(seed, outcome, folder)

    def _ended(self, seed: Seed, outcome: Outcome, folder: Path) -> None:
        row = row_of(seed, len(self._events(seed)), outcome)
        is_new = bool(row.failed) and row.failed[0] not in self.progress.failures
        self.progress.add(row)
        self.progress.new += 1
        if is_new:
            self._keep(seed, outcome, folder)
        self._seeds_file.append(row)
        self._terminal.ended(row, is_new)
        if is_new:
            write_report(self._folder, self._scenario, is_over=False)

    def _events(self, seed: Seed) -> tuple[dict[str, Any], ...]:
        section = self._scenario.nemesis
        if section is None or self._found is None:
            return ()
        return tuple(nemesis.faults_of(seed.number, section, self._found))

    def _attempt(self, seed: Seed) -> Attempt:
        measured = self.progress.rows.get(0)
        choices, turns = (measured.choices, measured.turns) if measured is not None else (0, 0)
        strategy, random_seed = seed.make(choices, turns), self._scenario.seed + seed.number
        return Attempt(self._options.path, self._options.overrides, random_seed, self._events(seed), strategy)

    # Failures

    def _keep(self, seed: Seed, outcome: Outcome, folder: Path) -> None:
        """Keep the first failure of a kind as a capsule, together with its run."""
        path = self._folder / FAILURES / named(outcome.signatures[0])
        kept(folder / RUN, path / CAPSULE_RUN)
        capsule = Capsule(
            folder=str(self._options.path.parent.resolve()),
            overrides=self._options.overrides,
            events=self._events(seed),
            seed=seed.number,
            random_seed=self._scenario.seed + seed.number,
            strategy=seed.strategy,
            signature=outcome.signatures[0],
            findings=outcome.findings,
            digest=outcome.digest,
            programs=programs_of(path / CAPSULE_RUN),
            choices=outcome.taken,
            count=outcome.choices,
        )
        keep_inputs(self._options.path.parent, self._inputs, path)
        write_capsule(capsule, self._options.path, path)

    def _minimise_all(self) -> None:
        for signature in self.progress.failures:
            path = self._folder / FAILURES / named(signature)
            capsule = read_capsule(path)
            if self._options.minimise_s > 0 and self.progress.new and (capsule.events or capsule.choices):
                minimiser = Minimiser(
                    self._options.path,
                    capsule,
                    self._folder / ATTEMPTS,
                    path / CAPSULE_RUN,
                    plain_seed=self._scenario.seed,
                    jobs=self._options.jobs,
                    seconds=self._options.minimise_s,
                    interrupts=self._interrupts,
                    tick=self._terminal.say,
                )
                capsule = minimiser.minimise().capsule
                write_capsule(replace(capsule, programs=programs_of(path / CAPSULE_RUN)), self._options.path, path)
            self._terminal.failure(capsule, self.progress.failures[signature], path, story(capsule))


def named(signature: str) -> str:
    """Return the name of the folder of a failure: words of its signature, and a checksum that distinguishes the failure
    from similar ones.
    """
    words = re.sub(r"[^a-z0-9]+", "-", signature.lower()).strip("-")[:LARGEST_NAME].rstrip("-")
    return f"{words}-{hashlib.sha256(signature.encode()).hexdigest()[:8]}"


def explore(options: ExploreOptions) -> int:
    """Explore a scenario; return the exit code: 0 if nothing was found, 1 if something was."""
    scenario = load(options.path, options.overrides)
    plan = expand(scenario, options.path.parent).plan  # a scenario that cannot run at all is reported before the first seed
    try:
        options.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimunixError(f"--out {options.out}: {error.strerror}; choose another folder") from error
    settings = {
        "scenario": sha256_of(options.path),
        "overrides": list(options.overrides),
        "strategy": options.strategy,
    }
    claim_settings(options.out, settings)
    with claim(options.out / LOCK, f"--out {options.out}"), Interrupts() as interrupts, Terminal() as terminal:
        return Exploration(options, scenario, plan.inputs.values(), interrupts, terminal).run()
