"""Fixtures and functions for all tests: the command line under test, and which tests this computer can run."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import starts
from tests.needs import needs
from tests.starts import ROOT as ROOT

# A submission is judged on the same examples every time; a developer's own runs explore (HYPOTHESIS_PROFILE=default).
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Every run of a test verifies the invariants at each turn, unless the test or its caller says otherwise.
os.environ.setdefault("SIMUNIX_CHECK", "1")

PLUGIN = "simunix.pytest_plugin"
# Installed packages announce the plugin themselves; a tree that was installed before it had one does not.
IS_ANNOUNCED = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))
pytest_plugins = ["pytester"] if IS_ANNOUNCED else ["pytester", PLUGIN]


def hear_signals() -> None:
    """Let the children of the tests begin with the default disposition of every signal, also under nohup or in the background.

    A signal that this process ignores stays ignored, by a handler that does nothing: exec(2) resets handlers, not SIG_IGN.
    """
    ignored_by_python = {signal.SIGPIPE, signal.SIGXFSZ}  # subprocess restores these
    for number in signal.valid_signals() - ignored_by_python:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


hear_signals()
Simunix = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def simunix() -> Simunix:
    """Runs `simunix ARGUMENTS`; the result has returncode, stdout, stderr. Stdin is empty, wall time bounded.

    `fresh=True` starts it as a user does: see tests/starts.py.
    """

    def run(*arguments: object, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
        return starts.run(*arguments, env={**os.environ, **(env or {})}, **options)

    return run


@pytest.fixture(scope="session")
def fresh_simunix(simunix: Simunix) -> Simunix:
    """As `simunix`, started as a user does: for tests that compare runs, whose hashes must have seeds of their own."""
    return partial(simunix, fresh=True)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of Slurm are skipped, with the reason, where it is not installed."""
    mark = needs("slurmctld", "munged")
    for item in items:
        if item.get_closest_marker("slurm"):
            item.add_marker(mark)


def processes_named(*names: str) -> list[str]:
    """Command lines of living processes of these programs."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            except OSError:
                continue
            if state != "Z" and any(name in command for name in names):
                found.append(command)
    return found


def mounts_of(folder: Path) -> list[str]:
    """What this computer has mounted at, from or over the folder; other tests mount meanwhile too."""
    return [line for line in Path("/proc/self/mounts").read_text().splitlines() if str(folder) in line]
