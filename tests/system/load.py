"""A computer that is busy with something else, so that a test can show that this changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

BURN = "while True: pass"
CHURN = "import tempfile\nwhile True:\n  with tempfile.TemporaryFile() as file: file.write(bytes(1 << 22))"


@contextmanager
def busy_computer() -> Iterator[None]:
    """Twice as many computing processes as there are cores, and one that keeps the page cache and the disk busy."""
    programs = [BURN] * (2 * (os.cpu_count() or 1)) + [CHURN]
    load = [subprocess.Popen([sys.executable, "-c", program]) for program in programs]
    try:
        yield
    finally:
        for process in load:
            process.kill()
            process.wait()
