"""Paths of hosts that file servers keep: one content, and traffic over the network to a disk that all share."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs
from tests.system.runs import Run, run, run_twice

SCENARIO = """\
hosts: [{name: 'n[1-4]'}, {name: 'fs[1-2]'}]
network: {bandwidth: 400MBps, latency: 500us}
storages:
  - {name: disk, host: 'fs[1-2]', read_bandwidth: 200MBps, write_bandwidth: 98MBps, latency: 3ms, capacity: 10GB}
mounts:
  - {path: /srv/home, host: 'n[1-4]', server: fs1, export: /export/home, storage: disk}
  - {path: /srv/local, host: fs1, server: fs1, export: /export/home, storage: disk}
  - {path: /srv/raw, host: 'n[1-4]', server: fs1, storage: disk, cache: false}
  - {path: /srv/wide, host: 'n[1-4]', server: 'fs[1-2]', storage: disk, stripe: 1MB, cache: false}
processes:
"""
TIMED = 't() { b=$(date +%s%N); "$@" > /dev/null; e=$(date +%s%N); echo "$((e-b)) ns: $*"; }'


def scenario(folder: Path, *programs: tuple[str, str, str]) -> Path:
    """A scenario with a shell program for each (host, name, lines)."""
    lines = [SCENARIO]
    for host, name, text in programs:
        body = "".join(f"      {line}\n" for line in [TIMED, *text.splitlines()])
        lines.append(f"  - name: {name}\n    host: '{host}'\n    command: |\n{body}")
    file = folder / "scenario.yaml"
    file.write_text("".join(lines))
    return file


def seconds(ran: Run, host: str, name: str) -> list[float]:
    text = ran.output(host, name)
    assert " ns: " in text, ran.everything(host, name)
    return [int(number) / 1e9 for number in re.findall(r"^(\d+) ns: ", text, re.MULTILINE)]


DD = "t dd if=/dev/zero of=/srv/raw/$(hostname) bs=98000000 count=1 iflag=fullblock status=none"


def test_writers_on_one_server_have_an_equal_share_and_its_bandwidth_together(simunix: Simunix, tmp_path: Path) -> None:
    """Emeras' server of 98 MB/s: alone a second, four at a time four seconds each. A round trip takes 2 ms."""
    alone, _ = run_twice(simunix, scenario(tmp_path, ("n1", "w", DD)), tmp_path)
    assert seconds(alone, "n1", "w") == pytest.approx([1], rel=0.05)
    ran = run(simunix, scenario(tmp_path, ("n[1-4]", "w", DD)), tmp_path / "four")
    for number in range(1, 5):
        assert seconds(ran, f"n{number}", "w") == pytest.approx([4], rel=0.02)


CONTENT = """\
echo one > /srv/home/f
mkdir /srv/home/d && mv /srv/home/f /srv/home/d/f
sleep 2
cat /srv/home/d/f
df --output=source,fstype,size,target /srv/home /srv/wide | tail -2
grep srv /proc/mounts
stat -f -c %T /srv/home
"""
LOOKS = """\
sleep 1
cat /srv/local/d/f
echo two > /srv/local/d/f
df --output=source,fstype,target /srv/local | tail -1
"""


def test_all_hosts_have_one_content(simunix: Simunix, tmp_path: Path) -> None:
    """The server sees what its clients write, and they what it writes; mounts are of server:path."""
    ran = run(simunix, scenario(tmp_path, ("n1", "writes", CONTENT), ("fs1", "looks", LOOKS)), tmp_path / "out")
    lines = [line.split() for line in ran.output("n1", "writes").splitlines()]
    assert lines == [
        ["two"],
        ["fs1:/export/home", "nfs4", "9765624", "/srv/home"],
        ["fs[1-2]:/srv/wide", "nfs4", "19531248", "/srv/wide"],
        ["fs1:/export/home", "/srv/home", "nfs4", "rw,relatime", "0", "0"],
        ["fs1:/srv/raw", "/srv/raw", "nfs4", "rw,relatime", "0", "0"],
        ["fs[1-2]:/srv/wide", "/srv/wide", "nfs4", "rw,relatime", "0", "0"],
        ["nfs"],
    ], ran.everything("n1", "writes")
    assert ran.output("fs1", "looks").split() == ["one", "/dev/sdb", "ext4", "/srv/local"]
    assert (tmp_path / "out/exports/fs1/export_home/d/f").read_text() == "two\n"


SMALL = """\
dd if=/dev/zero of=/srv/local/f bs=1M count=10 status=none
sleep 3
t dd if=/srv/home/f of=/dev/null bs=4096 status=none
t dd if=/srv/home/f of=/dev/null bs=4096 status=none
"""


