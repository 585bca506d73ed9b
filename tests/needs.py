"""What a test needs beyond the set-up that the README's commands do: a test without it is skipped, and says which packages.

`.ci/bare` runs the fast tests where nothing else is installed, and fails if a test needs something that it does not say here.
"""

from __future__ import annotations

import os
import shutil

import pytest

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
    "git": "git",
    "ip": "iproute2",
    "iperf3": "iperf3",
    "mariadbd": "mariadb-server",
    "mariadb": "mariadb-client",
    "mpiexec.mpich": "mpich",
    "mpicc.mpich": "mpich",
    "munged": "munge",
    "pgrep": "procps",
    "ping": "iputils-ping",
    "pkill": "procps",
    "ps": "procps",
    "slurmctld": "slurm-wlm",
    "slurmdbd": "slurmdbd",
    "ss": "iproute2",
    "tcpdump": "tcpdump",
    "tshark": "tshark",
    "wakeonlan": "wakeonlan",
}
"""The Debian package of each program that tests run, as far as the README's set-up does not install it for all."""
FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where daemons are; a user's PATH leaves these out."""


def found(program: str) -> str | None:
    """The path of a program, given by its name or path, also of a daemon that is not in a user's PATH; None without it."""
    return shutil.which(program, path=os.pathsep.join((os.environ.get("PATH", os.defpath), *FOLDERS)))


def why_not(*programs: str) -> str:
    """Which packages are missing for these programs; empty if all programs are there."""
    missing = sorted({PACKAGE_OF[program] for program in programs if found(program) is None})
    return f"not installed: {' '.join(missing)} (SIMUNIX_PROGRAMS=1 .ci/setup installs what tests run)" if missing else ""


def needs(*programs: str) -> pytest.MarkDecorator:
    """A mark for tests that run these programs."""
    reason = why_not(*programs)
    return pytest.mark.skipif(bool(reason), reason=reason)


def require(*programs: str) -> None:
    """Skip the test that calls this unless these programs are there."""
    if reason := why_not(*programs):
        pytest.skip(reason)
