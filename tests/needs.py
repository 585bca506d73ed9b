"""Marks for tests that need more than the set-up of the README's commands: without the needed packages such a test is
skipped, and the reason names them.

`.ci/bare` runs the fast tests where nothing else is installed, and fails if a test needs something that it does not say here.
"""

from __future__ import annotations

import os
import shutil

import pytest

PACKAGE_OF = {
    "busybox": "busybox-static",
    "cron": "cron",
    "crontab": "cron",
    "crun": "crun",
    "curl": "curl",
    "dbus-daemon": "dbus-daemon",
    "expect": "expect",
    "fio": "fio",
    "gdb": "gdb",
    "go": "golang-go",
    "git": "git",
    "haproxy": "haproxy",
    "hwloc-bind": "hwloc-nox",
    "iostat": "sysstat",
    "ip": "iproute2",
    "iperf3": "iperf3",
    "java": "default-jre-headless",
    "lscpu": "util-linux",
    "lstopo": "hwloc-nox",
    "make": "make",
    "mariadb": "mariadb-client",
    "mariadbd": "mariadb-server",
    "memcached": "memcached",
    "mpicc.mpich": "mpich",
    "mpiexec.mpich": "mpich",
    "munged": "munge",
    "nginx": "nginx-light",
    "numactl": "numactl",
    "/lib/security/pam_slurm_adopt.so": "libpam-slurm-adopt",
    "perl": "perl",
    "/usr/lib/postgresql/15/bin/pgbench": "postgresql-15",
    "pgrep": "procps",
    "ping": "iputils-ping",
    "podman": "podman",
    "pkill": "procps",
    "/usr/lib/postgresql/15/bin/postgres": "postgresql-15",
    "ps": "procps",
    "redis-benchmark": "redis-tools",
    "redis-server": "redis-server",
    "rsync": "rsync",
    "runc": "runc",
    "slurmctld": "slurm-wlm",
    "slurmdbd": "slurmdbd",
    "ss": "iproute2",
    "ssh": "openssh-client",
    "/usr/sbin/sshd": "openssh-server",
    "strace": "strace",
    "sudo": "sudo",
    "tcpdump": "tcpdump",
    "tshark": "tshark",
    "wakeonlan": "wakeonlan",
    "wrk": "wrk",
}
"""The Debian package of each program that tests run, as far as the README's set-up does not install it for all."""
FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where daemons are; a user's PATH leaves these out."""


def found(program: str) -> str | None:
    """The path of a program, also of a daemon that is not in a user's PATH, or of a library by its path; None without it."""
    if os.path.isabs(program):
        return program if os.path.isfile(program) else None
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


def needs_root(why: str) -> pytest.MarkDecorator:
    """The mark of tests that only root can pass; `why` stands alone."""
    return pytest.mark.skipif(os.geteuid() != 0, reason=why)
