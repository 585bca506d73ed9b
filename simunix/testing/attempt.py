"""Execute one run of a test's emulated cluster: limit it in real time, record it, and describe it if it fails."""

from __future__ import annotations

import functools
import tempfile
import time
from dataclasses import dataclass, field, replace
from operator import methodcaller
from pathlib import Path
from typing import Protocol

from rsg_server.diagnosis.stalls import seconds
from rsg_server.errors import SimunixError, StallError
from simunix.app.runner import ScenarioOptions, job_rows, make_record
from simunix.launch.emulation import Emulation
from simunix.launch.factory.container import Isolation
from simunix.launch.factory.probe import probe
from simunix.launch.run_directory import RunDirectory
from simunix.launch.supervisor import Supervised
from simunix.planning.expand import Expansion
from simunix.results.choices_file import NAME as CHOICES
from simunix.results.choices_file import made_by, write_choices
from simunix.scenario.model import Scenario
from simunix.testing.course import Course
from simunix.testing.description import WORK_FOLDER, Description
from simunix.testing.result import RunResult

# pytest shows the line of the test, and not lines of this module
__tracebackhide__ = methodcaller("errisinstance", SimunixError)


class RunFailedError(SimunixError):
    """The error that a program has failed without which the run cannot go on."""


class Limits(Protocol):
    """The options of a cluster that limit and describe a run."""

    @property
    def wall_limit_s(self) -> float:
        """The most real seconds that a run of the test's cluster may take."""

    @property
    def source(self) -> Path:
        """The file that describes the cluster, which is the file of the test."""


@functools.cache
def isolation() -> tuple[Isolation, str]:
    """Return the best isolation of hosts that this computer allows, and a text on what is missing. The result is kept
    for later calls.
    """
    return probe((Path(tempfile.gettempdir()),))


@dataclass(eq=False, slots=True)
class Attempt:
    """A run of a cluster, from its preparation on. `problem` is the error that ended the run, if there was one."""

    emulation: Emulation
    scenario: Scenario
    expansion: Expansion
    limits: Limits
    problem: SimunixError | None = None
    result: RunResult | None = None
    is_over: bool = False
    _end_ns: int = 0
    _deadline: float = field(default=0.0)

    @classmethod
    def prepare(
        cls,
        description: Description,
        directory: RunDirectory,
        until_ns: int | None,
        limits: Limits,
        course: Course | None = None,
    ) -> Attempt:
        """Make the plan and the run directory for a test's cluster, without starting the run; an explored run has a course."""
        scenario, expansion = description.finished_scenario(course)
        kind, _ = isolation()
        plan = description.plan(expansion, kind, directory, course)
        if until_ns is not None:
            plan = replace(plan, until_ns=until_ns)
        directory.path.mkdir(parents=True, mode=0o700)
        emulation = Emulation(plan, directory, warn=lambda text: None, isolation=kind, lists_waiting=True)
        for host in plan.hosts:
            directory.private(host.name, WORK_FOLDER).mkdir(parents=True, exist_ok=True)
        return cls(emulation, scenario, expansion, limits)

    @property
    def directory(self) -> RunDirectory:
        """The run directory of this run of a test's cluster."""
        return self.emulation.directory

    @property
    def now_ns(self) -> int:
        """The present virtual time, in nanoseconds since the start of the run."""
        return self._end_ns if self.is_over else self.emulation.kernel.now_ns

    def entry(self, host: str, name: str) -> Supervised:
        """Return the supervisor's record of a process."""
        return next(entry for entry in self.emulation.supervised if (entry.spec.host, entry.spec.name) == (host, name))

    def run(self) -> RunResult:
        """Run to the end.

        Raises the error that ended the run: a deadlock, a stall, the failure of a process without which the run cannot
        go on.
        """
        emulation = self.emulation
        self._deadline = time.monotonic() + self.limits.wall_limit_s
        try:
            emulation.run(self._watch)
            if emulation.failure is not None:
                raise RunFailedError(emulation.failure)
        except SimunixError as error:
            emulation.note_failure(error)
            self.problem = error
            # without its traceback, since the place in the server where the error was found does not help a test's
            # author
            raise error.with_traceback(None) from None
        finally:
            self._end_ns = emulation.kernel.now_ns
            self.is_over = True
            self.result = self._record()
            emulation.close()
        return self.result

    def _watch(self, emulation: Emulation) -> None:
        """Raise StallError after the limit of real time, so that neither a busy program nor an endless run can block
        tests.
        """
        if time.monotonic() < self._deadline:
            return
        limit_s = self.limits.wall_limit_s
        turns = emulation.service.turns
        if turns.holder is not None:
            raise StallError(
                emulation.service.stall_report(turns.listener.runner(turns.holder), time.monotonic() - turns.holder_since)
            )
        head = f"still running after {limit_s:g} s of wall time, at {seconds(emulation.kernel.now_ns)} of virtual time"
        lines = ["  " + line for line in emulation.service.actor_lines()]
        raise StallError("\n".join([f"{head}; give until=, or raise simunix_wall_limit", *lines]))

    def _record(self) -> RunResult:
        """Write run.json, and the choices of an explored run; return the results that a test may ask for."""
        emulation = self.emulation
        rows = job_rows(self.scenario, self.expansion, self.emulation)
        record = make_record(ScenarioOptions(path=self.limits.source), self.scenario, self.expansion, emulation, rows)
        record.write(self.directory.path / "run.json")
        choices = emulation.plan.kernel.choices
        if choices is not None:
            write_choices(self.directory.path / CHOICES, made_by(choices))
        return RunResult(
            directory=self.directory.path,
            ended=record.ended,
            virtual_s=record.virtual_s,
            digest=record.events_sha256,
            turns=record.turns,
            is_deterministic=record.deterministic,
            warnings=tuple(record.warnings),
            waiting=tuple(emulation.waiting),
            jobs=tuple(rows),
        )
