"""Runs files of CPython's test suite with Debian's Python, natively or under `simunix run`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.known import Known
from tests.conformance.verdicts import UNFINISHED, Run, file_of, read_junit, read_output

ROOT = Path(__file__).resolve().parents[2]
PYTHON = "/usr/bin/python3"
PACKAGE = "libpython3.11-testsuite"
HEARS = ["env", "--default-signal=INT,QUIT"]
"""A shell that starts us in the background makes us deaf to Ctrl-C, and whom we start; the tests send it to themselves."""
LIMITED = ["prlimit", "--nofile=1024:1024"]
"""An emulated process may have so many descriptors; some tests do less where it is more, so natively it is the same."""
SIMUNIX = [
    sys.executable,
    "-c",
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from simunix.cli.main import main; sys.exit(main())",
    str(ROOT),
    "run",
    "--",
]
TIDY_UP_S = 10


def missing() -> str:
    """Why the suite cannot be run here; empty if it can."""
    if not os.path.exists(PYTHON):
        return f"{PYTHON} is not installed"
    looked = subprocess.run([PYTHON, "-c", "import test.test_socket"], capture_output=True, check=False)
    return f"{PYTHON} has no test package: install {PACKAGE}" if looked.returncode != 0 else ""


def run_files(files: Sequence[str], emulated: bool, limit_s: float, known: Known, log: Path | None = None) -> Run:
    """Run the files in one command, as a user would; nothing is left behind but the log, if one is wanted."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        report = Path(folder) / "junit.xml"
        output = log or Path(folder) / "output"
        output.parent.mkdir(parents=True, exist_ok=True)
        left_out = [pattern for entry in known.left_out for pattern in entry.tests if file_of(pattern) in files]
        ignored = [argument for pattern in left_out for argument in ("-i", f"test.{pattern}")]
        command = [PYTHON, "-m", "test", "-v", "--junit-xml", str(report), *ignored, *files]
        start = time.monotonic()
        ended = _run([*SIMUNIX, *command] if emulated else [*LIMITED, *command], folder, output, limit_s)
        wall_s = time.monotonic() - start
        spoken = read_output(output.read_text(errors="replace"))
        verdicts = read_junit(report) if report.exists() else {}
        return Run(spoken | verdicts or {f"{file}.all": UNFINISHED for file in files}, wall_s, ended)


def _run(command: list[str], folder: str, output: Path, limit_s: float) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    with output.open("wb") as file:
        process = subprocess.Popen(
            [*HEARS, *command],
            cwd=folder,
            # Folders are named after the process, which has the same number in every emulation.
            env=environment | {"LC_ALL": "C.UTF-8", "TMPDIR": folder},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return str(process.wait(limit_s))
        except subprocess.TimeoutExpired:
            return "time limit"
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Politely first, so that an emulator can tidy up; then whatever the tests left running."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(TIDY_UP_S)
        except ProcessLookupError:
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()
