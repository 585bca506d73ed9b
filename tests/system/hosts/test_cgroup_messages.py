"""Control files of cgroups: a message to the server only where something can have changed, and never a text of before."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import Simunix

AS_SLURM = """
import os
def switch(words, name="a"):
    fd = os.open(f"/sys/fs/cgroup/{name}/cgroup.subtree_control", os.O_WRONLY)
    os.write(fd, words)
    os.close(fd)
def read(name):
    fd = os.open(f"/sys/fs/cgroup/a/{name}", os.O_RDONLY)
    os.lseek(fd, 0, os.SEEK_SET)
    texts = {os.read(fd, 4096), (os.lseek(fd, 0, os.SEEK_SET), os.read(fd, 4096))[1]}
    os.close(fd)
    assert len(texts) == 1, texts
    return texts.pop()
os.mkdir("/sys/fs/cgroup/a")
for _ in range(5):
    for controller in (b"+cpu", b"+memory", b"+cpu +memory"):
        switch(controller)
assert read("cgroup.subtree_control") == b"cpu memory\\n"
assert read("cpu.stat").startswith(b"usage_usec")
"""
CHANGES = """
import errno, os, time
FOLDER = "/sys/fs/cgroup/a"
def switch(words):
    fd = os.open(f"{FOLDER}/cgroup.subtree_control", os.O_WRONLY)
    try:
        return os.write(fd, words)
    except OSError as error:
        return errno.errorcode[error.errno]
    finally:
        os.close(fd)
os.mkdir(FOLDER)
stat, control, procs = (os.open(f"{FOLDER}/cgroup.{name}", os.O_RDONLY) for name in ("stat", "subtree_control", "procs"))
def again(fd):
    os.lseek(fd, 0, os.SEEK_SET)
    return os.read(fd, 4096).decode().strip()
assert again(stat).startswith("nr_descendants 0")
os.mkdir(f"{FOLDER}/b")
assert again(stat).startswith("nr_descendants 1")
assert again(control) == ""
assert switch(b"+cpu") == 4 and again(control) == "cpu"
assert switch(b"+cpu") == 4 and switch(b"+cpu\\n") == 5 and switch(b"+cpu\\0+nothing") == 13
assert switch(b"+nothing") == switch(b"+cpu +nothing") == switch(b"+cpu cpu") == switch(b"+c") == "EINVAL"
assert switch(b"-cpu") == 4 and again(control) == ""
assert switch(b"+cpu") == 4 and again(control) == "cpu"
assert again(procs) == ""
child = os.fork()
if child == 0:
    with open(f"{FOLDER}/b/cgroup.procs", "w") as file:
        file.write("0")
    time.sleep(10)
    os._exit(0)
inside = os.open(f"{FOLDER}/b/cgroup.procs", os.O_RDONLY)
assert again(inside) == ""
time.sleep(1)
assert again(inside) == str(child)
os.waitpid(child, 0)
assert again(inside) == ""
os.rmdir(f"{FOLDER}/b")
gone = os.open(f"{FOLDER}/cgroup.subtree_control", os.O_WRONLY)
os.rmdir(FOLDER)
try:
    os.write(gone, b"+cpu")
except OSError as error:
    assert error.errno == errno.ENODEV
else:
    raise AssertionError("written to a group that is gone")
"""
LAG = """
import os, time
os.mkdir("/sys/fs/cgroup/a")
with open("/sys/fs/cgroup/cgroup.subtree_control", "w") as file:
    file.write("+memory")
with open("/sys/fs/cgroup/a/cgroup.procs", "w") as file:
    file.write("0")
fd = os.open("/sys/fs/cgroup/a/memory.stat", os.O_RDONLY)
def anonymous():
    os.lseek(fd, 0, os.SEEK_SET)
    return int(os.read(fd, 4096).split()[1])
before = anonymous()
kept = bytearray(8 << 20)
time.sleep(0.001)
assert anonymous() - before >= 8 << 20
"""
KEPT = """
import os
FOLDER = "/sys/fs/cgroup/a"
def read(path):
    with open(f"/sys/fs/cgroup/{path}") as file:
        return file.read().strip()
def write(path, text):
    with open(f"/sys/fs/cgroup/{path}", "w") as file:
        file.write(text)
