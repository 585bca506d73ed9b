"""Scenarios of whole programs of the distribution: run twice, with the same event log."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system import runs
from tests.system.runs import Run

PACKAGE_OF = {
    "redis-server": "redis-server",
    "redis-benchmark": "redis-tools",
    "nginx": "nginx-light",
    "curl": "curl",
    "wrk": "wrk",
    "/usr/sbin/sshd": "openssh-server",
    "ssh": "openssh-client",
    "/usr/lib/postgresql/15/bin/postgres": "postgresql-15",
    "/usr/lib/postgresql/15/bin/pgbench": "postgresql-15",
    "perl": "perl",
    "memcached": "memcached",
    "haproxy": "haproxy",
    "cron": "cron",
    "crontab": "cron",
    "fio": "fio",
    "mariadbd": "mariadb-server",
    "mariadb": "mariadb-client",
    "mpiexec.mpich": "mpich",
    "mpicc.mpich": "mpich",
}


RunTwice = Callable[..., Run]
Needs = Callable[..., None]


@pytest.fixture
def needs() -> Needs:
    """`needs("nginx", "curl")` skips the test, saying which Debian packages are missing."""

    def check(*programs: str) -> None:
        missing: Sequence[str] = sorted({PACKAGE_OF[name] for name in programs if shutil.which(name) is None})
        if missing:
            pytest.skip(f"not installed: {' '.join(missing)} (SIMUNIX_PROGRAMS=1 .ci/setup installs what these tests run)")

    return check


def open_to_everybody(folder: Path) -> None:
    """Let other users into a folder of a test, which pytest keeps to its own user: into all folders above it as well."""
    for each in (folder, *folder.parents):
        if each.stat().st_uid != os.geteuid() or each.parent == Path("/"):
            break
        each.chmod(0o755)


@pytest.fixture
def run_twice(fresh_simunix: Simunix, tmp_path: Path) -> RunTwice:
    """Run a scenario's text twice; both must succeed, without an unknown call, and leave the same event log."""

    def run(scenario: str) -> Run:
        (tmp_path / "s.yaml").write_text(scenario)
        first, second = runs.run_twice(fresh_simunix, tmp_path / "s.yaml", tmp_path)
        assert (first.record["unknown_calls"], second.record["unknown_calls"]) == ({}, {})
        return second

    return run
