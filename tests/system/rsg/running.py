"""Programs of Remote SimGrid in tests: how they are run, and SimGrid's own run of a script for comparison."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

HERE = Path(__file__).parent
PLATFORMS = ROOT / "tests/unit/rsg_server/platform/simgrid_platforms"
SYSTEM_PYTHON = "/usr/bin/python3"
"""The Python for which Debian packages SimGrid's module."""


def simgrid_is_there() -> bool:
    """Whether Debian's package python3-simgrid is installed."""
    return subprocess.run([SYSTEM_PYTHON, "-c", "import simgrid"], capture_output=True, check=False).returncode == 0


def run(
    platform: Path, *command: str | Path, options: tuple[str, ...] = (), expected: int | None = 0, timeout_s: float = 120
) -> str:
    """What a command prints that runs under `simunix rsg run`; with `expected` None, its messages as well."""
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{HERE / 'alias'}"}
    done = subprocess.run(
        [sys.executable, "-m", "simunix.cli.main", "rsg", "run", *options, str(platform), "--", *map(str, command)],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        env=environment,
        stdin=subprocess.DEVNULL,
    )
    assert expected is None or done.returncode == expected, f"exit {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout if expected is not None else done.stdout + done.stderr


def script(platform: Path, path: Path, options: tuple[str, ...] = ()) -> str:
    """What a script of SimGrid's Python module prints with ours in its place."""
    return run(platform, sys.executable, path, platform, options=options)


def script_in_simgrid(platform: Path, path: Path) -> str:
    """What the script prints in SimGrid."""
    done = subprocess.run([SYSTEM_PYTHON, path, platform], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def compiled(source: Path, folder: Path) -> Path:
    """A program of C or C++, linked with librsg."""
    program = folder / source.stem
    compiler = ["g++", "-std=c++17"] if source.suffix == ".cpp" else ["gcc", "-std=gnu11"]
    library = ROOT / "simunix/lib"
    flags = ["-O0", "-Wall", "-Werror", f"-I{ROOT / 'csrc'}", f"-I{ROOT / 'simunix/lib/include'}"]
    link = ["-pthread", f"-L{library}", "-lrsg", f"-Wl,-rpath,{library}"]
    subprocess.run([*compiler, *flags, str(source), "-o", str(program), *link], check=True)
    return program
