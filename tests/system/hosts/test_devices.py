"""A host's /dev: the usual devices, terminals of its own, and nothing by which the real computer could be changed."""

from __future__ import annotations

import json
import os
import pty
import shlex
import stat
import subprocess
from pathlib import Path

from simunix.testing import Cluster
from tests.conftest import Simunix
from tests.needs import needs_root
from tests.starts import FRESH

USUAL = {"console", "fd", "full", "mqueue", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout"} | {
    "tty",
    "urandom",
    "zero",
}
TERMINALS = """
import os, pty
names = []
for _ in range(2):
    master, slave = pty.openpty()
    names.append(os.ttyname(slave))
    os.write(slave, b"x")
    assert os.read(master, 1) == b"x"
print(*names, os.listdir("/dev/pts"))
"""


def test_terminals_are_numbered_by_each_host(emulation: Cluster) -> None:
    outside = pty.openpty()
    programs = [host.start(["python3", "-c", TERMINALS]) for host in emulation.hosts("a[1-2]")]
    emulation.run(check=True)
    for fd in outside:
        os.close(fd)
    assert {program.stdout.split()[1] for program in programs} == {"/dev/pts/1"}
    assert programs[0].stdout == programs[1].stdout


def test_only_the_usual_devices_are_there(emulation: Cluster) -> None:
    program = emulation.host("a").start(
        "ls /dev; echo x >/dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/random | wc -c"
    )
    emulation.run(check=True)
    *names, zeros, random = program.stdout.split()
    assert set(names) <= USUAL, names
    assert USUAL - set(names) <= {"console"}
    assert (zeros, random) == ("3", "3")


def test_queues_and_shared_memory_are_the_hosts_own(emulation: Cluster) -> None:
    command = "ls -A /dev/shm /dev/mqueue; echo >/dev/shm/x; stat -c %a /dev/shm"
    programs = [host.start(command) for host in emulation.hosts("a[1-2]")]
    emulation.run(check=True)
    assert {program.stdout for program in programs} == {"/dev/mqueue:\n\n/dev/shm:\n1777\n"}


def test_a_command_in_the_foreground_has_its_callers_terminal() -> None:
    master, slave = pty.openpty()
    command = [*FRESH, "run", "--", "sh", "-c", "tty; test -t 1 && echo yes"]
    child = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=subprocess.PIPE, start_new_session=True, text=True)
    _, errors = child.communicate()
    os.close(slave)
    assert child.returncode == 0, errors
    text = os.read(master, 4096).decode()
    os.close(master)
    assert text.split() == ["/dev/console", "yes"]


