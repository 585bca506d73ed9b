"""Explores a test: calls its body again and again, each time with another seed, and reduces the first failure to a small case.

Each seed gives a course of events (simunix.explore.seeds). Before each call, the cluster is reset to the state that the
test's fixtures have described. If Hypothesis draws arguments, all seeds try each set of arguments, so that Hypothesis
always gets the same answer for the same arguments, and can make the arguments small. After that, the choices and faults
are reduced.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from operator import methodcaller
from pathlib import Path
from typing import Any

from rsg_server.choices.source import Choice
from rsg_server.choices.strategies import Recorded
from simunix.explore.capsule import Capsule
from simunix.explore.findings import Finding
from simunix.explore.seeds import Seed, seed_of
from simunix.explore.shrink import shrink
from simunix.launch.run_directory import remove_tree
from simunix.testing.cluster import Cluster
from simunix.testing.course import Course, Event

__tracebackhide__ = methodcaller("errisinstance", BaseException)  # a test's reader looks for the test's own line

Body = Callable[..., Any]
LONGEST_TEXT = 300
"""The most characters of an exception that the story of a failure contains."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestOptions:
    """How a test is explored: file and node id of the test, how many seeds, and seconds of wall time to make a failure small.

    `is_failure` returns whether an exception of the test means that the test has failed.
    """

    __test__ = False

    file: Path
    test: str
    seeds: int
    minimise_s: float
    is_failure: Callable[[BaseException], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A call of the test that has failed: its arguments, its course of events, and the exception."""

    seed: Seed
    arguments: tuple[tuple[Any, ...], dict[str, Any]]
    shift: int
    events: tuple[Event, ...]
    choices: tuple[Choice, ...]
    count: int
    error: BaseException
    finding: Finding
    digest: str
    folder: Path


class Explorer:
    """Explores one test; pytest calls the object in place of the test's body."""

    def __init__(self, cluster: Cluster, body: Body, options: TestOptions) -> None:
        self._cluster, self._body, self._options = cluster, body, options
        self._described, self._directory = cluster.described(), cluster.options.directory
        self._folders = 0
        self.failed: Failed | None = None
        self.runs = 0
        """The number of calls of the body that were made to reduce the failure."""
        self.is_repeatable = True
        """Whether the failure occurred again when its choices were repeated."""

    def __call__(self, *words: Any, **arguments: Any) -> None:
        """Call the body with all seeds, until one fails. Raises the exception that the body raises."""
        choices = turns = 0
        for number in range(self._options.seeds):
            seed = seed_of(number)
            course = Course.of(seed.make(choices, turns), number, number)
            failed = self._tried(seed, course, (words, arguments))
            if failed is not None:
                self.failed = failed
                raise failed.error
            if number == 0:
                choices, turns = course.choices.count, self._turns()

    def _turns(self) -> int:
        results = [attempt.result for attempt in self._cluster.attempts]
        return sum(result.turns for result in results if result is not None)

    def repeat(self, capsule: Capsule, *words: Any, **arguments: Any) -> bool:
        """Call the body with the choices of a capsule; return whether the choices fit the run.

        Raises the exception that the body raises.
        """
        strategy = Recorded(capsule.choices)
        course = Course.of(strategy, capsule.seed, capsule.random_seed, capsule.events)
        failed = self._tried(Seed(capsule.seed, capsule.strategy), course, (words, arguments))
        if failed is not None:
            raise failed.error
        return strategy.departure is None

    def _tried(
        self,
        seed: Seed,
        course: Course,
        arguments: tuple[tuple[Any, ...], dict[str, Any]],
        folder: Path | None = None,
    ) -> Failed | None:
        """Call the body once; return the failure, whose runs are kept below `folder`, or None."""
        if folder is None:
            self._folders += 1
            folder = self._directory / f"call-{self._folders}"
        self._cluster.begin_again(self._described, folder, course)
        failed = None
        try:
            self._body(*arguments[0], **arguments[1])
        except BaseException as error:
            if not self._options.is_failure(error):
                raise
            failed = self._failed(seed, course, arguments, error)
        if failed is None and folder.exists():
            remove_tree(folder)
        return failed

    def _failed(
        self, seed: Seed, course: Course, arguments: tuple[tuple[Any, ...], dict[str, Any]], error: BaseException
    ) -> Failed:
        attempts = self._cluster.attempts
        result = attempts[-1].result if attempts else None
        return Failed(
            seed=seed,
            arguments=arguments,
            shift=course.shift,
            events=course.events or (),
            choices=tuple(course.choices.taken),
            count=course.choices.count,
            error=error,
            finding=self._finding(error),
            digest=result.digest if result is not None else "",
            folder=self._cluster.options.directory,
        )

    def _finding(self, error: BaseException) -> Finding:
        """Return the finding for a failure: its place is the line of the test, its kind the class of the exception,
        which distinguishes failures of one line.
        """
        frames = traceback.extract_tb(error.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename) == self._options.file]
        first = f"{type(error).__name__}: {error}".splitlines()[0][:LONGEST_TEXT]
        return Finding(type(error).__name__, f"{self._options.file.name}:{lines[-1] if lines else '?'}", first)

    # Reducing the failure to a small case

    def minimise(self) -> None:
        """Leave out changed random numbers, faults and choices of the failure, as long as the test fails in the same way."""
        assert self.failed is not None
        end = time.monotonic() + self._options.minimise_s
        if not self._again(self.failed):
            self.is_repeatable = False
            return
        if self.failed.shift and time.monotonic() < end:
            self._again(replace(self.failed, shift=0))

        def with_events(candidates: list[list[Event]]) -> list[Event] | None:
            found = self._first([replace(self._now(), events=tuple(each)) for each in candidates], end)
            return None if found is None else list(found.events)

        def with_choices(candidates: list[list[Choice]]) -> list[Choice] | None:
            found = self._first([replace(self._now(), choices=tuple(each)) for each in candidates], end)
            return None if found is None else list(found.choices)

        shrink(self.failed.events, with_events)
        shrink(self.failed.choices, with_choices)

    def _now(self) -> Failed:
        assert self.failed is not None
        return self.failed

    def _first(self, candidates: list[Failed], end: float) -> Failed | None:
        for candidate in candidates:
            if time.monotonic() > end:
                return None
            if self._again(candidate):
                return self.failed
        return None

    def _again(self, candidate: Failed, folder: Path | None = None) -> bool:
        """Call the body with a candidate's choices; return whether the test fails in the same way, in which case this
        failure becomes the result.
        """
        self.runs += 1
        course = Course.of(Recorded(candidate.choices), candidate.seed.number, candidate.shift, candidate.events)
        try:
            failed = self._tried(candidate.seed, course, candidate.arguments, folder)
        except Exception:  # an error such as an argument that Hypothesis cannot draw again is no failure of the test
            failed = None
        if failed is not None and _place(failed.finding) == _place(candidate.finding):
            if self.failed is not None and self.failed.folder != failed.folder and self.failed.folder.exists():
                remove_tree(self.failed.folder)
            self.failed = failed
            return True
        if failed is not None and failed.folder.exists():
            remove_tree(failed.folder)
        return False

    def keep(self, folder: Path) -> Capsule:
        """Call the body once more with the failure's choices, with its runs in the folder of a capsule; return the capsule."""
        failed = self._now()
        if self.is_repeatable:
            self.is_repeatable = self._again(failed, folder)
            failed = self._now()
        return Capsule(
            folder=str(self._options.file.parent),
            overrides=(),
            events=failed.events,
            seed=failed.seed.number,
            random_seed=failed.shift,
            strategy=failed.seed.strategy,
            signature=f"test: {failed.finding.where}: {failed.finding.kind}",
            findings=(replace(failed.finding, kind="test").as_json(),),
            digest=failed.digest,
            programs={},
            choices=failed.choices,
            count=failed.count,
            test=self._options.test,
        )


def _place(finding: Finding) -> tuple[str, str]:
    return finding.kind, finding.where
