"""Root of a host changes its own namespaces, and nothing of the computer that all hosts share."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from simunix.testing import Cluster

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user may change nothing of the computer")
CHANGES = """
import os, sys
for path in sys.argv[1:]:
    try:
        os.close(os.open(path, os.O_WRONLY))
        print(path, 0)
    except OSError as error:
        print(path, error.errno)
"""
WHOLE = (
    "/proc/sys/vm/dirty_bytes",
    "/proc/sys/fs/pipe-user-pages-soft",
    "/proc/sys/kernel/pid_max",
    "/proc/sysrq-trigger",
    "/sys/power/state",
    "/sys/kernel/mm/ksm/run",
    "/sys/kernel/mm/transparent_hugepage/enabled",
)
OWN = ("/proc/sys/kernel/hostname", "/proc/sys/kernel/shmmax", "/proc/sys/net/core/somaxconn")
CAPABILITIES = {"SYS_MODULE": 16, "SYS_RAWIO": 17, "SYS_BOOT": 22, "SYS_TIME": 25, "MKNOD": 27, "SYSLOG": 34} | {
    "WAKE_ALARM": 35,
    "LINUX_IMMUTABLE": 9,
    "PERFMON": 38,
    "BPF": 39,
}


def existing(*paths: str) -> list[str]:
    return [path for path in paths if Path(path).exists()]


def test_what_is_the_whole_computers_is_read_only(emulation: Cluster) -> None:
    program = emulation.host("a").start(["python3", "-c", CHANGES, *existing(*WHOLE)])
    emulation.run(check=True)
    assert program.stdout.splitlines() == [f"{path} {errno.EROFS}" for path in existing(*WHOLE)]


def test_a_host_does_not_know_the_computers_maker(emulation: Cluster) -> None:
    program = emulation.host("a").start(
        "cat /sys/class/dmi/id/* /sys/firmware/*/* 2>/dev/null; ls -A /sys/firmware; grep -c firmware /proc/mounts"
    )
    emulation.run()
    assert program.stdout == "0\n"


def test_what_is_the_hosts_own_can_be_written(emulation: Cluster) -> None:
    command = "echo other >/proc/sys/kernel/hostname; uname -n; echo 77 >/proc/sys/kernel/msgmni; cat /proc/sys/kernel/msgmni"
    before = Path("/proc/sys/kernel/msgmni").read_text()
    a, b = emulation.hosts("a[1-2]")
    first = a.start(command)
    second = b.start("cat /proc/sys/kernel/msgmni", at="1s")
    opened = b.start(["python3", "-c", CHANGES, *existing(*OWN)], at="1s")
    emulation.run(check=True)
    assert first.stdout == "other\n77\n"
    assert second.stdout != "77\n"
    assert Path("/proc/sys/kernel/msgmni").read_text() == before
    assert opened.stdout.splitlines() == [f"{path} 0" for path in existing(*OWN)]


def test_no_capability_acts_on_the_computer(emulation: Cluster) -> None:
    program = emulation.host("a").start("grep -E 'Cap(Prm|Eff|Bnd)' /proc/self/status")
    emulation.run(check=True)
    for line in program.stdout.splitlines():
        mask = int(line.split()[1], 16)
        assert [name for name, bit in CAPABILITIES.items() if mask >> bit & 1] == [], line


def test_devices_that_are_made_are_none_of_this_computer(emulation: Cluster) -> None:
    """Its memory, its disk and its terminal by their numbers; /run is mounted without devices."""
    disk = os.stat("/").st_dev
    made = f"mknod /dev/disk b {os.major(disk)} {os.minor(disk)}; mknod /dev/tty1 c 4 1; mknod /run/mem c 1 1"
    made += "; mknod /dev/mem c 1 1"
    look = "for file in /dev/mem /dev/disk /dev/tty1 /run/mem; do head -c 1 $file 2>&1 | sed 's/.*: //'; done; mkfifo /run/fifo"
    program = emulation.host("a").start(f"{made}; {look} && echo made")
    emulation.run()
    assert program.stdout.splitlines() == [*["No such device or address"] * 3, "Permission denied", "made"]


def test_file_systems_can_be_mounted(emulation: Cluster) -> None:
    command = (
        "mkdir -p /run/x /run/up; mount -t tmpfs none /run/x && echo 1 >/run/x/f; mount --bind /run/x /run/up; "
        "cat /run/up/f; umount /run/up; umount /run/x; ls /run/x; chroot / true && echo in"
    )
    program = emulation.host("a").start(command)
    emulation.run(check=True)
    assert program.stdout == "1\nin\n"
