"""Scenarios of whole programs of the distribution: run twice, with the same event log."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import Simunix

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


@dataclass(frozen=True, slots=True)
class Run:
    """A run's directory."""

    out: Path

    def output(self, host: str, process: str) -> str:
        """What a process wrote to its standard output."""
        return (self.out / "hosts" / host / f"{process}.out").read_text()

    def everything(self, host: str, process: str) -> str:
        """The same and its standard error, for a failing test to show."""
        return self.output(host, process) + (self.out / "hosts" / host / f"{process}.err").read_text()

    @property
    def record(self) -> dict[str, object]:
        """run.json."""
        found: dict[str, object] = json.loads((self.out / "run.json").read_text())
        return found


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
        runs = []
        for name in ("first", "second"):
            done = fresh_simunix("run", tmp_path / "s.yaml", "--out", tmp_path / name, timeout=300)
            assert done.returncode == 0, done.stderr
            runs.append(Run(tmp_path / name))
            assert runs[-1].record["unknown_calls"] == {}
        first, second = ((which.out / "events.jsonl").read_text().splitlines() for which in runs)
        for line, other in zip(first, second, strict=False):  # the first line that differs says more than two digests
            assert line == other
        assert runs[0].record["events_sha256"] == runs[1].record["events_sha256"]
        return runs[1]

    return run
