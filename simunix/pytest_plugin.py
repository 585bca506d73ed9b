"""The pytest plugin of simunix: the fixture `emulation`, the marker `simunix`, and the sections about the run and the
exploration in the report of a failing test.

simunix.testing and simunix.launch run everything; they are imported when a test first asks for the fixture, so that test suites
that do not use the fixture pay nothing.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
import shlex
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from simunix.explore.capsule import Capsule
    from simunix.scenario.model import Scenario
    from simunix.testing import Cluster

MARKER = "simunix(seed=0, scenario=None, until=None, explore=1): how the fixture `emulation` begins and ends, by how many seeds"
INI = {
    "simunix_keep": ("which tests' run directories are kept: failed (default), all or none", "failed"),
    "simunix_wall_limit": ("seconds of real time that one run may take (default: 60)", "60"),
    "simunix_minimise": ("seconds of real time for making the failure of an explored test small (default: 30)", "30"),
    "simunix_cc": ("the C compiler (default: cc, else gcc)", ""),
    "simunix_cflags": ("flags of the C compiler (default: -O1 -g -Wall -pthread)", "-O1 -g -Wall -pthread"),
}
KEEP = ("failed", "all", "none")
CLUSTER = pytest.StashKey["Cluster"]()
FAILED = pytest.StashKey[bool]()
EXPLORED = pytest.StashKey[str]()
"""The key under which a test item stores the section about its exploration, for the report of a failure."""
CAPSULE = pytest.StashKey["Capsule"]()
"""The key under which the session stores the capsule that --simunix-replay repeats."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The values of all markers of one test; for each key, the marker nearest to the test decides."""

    seed: int | None = None
    scenario: str | Path | None = None
    until: str | float | None = None
    explore: int | None = None


class MarkError(Exception):
    """Raised for a marker with wrong values."""


# Options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the plugin's command-line options and ini values."""
    group = parser.getgroup("simunix", "emulated clusters (simunix)")
    group.addoption("--simunix-keep", action="store_true", help="keep all run directories, not only those of failed tests")
    group.addoption("--simunix-seed", type=int, metavar="N", help="seed of all emulations, instead of the markers' seeds")
    group.addoption("--simunix-explore", type=int, metavar="N", help="explore with N seeds each test whose marker has explore=")
    group.addoption(
        "--simunix-replay", type=Path, metavar="CAPSULE", help="repeat the failed run of a capsule, and run no other test"
    )
    for name, (words, default) in INI.items():
        parser.addini(name, words, default=default)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; check the ini values before any test runs."""
    config.addinivalue_line("markers", MARKER)
    if config.getini("simunix_keep") not in KEEP:
        raise pytest.UsageError(f"simunix_keep: expected one of {', '.join(KEEP)}, got {config.getini('simunix_keep')!r}")
    if not ini_seconds(config, "simunix_wall_limit") > 0:
        got = config.getini("simunix_wall_limit")
        raise pytest.UsageError(f"simunix_wall_limit: expected seconds of real time above 0, got {got!r}")
    if not ini_seconds(config, "simunix_minimise") >= 0:
        got = config.getini("simunix_minimise")
        raise pytest.UsageError(f"simunix_minimise: expected seconds of real time from 0 on, got {got!r}")
    if (seeds := config.getoption("--simunix-explore")) is not None and seeds < 1:
        raise pytest.UsageError(f"--simunix-explore: expected at least 1, got {seeds}")
    if (path := config.getoption("--simunix-replay")) is not None:
        config.stash[CAPSULE] = capsule_at(path)


def ini_seconds(config: pytest.Config, name: str) -> float:
    """Return the number of seconds that an ini value means; -1 if the value is no number."""
    try:
        return float(config.getini(name))
    except ValueError:
        return -1.0


def capsule_at(path: Path) -> Capsule:
    """Return the capsule of the option --simunix-replay. Raises UsageError if the folder is not the capsule of a test."""
    from rsg_server.errors import SimunixError
    from simunix.explore.capsule import read_capsule

    try:
        capsule = read_capsule(path)
    except SimunixError as error:
        raise pytest.UsageError(f"--simunix-replay: {error}") from error
    if not capsule.test:
        raise pytest.UsageError(f"--simunix-replay: {path} is the capsule of a scenario; repeat it by: simunix replay {path}")
    return capsule


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect, with the option --simunix-replay, all tests but the test of the capsule."""
    capsule = config.stash.get(CAPSULE, None)
    if capsule is None:
        return
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid != capsule.test])
    items[:] = [item for item in items if item.nodeid == capsule.test]
    if not items:
        raise pytest.UsageError(f"--simunix-replay: the capsule is of {capsule.test}, which is not among the tests to be run")


