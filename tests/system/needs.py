"""What some tests need that only the slow tests have installed; without it these tests are skipped."""

from __future__ import annotations

import shutil

import pytest

with_database = pytest.mark.skipif(
    not (shutil.which("slurmdbd") and shutil.which("mariadbd")),
    reason="not installed: slurmdbd mariadb-server (SIMUNIX_PROGRAMS=1 .ci/setup installs what these tests run)",
)
