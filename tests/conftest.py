"""What all tests share: the command line under test, and which parts this computer can run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from hypothesis import settings

# A submission is judged on the same examples every time; a developer's own runs explore (HYPOTHESIS_PROFILE=default).
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

PLUGIN = "simunix.pytest_plugin"
# Installed packages announce the plugin themselves; a tree that was installed before it had one does not.
IS_ANNOUNCED = any(entry.value == PLUGIN for entry in entry_points(group="pytest11"))
pytest_plugins = ["pytester"] if IS_ANNOUNCED else ["pytester", PLUGIN]

ROOT = Path(__file__).resolve().parent.parent
Simunix = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def simunix() -> Simunix:
    """Runs `simunix ARGUMENTS`; the result has returncode, stdout, stderr. Stdin is empty, wall time bounded."""

    def run(*arguments: object, timeout: float = 60, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "simunix.cli.main", *map(str, arguments)]
        options.setdefault("stdin", subprocess.DEVNULL)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}  # type: ignore[dict-item]
        return subprocess.run(  # type: ignore[call-overload,no-any-return]
            command, capture_output=True, text=True, timeout=timeout, env=environment, check=False, **options
        )

    return run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of Slurm are skipped, with the reason, where it is not installed."""
    if shutil.which("slurmctld") and shutil.which("munged"):
        return
    for item in items:
        if item.get_closest_marker("slurm"):
            item.add_marker(pytest.mark.skip(reason="slurm-wlm and munge are not installed"))


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