def test_small_reads_in_a_row_are_read_ahead(simunix: Simunix, tmp_path: Path) -> None:
    """Of 2,560 reads of a page few wait for the 5 ms: two windows of 32 pages are on their way at a time."""
    text, server = SMALL.split("\n", 1)[1], SMALL.split("\n", 1)[0]
    ran = run(simunix, scenario(tmp_path, ("fs1", "writes", server), ("n1", "reads", text)), tmp_path / "out")
    first, second = seconds(ran, "n1", "reads")
    windows = 2560 / 32
    assert first == pytest.approx(windows * 0.005 / 2 + 10.5e6 / 200e6, rel=0.2)
    assert second < 0.01


@needs("iostat")
def test_iostat_tells_what_the_disk_of_a_server_does(simunix: Simunix, tmp_path: Path) -> None:
    """Ten operations of 9.8 MB in a second, 0.1 s each."""
    write = "dd if=/dev/zero of=/srv/raw/f bs=9800000 count=40 iflag=fullblock status=none"
    look = "export S_TIME_FORMAT=ISO LC_ALL=C\niostat -d -x -k sdb 1 2; iostat -d -k 1 2"
    programs = (("n1", "w", write), ("fs1", "looks", look), ("n1", "looks", "sleep 1.5; LC_ALL=C pidstat -d 1 1"))
    ran = run(simunix, scenario(tmp_path, *programs), tmp_path / "out")
    rows = [line.split() for line in ran.output("fs1", "looks").splitlines() if line.startswith("sd")]
    assert [row[0] for row in rows] == ["sdb"] * 4, ran.everything("fs1", "looks")
    writes_per_s, written_kib_per_s, used = float(rows[1][7]), float(rows[1][8]), float(rows[1][-1])
    assert float(rows[3][1]) == pytest.approx(10, abs=1), "without options as well"
    assert float(rows[3][3]) == pytest.approx(98e6 / 1024, rel=0.11)
    writers = [line.split() for line in ran.output("n1", "looks").splitlines() if line.startswith("Average:")][1:]
    assert [row[-1] for row in writers] == ["dd"], "the process that writes, on its own host"
    assert float(writers[0][4]) == pytest.approx(98e6 / 1024, rel=0.11)
    assert writes_per_s == pytest.approx(10, abs=1)
    assert written_kib_per_s == pytest.approx(98e6 / 1024, rel=0.11)
    assert 90 <= used <= 100


NAMES = """\
import os, time
def took(name, function):
    begin = time.monotonic_ns()
    result = function()
    print(name, round((time.monotonic_ns() - begin) / 1e6, 1), flush=True)
    return result
fd = took('create', lambda: os.open('/srv/home/f', os.O_CREAT | os.O_RDWR))
took('write', lambda: os.write(fd, bytes(98_000)))
took('close', lambda: os.close(fd))
fd = took('open', lambda: os.open('/srv/home/f', os.O_RDONLY))
took('read', lambda: os.read(fd, 98_000))
took('fstat', lambda: os.fstat(fd))
took('close-clean', lambda: os.close(fd))
took('stat', lambda: os.stat('/srv/home/f'))
time.sleep(3)
took('stat-later', lambda: os.stat('/srv/home/f'))
took('mkdir', lambda: os.mkdir('/srv/home/d'))
took('rename', lambda: os.rename('/srv/home/f', '/srv/home/d/f'))
took('truncate', lambda: os.truncate('/srv/home/d/f', 5))
took('list', lambda: os.listdir('/srv/home/d'))
took('unlink', lambda: os.unlink('/srv/home/d/f'))
took('rmdir', lambda: os.rmdir('/srv/home/d'))
took('elsewhere', lambda: os.stat('/tmp'))
fd = took('create-wide', lambda: os.open('/srv/wide/f', os.O_CREAT | os.O_WRONLY))
data = bytes(98_000_000)
took('write-wide', lambda: os.write(fd, data))
"""
NAMES_MS = {
    **dict.fromkeys(("create", "mkdir", "rename", "truncate", "unlink", "rmdir"), 5),
    **dict.fromkeys(("open", "stat-later"), 2),
    "close": 5 + 24 * 4096 / 98e3,
    **dict.fromkeys(("write", "read", "fstat", "close-clean", "stat", "elsewhere"), 0),
    **dict.fromkeys(("list", "create-wide"), 5),
    "write-wide": 5 + 500,
}
"""A round trip of 2 ms, and 3 ms of the disk where it has to do something."""


def test_what_names_cost(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "names.py").write_text(NAMES)
    ran = run(simunix, scenario(tmp_path, ("n1", "names", f"{sys.executable} {tmp_path}/names.py")), tmp_path / "out")
    found = {name: float(ms) for name, ms in (line.split() for line in ran.output("n1", "names").splitlines())}
    assert found == pytest.approx(NAMES_MS, abs=0.11), ran.everything("n1", "names")
