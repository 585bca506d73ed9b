"""Hostile processes against the C core under AddressSanitizer and UBSan: no error of memory, no exception, no hang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.endurance.sanitized.build import ROOT, build, environment

SECONDS, PATIENCE_S = 300, 120


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The C core with sanitizers."""
    return build(tmp_path_factory.mktemp("sanitized"))


def play(module: Path, *words: str, patience_s: float) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.endurance.sanitized.play", str(module), *words]
    return subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=patience_s)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_hostile_processes_end_themselves_and_never_the_server(module: Path, seed: int) -> None:
    done = play(module, "--seconds", str(SECONDS), "--seed", str(seed), patience_s=SECONDS + PATIENCE_S)
    assert done.returncode == 0, f"{done.stdout.splitlines()[-1:]}\n{done.stderr}"
    assert len(done.stdout.splitlines()) > 100


@pytest.mark.slow
def test_an_error_of_memory_in_the_core_would_be_seen(module: Path) -> None:
    """The sanitizer watches what the core is handed: a read behind a record's end ends the process with a report."""
    probe = (
        f"from pathlib import Path; from tests.endurance.sanitized.play import load; load(Path({str(module)!r}));"
        "from rsg_server._native import ffi, lib;"
        "record = ffi.cast('void *', ffi.new('char[]', 8)); lib.run_queue_remove(record, record)"
    )
    command = [sys.executable, "-c", probe]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode != 0 and "AddressSanitizer: heap-buffer-overflow" in done.stderr