# Markers


def read_marks(item: pytest.Item) -> Mark:
    """Return the values of all markers of a test together. Raises MarkError."""
    known = dict.fromkeys(Mark.__slots__)
    values: dict[str, Any] = {}
    for mark in item.iter_markers("simunix"):  # the marker nearest to the test comes first
        unknown = [key for key in mark.kwargs if key not in known]
        if mark.args or unknown:
            what = f"unknown argument {unknown[0]!r}" if unknown else f"unexpected positional argument {mark.args[0]!r}"
            raise MarkError(f"{what}; known: {', '.join(f'{key}=' for key in known)}")
        for key, value in mark.kwargs.items():
            values.setdefault(key, value)
    seed = values.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise MarkError(f"seed: expected a whole number from 0 on, got {seed!r}")
    seeds = values.get("explore")
    if seeds is not None and (isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1):
        raise MarkError(f"explore: expected how many seeds, a whole number from 1 on, got {seeds!r}")
    if seeds is not None and inspect.iscoroutinefunction(getattr(item, "obj", None)):
        raise MarkError("explore: the test is a coroutine, which cannot be called by several seeds; make it a plain function")
    return Mark(**values)


def find_scenario(item: pytest.Item, wanted: object) -> Path:
    """Return the path of a scenario file that a marker names, relative to the test's folder or to the root of the test suite.

    Raises MarkError.
    """
    if not isinstance(wanted, (str, Path)):
        raise MarkError(f"scenario: expected the path of a scenario file, got {wanted!r}")
    folders = (item.path.parent, item.config.rootpath)
    for folder in folders:
        if (folder / wanted).is_file():
            return folder / wanted
    raise MarkError(f"scenario: no such file {str(wanted)!r} in {' or '.join(map(str, dict.fromkeys(folders)))}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test that has the marker but not the fixture: the marker would have no effect, unnoticed."""
    if item.get_closest_marker("simunix") and "emulation" not in getattr(item, "fixturenames", ()):
        pytest.fail(f"{item.nodeid}: @pytest.mark.simunix: the test does not use the fixture 'emulation'", pytrace=False)


# The fixture


@pytest.fixture
def emulation(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A small emulated cluster in virtual time: add hosts, start programs on them, run the cluster, and check what the
    programs did.
    """
    from rsg_server.errors import SimunixError
    from simunix.launch.run_directory import remove_tree

    item = request.node
    name = re.sub(r"\W+", "_", item.name)[:40].strip("_")
    directory = tmp_path_factory.mktemp(f"simunix-{name}-")
    problem = ""
    try:
        item.stash[CLUSTER] = make_cluster(item, directory)
    except (MarkError, SimunixError) as error:
        problem = str(error)
    if problem:  # pytest.fail here makes pytest show this one line, and no traceback
        directory.rmdir()
        pytest.fail(f"{item.nodeid}: @pytest.mark.simunix: {problem}", pytrace=False)
    if explores(item):
        from simunix.testing.in_pytest import prepare_hypothesis

        prepare_hypothesis(item)
    yield item.stash[CLUSTER]
    if not is_kept(item):
        remove_tree(directory)


def make_cluster(item: pytest.Item, directory: Path) -> Cluster:
    """Return the cluster of a test, as the test's markers and the options say. Raises MarkError or SimunixError."""
    from simunix.rjms.scenario import load
    from simunix.testing import Cluster, ClusterOptions
    from simunix.units import duration_ns

    mark = read_marks(item)
    try:
        until_ns = None if mark.until is None else duration_ns(mark.until)
    except ValueError as error:
        raise MarkError(f"until: {error}") from error
    path = None if mark.scenario is None else find_scenario(item, mark.scenario)
    scenario: Scenario | None = None if path is None else load(path)
    seed = item.config.getoption("--simunix-seed")
    config = item.config
    return Cluster(
        ClusterOptions(
            directory,
            compiler_of(config, directory),
            item.path,
            scenario,
            path,
            mark.seed if seed is None else seed,
            until_ns,
            float(config.getini("simunix_wall_limit")),
        )
    )


def compiler_of(config: pytest.Config, directory: Path) -> Any:
    """Return the C compiler for test programs; compiled programs are kept in pytest's cache, if the cache can be written to."""
    from simunix.testing.program import CCompiler

    cache = getattr(config, "cache", None)
    folder = directory / "programs"
    with contextlib.suppress(OSError):
        cached = folder if cache is None else cache.mkdir("simunix-programs")
        folder = cached if os.access(cached, os.W_OK) else folder
    return CCompiler(folder, shlex.split(config.getini("simunix_cflags")), config.getini("simunix_cc") or None)


def explores(item: pytest.Item) -> bool:
    """Return whether a test is explored, or whether the failure of an explored test is repeated."""
    return CLUSTER in item.stash and (CAPSULE in item.config.stash or read_marks(item).explore is not None)


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, Any, None]:
    """Explore a test whose marker has the key `explore`; skip, with a reason, a test that needs a C compiler if there
    is none.
    """
    if not explores(pyfuncitem):
        outcome = yield
    else:
        from simunix.testing.in_pytest import Explored

        seeds = pyfuncitem.config.getoption("--simunix-explore") or read_marks(pyfuncitem).explore or 1
        minimise_s = ini_seconds(pyfuncitem.config, "simunix_minimise")
        capsule = pyfuncitem.config.stash.get(CAPSULE, None)
        with Explored(pyfuncitem, pyfuncitem.stash[CLUSTER], seeds, minimise_s, capsule) as explored:
            outcome = yield
        error = None if outcome.excinfo is None else outcome.excinfo[1]
        told, other = explored.conclude(error)
        if told:
            pyfuncitem.stash[EXPLORED] = told
        if other is not None:
            outcome.force_exception(other)
    if CLUSTER in pyfuncitem.stash and outcome.excinfo is not None:
        from simunix.testing.program import CompilerMissingError

        if isinstance(outcome.excinfo[1], CompilerMissingError):
            outcome.force_exception(pytest.skip.Exception(str(outcome.excinfo[1])))


# Run directories that are kept, and sections of reports


def is_kept(item: pytest.Item) -> bool:
    """Return whether the run directory is kept after the test."""
    policy = "all" if item.config.getoption("--simunix-keep") else item.config.getini("simunix_keep")
    return bool(policy == "all" or (policy == "failed" and item.stash.get(FAILED, False)))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Add to the report of a failing test what its emulation did, and where the other files of the run are."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()
    cluster = item.stash.get(CLUSTER, None)
    if cluster is None or not report.failed:
        return
    item.stash[FAILED] = True
    if report.when != "teardown":
        from simunix.testing.account import sections_of

        if EXPLORED in item.stash:
            report.sections.append(("simunix: exploration", item.stash[EXPLORED]))
        report.sections.extend(sections_of(cluster, is_kept(item)))
