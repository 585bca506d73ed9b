"""Memory that is mapped to files on storages: what is touched first is read, what was stored is written back."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import Run, run, run_twice

SCENARIO = """\
hosts: [{name: n1, memory: 100MiB}]
storages: [{name: disk, host: n1, read_bandwidth: 100MiBps, write_bandwidth: 40MiBps, latency: LATENCY}]
mounts:
  - {path: /srv/store, host: n1, storage: disk}
  - {path: OLD, host: n1, storage: disk, content: copy}
processes: [{name: mapped, host: n1, command: [PYTHON, PROGRAM]}]
"""
BEGIN = """\
import mmap, os, random, sys, time
MiB = 1 << 20
def took(name, function):
    begin = time.monotonic_ns()
    function()
    print(name, time.monotonic_ns() - begin, flush=True)
def sweep(memory, size, step=4096):
    for at in range(0, size, step):
        memory[at]
def store(memory, size, step=4096):
    for at in range(0, size, step):
        memory[at] = 7
def mapped(path, size=0, **how):
    return mmap.mmap(os.open(path, os.O_RDWR), size, **how)
def dirty():
    return int(open('/proc/self/io').read().split('write_bytes: ')[1].split()[0])
"""
COST_NS = 100_000
AHEAD_MS = 1.25
"""What is read ahead behind the end of what is touched, 128 KiB, has its share of the disk meanwhile."""


def ran_twice(simunix: Simunix, folder: Path, text: str, latency: str = "0ms") -> Run:
    """Both of two runs of a program beside a file of 8 MiB, which has been on the storage from the beginning."""
    (folder / "old").mkdir()
    (folder / "old/file").write_bytes(b"x" * (8 << 20))
    (folder / "mapped.py").write_text(BEGIN + text.replace("OLD", f"{folder}/old/file"))
    scenario = SCENARIO.replace("PYTHON", sys.executable).replace("PROGRAM", f"{folder}/mapped.py")
    (folder / "scenario.yaml").write_text(scenario.replace("OLD", f"{folder}/old").replace("LATENCY", latency))
    return run_twice(simunix, folder / "scenario.yaml", folder)[0]


def times(ran: Run) -> dict[str, float]:
    """Milliseconds of each thing that the program has timed."""
    lines = [line.split() for line in ran.output("n1", "mapped").splitlines()]
    assert lines, ran.everything("n1", "mapped")
    return {name: int(duration) / 1e6 for name, duration in lines}


CALLS = """\
took('to-map', lambda: mapped('OLD'))
old = mapped('OLD')
took('sweep', lambda: sweep(old, 4 * MiB))
took('again', lambda: sweep(old, 4 * MiB))
took('other-mapping', lambda: sweep(mapped('OLD'), 4 * MiB))
fd = os.open('OLD', os.O_RDWR)
took('read', lambda: os.pread(fd, 4 * MiB, 0))
time.sleep(0.1)
took('one-page', lambda: old[6 * MiB])
took('of-its-block', lambda: old[6 * MiB + 100_000])
took('flush-clean', old.flush)
took('store', lambda: store(old, MiB))
took('flush', old.flush)
took('flush-again', old.flush)
took('store-again', lambda: store(old, MiB))
took('fsync', lambda: os.fsync(fd))
store(old, MiB)
took('flush-half', lambda: old.flush(0, MiB // 2))
took('flush-rest', old.flush)
old[0] = 1
took('flush-page', old.flush)
new = os.open('/srv/store/new', os.O_RDWR | os.O_CREAT)
os.ftruncate(new, 4 * MiB)
hole = mapped('/srv/store/new')
took('hole', lambda: store(hole, 4 * MiB))
took('hole-fsync', lambda: os.fsync(new))
hole.resize(8 * MiB)
took('grown', lambda: store(hole, 8 * MiB))
took('grown-sync', os.sync)
store(hole, MiB)
hole.close()
took('after-munmap', lambda: os.fsync(new))
private = mapped('OLD', access=mmap.ACCESS_COPY)
private[0] = 1
took('private-fsync', lambda: os.fsync(fd))
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
took('read-anew', lambda: os.pread(fd, 8 * MiB, 0))
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
advised = mapped('OLD')
took('to-advise', lambda: advised.madvise(mmap.MADV_WILLNEED))
took('advised', lambda: sweep(advised, 8 * MiB))
room = mapped('/srv/store/new')
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
took('read-into', lambda: os.preadv(fd, [room], 0))
took('read-into-flush', room.flush)
"""
MS = {
    **dict.fromkeys(("to-map", "again", "other-mapping", "of-its-block", "flush-clean", "flush-again"), 0),
    **dict.fromkeys(("store", "store-again", "hole", "grown", "private-fsync", "to-advise"), 0),
    "sweep": 40 + AHEAD_MS,
    "read": 0,
    "one-page": 128 / 100 / 1.024,
    **dict.fromkeys(("flush", "fsync", "after-munmap"), 25),
    **dict.fromkeys(("flush-half", "flush-rest"), 12.5),
    "flush-page": 1000 / 256 / 40,
    "hole-fsync": 100,
    "grown-sync": 200,
    **dict.fromkeys(("read-anew", "advised", "read-into"), 80),
    "read-into-flush": 200,
}
"""At 100 and 40 MiB/s. A page that is touched brings 128 KiB along."""


def test_what_is_touched_is_read_and_what_is_stored_is_written(simunix: Simunix, tmp_path: Path) -> None:
    ran = ran_twice(simunix, tmp_path, CALLS)
    found = times(ran)
    assert set(found) == set(MS), ran.everything("n1", "mapped")
    for name, expected_ms in MS.items():
        assert found[name] == pytest.approx(expected_ms, rel=0.001, abs=COST_NS / 1e6), name
    assert ran.record["deterministic"] is True


LATENCY = """\
old = mapped('OLD')
took('near', lambda: sweep(old, 2 * MiB))
took('far', lambda: [old[at * MiB] for at in (7, 6, 5, 4)])
"""


def test_touches_wait_one_after_the_other_and_are_read_ahead(simunix: Simunix, tmp_path: Path) -> None:
    """A sweep waits for 128 KiB, then has two such windows on their way at a time, which share the disk. Touches that are far
    from each other wait for 10 ms and 128 KiB each."""
    found = times(ran_twice(simunix, tmp_path, LATENCY, "10ms"))
    window_ms = 128 / 100 / 1.024
    assert found["far"] == pytest.approx(4 * (10 + window_ms), rel=0.01)
    assert found["near"] == pytest.approx(10 + window_ms + 16 / 2 * (10 + 2 * window_ms), rel=0.01)


ENDS = """\
def child(*steps):
    if os.fork() == 0:
        for step in steps:
            step()
        os._exit(0)
    os.wait()
new = os.open('/srv/store/new', os.O_RDWR | os.O_CREAT)
os.ftruncate(new, MiB)
ours = mapped('/srv/store/new')
store(ours, MiB)
os.fsync(new)
child(lambda: store(ours, MiB))
took('exited', lambda: os.fsync(new))
child(lambda: store(ours, MiB), ours.flush)
took('flushed', lambda: os.fsync(new))
child(lambda: store(ours, MiB), lambda: os.execv('/bin/true', ['true']))
took('replaced', lambda: os.fsync(new))
store(ours, MiB)
time.sleep(45)
took('written-back', lambda: os.fsync(new))
store(ours, MiB)
took('stored-anew', lambda: os.fsync(new))
before = dirty()
store(ours, MiB)
print('counted', (dirty() - before) * 10**6 // MiB)
"""


def test_what_was_stored_is_dirty_whatever_becomes_of_its_process(simunix: Simunix, tmp_path: Path) -> None:
    found = times(ran_twice(simunix, tmp_path, ENDS))
    expected = {"exited": 25, "flushed": 0, "replaced": 25, "written-back": 0, "stored-anew": 25, "counted": 1}
    assert found == pytest.approx(expected, abs=COST_NS / 1e6)


CONTENT = """\
import hashlib, mmap, os, random, sys
PAGE, chance = 4096, random.Random(7)
path = sys.argv[1] + '/content'
fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.ftruncate(fd, 64 * PAGE)
memory = mmap.mmap(fd, 64 * PAGE)
source = os.open(sys.argv[1] + '/source', os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.write(source, bytes(range(256)) * 64)
def stored_by_child(at):
    if os.fork() == 0:
        memory[at] = 9
        os._exit(0)
    return os.wait()[1]
def resized(at):
    memory.resize(max(1, at // PAGE) * PAGE)
    return len(memory), os.fstat(fd).st_size
ACTS = [
    lambda at: memory.__setitem__(at, at % 251),
    lambda at: memory[at],
    lambda at: os.pwrite(fd, b'w', at),
    lambda at: os.pread(fd, 1, at),
    lambda at: os.preadv(source, [memoryview(memory)[at:at + 5000]], 0),
    lambda at: os.pwrite(source, memoryview(memory)[at:at + 5000], 0),
    lambda at: memory.flush(at // PAGE * PAGE, PAGE),
    lambda at: os.fsync(fd),
    lambda at: memory.madvise(mmap.MADV_DONTNEED),
    stored_by_child,
    resized,
]
seen = [chance.choice(ACTS)(chance.randrange(len(memory))) for _ in range(400)]
print(hashlib.sha256(repr(seen).encode() + memory[:] + open(path, 'rb').read()).hexdigest())
"""


def test_the_bytes_are_those_of_a_run_outside(simunix: Simunix, tmp_path: Path) -> None:
    """Four hundred things, chosen by chance, that are done to a mapping and to its file, natively and on a storage."""
    program = tmp_path / "content.py"
    program.write_text(CONTENT)
    natively = subprocess.run([sys.executable, program, tmp_path], check=True, capture_output=True, text=True).stdout
    scenario = SCENARIO.replace("  - {path: OLD, host: n1, storage: disk, content: copy}\n", "").replace("LATENCY", "0ms")
    scenario = scenario.replace("[PYTHON, PROGRAM]", f"[{sys.executable}, {program}, /srv/store]")
    (tmp_path / "scenario.yaml").write_text(scenario)
    ran = run(simunix, tmp_path / "scenario.yaml", tmp_path / "out")
    assert len(natively) == 65
    assert ran.output("n1", "mapped") == natively, ran.everything("n1", "mapped")


STARTED = """\
hosts: [{name: n1}]
storages: [{name: disk, host: n1, read_bandwidth: 10MiBps, write_bandwidth: 10MiBps, latency: 1ms}]
mounts: [{path: FOLDER, host: n1, storage: disk, content: copy}]
processes:
  - name: starts
    host: n1
    command: |
      t() { b=$(date +%s%N); $1; e=$(date +%s%N); echo $1 $((e-b)); }
      t /bin/true; t FOLDER/true; t FOLDER/true
"""


def test_programs_on_a_mount_are_read_when_they_are_started(simunix: Simunix, tmp_path: Path) -> None:
    """A small one by one operation, and never again while it is in memory."""
    (tmp_path / "bin").mkdir()
    program = Path(shutil.copy("/bin/true", tmp_path / "bin"))
    (tmp_path / "scenario.yaml").write_text(STARTED.replace("FOLDER", f"{tmp_path}/bin"))
    ran = run_twice(simunix, tmp_path / "scenario.yaml", tmp_path)[0]
    elsewhere, first, second = (int(line.split()[1]) / 1e6 for line in ran.output("n1", "starts").splitlines())
    pages = -(-program.stat().st_size // 4096)
    assert first - elsewhere == pytest.approx(1 + pages * 1000 / 256 / 10, rel=0.01)
    assert second == pytest.approx(elsewhere, rel=0.1)
