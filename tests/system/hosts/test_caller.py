"""A run is the same whoever starts it: their umask, environment, limits, priority and groups stay outside of the hosts."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.starts import FRESH

PROBE = """
umask; ulimit -aS; ulimit -aH; cat /proc/1/environ | tr '\\0' '\\n'; env; cat /proc/self/oom_score_adj
grep SigIgn /proc/self/status
stat -c '%a %U %n' /etc/hosts /etc/hostname /run /run/lock /var/spool/none /var/spool/none/file; id -G; id -u
python3 -c 'import os, signal; print(os.sched_getscheduler(0), os.nice(0), signal.pthread_sigmask(0, []))'
"""
SCENARIO = """
name: caller
hosts: [{name: a, private: [/var/spool/none]}]
processes:
  - {name: p, host: a, command: ["/bin/bash", "-c", "echo >/var/spool/none/file; . PROBE"]}
"""
CAP_SYS_RESOURCE = 24
SYS_RT_SIGACTION = 13
Condition = Callable[[], object]


def limit(which: int, soft: int) -> None:
    resource.setrlimit(which, (soft, resource.getrlimit(which)[1]))


def limit_both(which: int, value: int) -> None:
    resource.setrlimit(which, (value, value))


def ignore(*numbers: int) -> None:
    """By the kernel's own call: the C library's refuses 32 and 33, as its posix_spawn(3), and so make, leaves them ignored."""
    action = (ctypes.c_ulong * 4)(signal.SIG_IGN)
    for number in numbers:
        assert ctypes.CDLL(None).syscall(SYS_RT_SIGACTION, number, action, None, 8) == 0


CONDITIONS: dict[str, Condition] = {
    "umask 077": partial(os.umask, 0o077),
    "umask 000": partial(os.umask, 0),
    "ulimit -Ss": partial(limit, resource.RLIMIT_STACK, 1 << 20),
    "ulimit -Su": partial(limit, resource.RLIMIT_NPROC, 4000),
    "ulimit -Sl": partial(limit, resource.RLIMIT_MEMLOCK, 65536),
    "nice": partial(os.nice, 5),
    "chrt -b": partial(os.sched_setscheduler, 0, os.SCHED_BATCH, os.sched_param(0)),
    "oom_score_adj": lambda: Path("/proc/self/oom_score_adj").write_text("300"),
}
HARD_LIMITS: dict[str, Condition] = {
    "ulimit -s": partial(limit_both, resource.RLIMIT_STACK, 16 << 20),
    "ulimit -u": partial(limit_both, resource.RLIMIT_NPROC, 4000),
    "ulimit -i": partial(limit_both, resource.RLIMIT_SIGPENDING, 4000),
    "ulimit -f": partial(limit_both, resource.RLIMIT_FSIZE, 64 << 20),
}
ROOTS_CONDITIONS: dict[str, Condition] = {
    "umask 027": partial(os.umask, 0o027),
    "groups": partial(os.setgroups, [7, 8, 9]),
    "group": partial(os.setgid, 7),
}


def run(tmp_path: Path, name: str, condition: Condition | None = None, **environment: str) -> tuple[str, str]:
    """What the probe says, and the digest, of a run that begins under a condition."""
    (tmp_path / "probe").write_text(PROBE)
    (tmp_path / "s.yaml").write_text(SCENARIO.replace("PROBE", str(tmp_path / "probe")))
    out = tmp_path / f"out-{name.replace(' ', '-')}"
    done = subprocess.run(
        [*FRESH, "run", tmp_path / "s.yaml", "--out", out],
        env={**os.environ, **environment},
        preexec_fn=condition,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    errors = (out / "hosts/a/p.err").read_text()
    assert errors == "", errors
    return (out / "hosts/a/p.out").read_text(), (out / "run.json").read_text().partition("events_sha256")[2][:70]


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """The folder of the runs, and what the probe and the digest are under the tests' own condition."""
    folder = tmp_path_factory.mktemp("caller")
    return folder, *run(folder, "ordinary")


@pytest.mark.slow
@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_of_the_caller_changes_nothing(ordinary: tuple[Path, str, str], name: str) -> None:
    folder, *expected = ordinary
    assert [*run(folder, name, CONDITIONS[name])] == expected


def may_raise_limits() -> bool:
    effective = Path("/proc/self/status").read_text().partition("CapEff:")[2].split()[0]
    return bool(int(effective, 16) >> CAP_SYS_RESOURCE & 1)


@pytest.mark.parametrize("name", HARD_LIMITS)
def test_a_hard_limit_of_the_caller_changes_nothing(ordinary: tuple[Path, str, str], name: str) -> None:
    """But for the limit itself, where the caller may not raise it again."""
    folder, probe, digest = ordinary
    found = run(folder, name, HARD_LIMITS[name])
    assert found[1] == digest
    if may_raise_limits():
        assert found[0] == probe


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
@pytest.mark.parametrize("name", ROOTS_CONDITIONS)
def test_a_condition_of_root_changes_nothing(ordinary: tuple[Path, str, str], name: str) -> None:
    folder, *expected = ordinary
    assert [*run(folder, name, ROOTS_CONDITIONS[name])] == expected


def test_signals_that_the_caller_ignores_or_blocks_are_heard(ordinary: tuple[Path, str, str]) -> None:
    folder, *expected = ordinary
    assert [*run(folder, "signals", partial(ignore, signal.SIGHUP, signal.SIGUSR1, 32, 33, 34, 64))] == expected
    assert [*run(folder, "mask", partial(signal.pthread_sigmask, signal.SIG_BLOCK, [signal.SIGUSR1, 34, 64]))] == expected
    assert "SigIgn:\t0000000000000000\n" in expected[0] and "0 0 set()\n" in expected[0]


def test_the_callers_environment_stays_outside(ordinary: tuple[Path, str, str]) -> None:
    folder, *expected = ordinary
    found = run(folder, "environment", SECRET="x" * 90_000, LD_LIBRARY_PATH="/nowhere", LC_ALL="C", TZ="Asia/Tokyo")
    assert [*found] == expected
    assert "SECRET" not in found[0]