os.makedirs(f"{FOLDER}/b/c")
every = read("a/cpuset.cpus.effective")
for _ in range(3):
    assert read("a/b/cgroup.controllers") == ""
    assert read("a/cgroup.controllers") == "cpuset cpu io memory pids"
    assert read("a/memory.swap.current") == "0" and read("a/memory.swap.events").startswith("high 0")
write("a/cgroup.subtree_control", "+cpuset +memory")
write("a/b/cgroup.subtree_control", "+cpuset")
assert read("a/b/cgroup.controllers") == "cpuset memory" and read("a/b/c/cgroup.controllers") == "cpuset"
assert read("a/b/c/cpuset.cpus.effective") == every
write("a/cpuset.cpus", "0")
assert read("a/cpuset.cpus.effective") == read("a/b/cpuset.cpus.effective") == read("a/b/c/cpuset.cpus.effective") == "0"
write("a/cpuset.cpus", "\\n")
assert read("a/b/c/cpuset.cpus.effective") == every
write("a/b/cgroup.subtree_control", "-cpuset")
assert read("a/b/c/cgroup.controllers") == ""
with open(f"{FOLDER}/b/c/cgroup.controllers") as gone:
    os.rmdir(f"{FOLDER}/b/c")
    try:
        os.pread(gone.fileno(), 1, 0)
    except OSError:
        pass
    else:
        raise AssertionError("read from a group that is gone")
"""
HOME = """
import os
def enter(path, number):
    with open(f"/sys/fs/cgroup/{path}/cgroup.procs", "w") as file:
        file.write(str(number))
def refused(path, number):
    try:
        enter(path, number)
    except OSError:
        return True
def home():
    with open("/proc/self/cgroup") as file:
        return file.read().strip().removeprefix("0::")
for folder in "abc":
    os.mkdir(f"/sys/fs/cgroup/{folder}")
for number in (os.getpid(), 0, f"{os.getpid()}\\n", os.getpid(), 0):
    enter("a", number)
child = os.fork()
if child == 0:
    for _ in range(3):
        enter("a", os.getpid())
    assert home() == "/a"
    enter("b", os.getppid())
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert home() == "/b"
enter("a", 0)
assert home() == "/a"
enter("b", os.getpid())
enter("a", os.getpid())
assert home() == "/a" and refused("a", 2**22 + 1)
with open("/sys/fs/cgroup/a/cgroup.subtree_control", "w") as file:
    file.write("+pids")
os.mkdir("/sys/fs/cgroup/a/b")
enter("a", os.getpid())
assert home() == "/a"
"""


def run(simunix: Simunix, folder: Path, program: str) -> Counter[str]:
    """The numbers of messages, by their names, of a Python program that must succeed."""
    done = simunix("run", "--count-calls", "--out", folder, "--", "/usr/bin/python3", "-c", program)
    assert done.returncode == 0, done.stderr
    counts: Counter[str] = Counter()
    for row in csv.DictReader((folder / "server_messages.csv").read_text().splitlines()):
        counts[row["message"]] += int(row["count"])
    return counts


def test_controllers_that_are_on_are_switched_on_without_a_message(simunix: Simunix, tmp_path: Path) -> None:
    counts = run(simunix, tmp_path / "run", AS_SLURM)
    assert counts["CGROUP_WRITE"] == 2
    assert counts["CGROUP_READ"] == 2


def test_texts_that_are_kept_are_read_without_a_message_and_change_with_the_group(simunix: Simunix, tmp_path: Path) -> None:
    counts = run(simunix, tmp_path / "run", KEPT)
    assert counts["CGROUP_READ"] == counts["CGROUP_WRITE"] + 1, "writers open with O_TRUNC; and the group that is gone"


def test_whoever_is_in_a_group_already_goes_there_without_a_message(simunix: Simunix, tmp_path: Path) -> None:
    counts = run(simunix, tmp_path / "run", HOME)
    moves = 5
    assert counts["CGROUP_WRITE"] == moves + 4, (
        "beside them: a first one of a child's own, a refusal, a controller, one after that"
    )


@pytest.mark.parametrize("program", [CHANGES, LAG], ids=["changes", "lag"])
def test_a_text_is_never_of_before_a_change(simunix: Simunix, tmp_path: Path, program: str) -> None:
    run(simunix, tmp_path / "run", program)