def test_programs_of_a_scenario_cannot_reach_the_callers_terminal(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(
        "name: far\nhosts: [{name: a}]\nprocesses:\n"
        "  - {name: p, host: a, expect: 2, command: '(: </dev/tty) 2>&1; ls /dev/pts /dev/console 2>/dev/null'}\n"
    )
    command = shlex.join([*FRESH, "run", str(tmp_path / "s.yaml"), "--out", str(tmp_path / "out")])
    subprocess.run(["script", "-qec", command, "/dev/null"], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    output = (tmp_path / "out/hosts/a/p.out").read_text()
    assert "No such device or address" in output
    assert output.splitlines()[1:] == ["/dev/pts:", "ptmx"]


MADE = """
mkdir /tmp/d; cd /tmp/d; umask 022
mknod gpu c 195 0; mknod disk b 8 1; mknod gpu c 1 3 2>&1
tar cf ../d.tar . && rm gpu && tar xf ../d.tar && cp -a gpu copy && mv gpu moved && ln moved linked
stat -c '%n %F %t:%T %a' *
find . -type c | sort; find . -type f
cat moved 2>&1
mkdir -p root/dev; mknod -m 666 root/dev/zero c 1 5; mknod -m 666 root/dev/null c 1 3
python3 -c 'import os
os.chroot("root")
print(os.read(os.open("/dev/zero", os.O_RDONLY), 2))
print(os.write(os.open("/dev/null", os.O_WRONLY), b"x"))'
"""
SHOWN = """mknod: gpu: File exists
copy character special file c3:0 644
disk block special file 8:1 644
linked character special file c3:0 644
moved character special file c3:0 644
./copy
./linked
./moved
cat: moved: No such device or address
b'\\x00\\x00'
1
"""


def test_devices_that_are_made_stay_devices(simunix: Simunix, tmp_path: Path) -> None:
    """Through tar, cp and mv; to this computer they are empty files."""
    words = json.dumps(["sh", "-c", MADE])
    (tmp_path / "s.yaml").write_text(f"hosts: [{{name: a}}]\nprocesses: [{{name: p, host: a, command: {words}}}]\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/hosts/a/p.out").read_text() == SHOWN
    left = (tmp_path / "out/hosts/a/files/tmp/d/moved").stat()
    assert stat.S_ISREG(left.st_mode) and left.st_size == 0 and left.st_mode & stat.S_ISVTX


def test_hosts_see_one_device_in_a_folder_that_they_share(simunix: Simunix, tmp_path: Path) -> None:
    folder = tmp_path / "both"
    folder.mkdir()
    (tmp_path / "s.yaml").write_text(
        f"hosts: [{{name: 'a[1-2]'}}]\nshared: [{folder}]\nprocesses:\n"
        f"  - {{name: makes, host: a1, command: mknod {folder}/x c 10 200}}\n"
        f"  - {{name: looks, host: a2, start: 1s, command: 'stat -c %F:%t:%T {folder}/x; exec stat -c %F {folder}'}}\n"
    )
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/hosts/a2/looks.out").read_text() == "character special file:a:c8\ndirectory\n"


WITHOUT_DEVICES = """
exec 2>&1
open() { head -c 1 $1 | wc -c; }
mkdir /tmp/own /tmp/disk /tmp/again; mknod /tmp/disk/zero c 1 5
echo host; open /tmp/disk/zero
echo own; mount -t tmpfs -o nodev none /tmp/own; mknod /tmp/own/zero c 1 5; open /tmp/own/zero
echo remounted; mount -o remount,dev /tmp/own; open /tmp/own/zero; mount -o remount,nodev /tmp/own; open /tmp/own/zero
echo bound; mount --bind /tmp/disk /tmp/again; open /tmp/again/zero
echo copied; unshare -m --propagation private sh -c 'head -c 1 /tmp/again/zero | wc -c; head -c 1 /tmp/own/zero'
echo root; mkdir /tmp/disk/root; mknod /tmp/disk/root/zero c 1 5; mkdir /tmp/own/root; mknod /tmp/own/root/zero c 1 5
python3 -c 'import os
for root in "/tmp/own/root", "/tmp/disk/root":
    if os.fork() == 0:
        os.chroot(root)
        os.chdir("/")
        try:
            print(os.read(os.open("/zero", os.O_RDONLY), 1), flush=True)
        except OSError as error:
            print(error, flush=True)
        os._exit(0)
    os.wait()'
echo shared; mknod SHARED/zero c 1 5; open SHARED/zero
"""
REFUSED = "head: cannot open '/tmp/own/zero' for reading: Permission denied"
FOR_NO_DEVICES = {
    "host": ["1"],
    "own": [REFUSED, "0"],
    "remounted": ["1", REFUSED, "0"],
    "bound": ["1"],
    "copied": ["1", REFUSED],
    "root": ["[Errno 13] Permission denied: '/zero'", "b'\\x00'"],
    "shared": ["1"],
}


@needs_root("mount(8) is refused the remount in an ordinary user's host")
def test_a_mount_for_no_devices_holds_if_a_program_has_asked_for_it(simunix: Simunix, tmp_path: Path) -> None:
    """A contained host's own files are on file systems for no devices, which it is not to feel, in memory or on disk."""
    shared = tmp_path / "memory"
    shared.mkdir()
    script = WITHOUT_DEVICES.replace("SHARED", str(shared))
    scenario = {"hosts": [{"name": "a"}], "shared": [str(shared)]}
    scenario |= {"processes": [{"name": "p", "host": "a", "command": ["sh", "-c", script]}]}
    (tmp_path / "s.yaml").write_text(json.dumps(scenario))
    subprocess.run(["mount", "-t", "tmpfs", "none", shared], check=True)
    try:
        done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    finally:
        subprocess.run(["umount", shared], check=True)
    assert done.returncode == 0, done.stderr
    told = (tmp_path / "out/hosts/a/p.out").read_text().splitlines()
    assert told == [line for name, lines in FOR_NO_DEVICES.items() for line in (name, *lines)]
