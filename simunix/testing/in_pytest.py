"""Connects an explored test with pytest: puts the explorer in place of the test's body, also if Hypothesis calls the body."""

from __future__ import annotations

import contextlib
import sys
import warnings
from functools import wraps
from types import TracebackType
from typing import Any

import pytest

from simunix.explore.capsule import Capsule, write_capsule
from simunix.explore.story import story
from simunix.testing.cluster import Cluster
from simunix.testing.exploring import Body, Explorer, TestOptions
from simunix.testing.program import CompilerMissingError

FOLDER = "capsule"


class Explored:
    """A context in which the item's test is explored, or repeated by a capsule."""

    def __init__(self, item: pytest.Function, cluster: Cluster, seeds: int, minimise_s: float, capsule: Capsule | None) -> None:
        self._item, self._capsule, self._seeds = item, capsule, seeds
        self._directory = cluster.options.directory
        self._handle = getattr(item.obj, "hypothesis", None)
        """The object in which Hypothesis stores the body of a test with @given."""
        self._body: Body = item.obj if self._handle is None else self._handle.inner_test
        options = TestOptions(file=item.path, test=item.nodeid, seeds=seeds, minimise_s=minimise_s, is_failure=is_failure)
        self._minimises = minimise_s > 0
        self.explorer = Explorer(cluster, self._body, options)

    def __enter__(self) -> Explored:
        @wraps(self._body)
        def explored(*words: Any, **arguments: Any) -> None:
            __tracebackhide__ = True
            self._call(*words, **arguments)

        self._put(explored)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._put(self._body)

    def _put(self, body: Body) -> None:
        if self._handle is None:
            self._item.obj = body
        else:
            self._handle.inner_test = body

    def _call(self, *words: Any, **arguments: Any) -> None:
        __tracebackhide__ = True
        if self._capsule is None:
            self.explorer(*words, **arguments)
        elif not self.explorer.repeat(self._capsule, *words, **arguments):
            text = "the capsule's choices do not fit this run: its programs are others now"
            warnings.warn(pytest.PytestWarning(text), stacklevel=2)

    def conclude(self, error: BaseException | None) -> tuple[str, BaseException | None]:
        """Reduce the failure to a small case, and keep it; return its story, and the exception with which the test is
        to end, if that is not `error`. An exception of Hypothesis is not replaced, because it names the arguments.
        """
        failed = self.explorer.failed
        if failed is None or error is None or not is_failure(error):
            return "", None
        if self._minimises:
            self.explorer.minimise()
        path = self._directory / FOLDER
        capsule = self.explorer.keep(path)
        write_capsule(capsule, None, path)
        head = f"failed by seed {capsule.seed} ({capsule.strategy}) of {self._seeds}"
        if not self.explorer.is_repeatable:
            head += "; not when repeated: the test depends on more than its cluster, such as the clock or a file outside"
        elif self._minimises:
            head += f"; made small in {self.explorer.runs} runs"
        again = f"again: pytest '{capsule.test}' --simunix-replay={path}"
        lines = [head, *(f"  {line}" for line in story(capsule)), f"capsule: {path}", again]
        failed = self.explorer.failed
        return "\n".join(lines), None if self._handle is not None or failed is None else failed.error


def is_failure(error: BaseException) -> bool:
    """Return whether an exception means that a test has failed.

    Skips, interrupts, and exceptions by which Hypothesis controls the test do not.
    """
    steering = getattr(sys.modules.get("hypothesis.errors"), "HypothesisException", ())
    if isinstance(error, (CompilerMissingError, pytest.skip.Exception, steering)):
        return False
    return isinstance(error, (Exception, pytest.fail.Exception))


def prepare_hypothesis(item: pytest.Function) -> None:
    """Switch off Hypothesis' limits of time and of fixtures for an explored test. A call that explores takes longer
    than Hypothesis' deadline, and the fixture's scope does no harm, since the cluster begins anew with each call.
    """
    if getattr(item.obj, "hypothesis", None) is None:
        return
    from hypothesis import HealthCheck, settings

    function: Any = getattr(item.obj, "__func__", item.obj)
    now: Any = getattr(function, "_hypothesis_internal_use_settings", None) or settings.default
    checks = {*now.suppress_health_check, HealthCheck.function_scoped_fixture, HealthCheck.too_slow}
    with contextlib.suppress(AttributeError):
        function._hypothesis_internal_use_settings = settings(now, deadline=None, suppress_health_check=list(checks))
