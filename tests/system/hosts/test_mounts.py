"""Hosts see mounts and a cgroup of their own: equal wherever the run directory lies, whatever this computer has mounted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simunix.launch.factory.container import Isolation
from simunix.launch.factory.probe import probe
from simunix.testing import Cluster
from tests.needs import needs

is_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts, and makes cgroups")
SCENARIO = """
hosts: [{name: a, cores: 3, memory: 8GiB}]
processes: [{name: reader, host: a, command: "sh FOLDER/read"}]
"""
READ = """
cd /proc
cat self/cgroup 1/cgroup self/cpuset cgroups self/mountinfo mounts self/mountstats thread-self/mounts
grep -d skip . /sys/fs/cgroup/*
stat -f /sys/fs/cgroup
"""
OWN = """
mkdir -p /run/a/b /run/up && mount -t tmpfs none /run/a && mkdir /run/a/b && mount --bind /run/a/b /run/up
mount --bind /etc/default /mnt && mount -t tmpfs other /dev/shm
tail -n 4 /proc/self/mountinfo
unshare -m tail -n 4 /proc/self/mountinfo
tail -n 3 /proc/mounts
"""
OWN_SHOWN = """\
40 29 0:40 / /run/a rw,relatime - tmpfs none rw
41 29 0:40 /b /run/up rw,relatime - tmpfs none rw
42 21 8:1 /etc/default /mnt rw,relatime - ext4 /dev/root rw
43 28 0:43 / /dev/shm rw,relatime - tmpfs other rw
"""


def read(folder: Path, out: Path, *before: str) -> str:
    """What a host reads in a run whose results go to `out`; `before` is what starts simunix there."""
    (folder / "read").write_text(READ)
    scenario = folder / "read.yaml"
    scenario.write_text(SCENARIO.replace("FOLDER", str(folder)))
    command = [*before, sys.executable, "-m", "simunix.cli.main", "run", str(scenario), "--out", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return "".join(file.read_text() for file in sorted(out.rglob("reader*")) if file.is_file())


def other_cgroup() -> Path | None:
    """A new cgroup, of the memory controller if that has a hierarchy of its own; None if there can be none."""
    for base in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        folder = Path(base) / f"simunix-test-{os.getpid()}"
        if (Path(base) / "cgroup.procs").exists():
            try:
                folder.mkdir()
            except OSError:
                continue
            return folder
    return None


@pytest.mark.slow
def test_text_does_not_depend_on_the_computer(tmp_path: Path) -> None:
    first = read(tmp_path, tmp_path / "out")
    assert str(tmp_path) not in first
    assert first.startswith("0::/\n0::/\n/\n")
    assert "/sys/fs/cgroup/cpuset.cpus.effective:0-2\n" in first
    assert "Type: cgroup2fs" in first
    elsewhere = tmp_path / "some where" / "else" / "out"
    if os.geteuid() != 0:
        assert read(tmp_path, elsewhere) == first
        return
    group = other_cgroup()
    (tmp_path / "mounted").mkdir()
    enter = f"echo $$ >{group}/cgroup.procs; " if group else ""
    mount = f"mount -t tmpfs more {tmp_path}/mounted; mount --bind /etc /srv; "
    try:
        assert read(tmp_path, elsewhere, "unshare", "-m", "sh", "-c", enter + mount + 'exec "$@"', "sh") == first
    finally:
        if group:
            group.rmdir()


@is_root
def test_mounts_of_the_hosts_own_programs_are_shown(emulation: Cluster) -> None:
    program = emulation.host("a").start(["sh", "-ec", OWN])
    emulation.run(check=True)
    lines = program.stdout.splitlines(keepends=True)
    assert "".join(lines[:4]) == OWN_SHOWN
    assert sorted(line.split()[4] for line in lines[4:8]) == ["/dev/shm", "/mnt", "/run/a", "/run/up"]
    assert lines[8] == "none /run/up tmpfs rw,relatime 0 0\n"


@is_root
def test_cgroups_of_the_computer_cannot_be_changed(emulation: Cluster, tmp_path: Path) -> None:
    program = emulation.host("a").start(
        "umount /sys/fs/cgroup; mkdir /sys/fs/cgroup/x; umount /sys/fs/cgroup; mkdir /sys/fs/cgroup/*/x /sys/fs/cgroup/x"
    )
    own = emulation.host("b").start("mkdir /sys/fs/cgroup/x && umount /sys/fs/cgroup")
    emulation.run()
    assert program.stderr.count("mkdir") >= 2
    assert "busy" in own.stderr  # whoever has made groups cannot take them away from the server
    is_contained = probe((tmp_path,))[0] is Isolation.CONTAINED  # such a host has none of this computer's below its own
    assert ("No such file or directory" if is_contained else "Read-only file system") in program.stderr
    assert not [path for path in Path("/sys/fs/cgroup").glob("**/x") if path.is_dir()]


@pytest.mark.slow
@needs("java")
def test_a_jvm_finds_no_limit(emulation: Cluster) -> None:
    program = emulation.host("a", cores=3, memory="8GiB").start("java -XshowSettings:system -version 2>&1")
    emulation.run(check=True)
    assert "Provider: cgroupv2" in program.stdout
    assert "Effective CPU Count: 3" in program.stdout
    assert "Memory Limit: Unlimited" in program.stdout
