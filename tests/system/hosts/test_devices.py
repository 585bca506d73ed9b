"""A host's /dev: the usual devices, terminals of its own, and nothing by which the real computer could be changed."""

from __future__ import annotations

import os
import pty
import shlex
import subprocess
from pathlib import Path

from simunix.testing import Cluster
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
