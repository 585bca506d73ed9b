"""Paths that are kept on storages: what is read and written there takes the storage's time, and nothing else does."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rsg_server.errors import SimunixError
from simunix.launch.emulation import Emulation
from simunix.launch.factory.container import Isolation
from simunix.launch.run_directory import RunDirectory
from simunix.planning.expand import expand
from simunix.rjms.scenario import load
from tests.conftest import Simunix
from tests.system.hosts.timed_programs import TIMED, times
from tests.system.runs import run, run_twice

STORAGES = """\
hosts: [{name: 'n[1-2]', private: [/srv/store/own]}]
storages:
  - {name: disk, host: 'n[1-2]', read_bandwidth: 100MBps, write_bandwidth: 40MBps}
  - {name: slow, host: n1, read_bandwidth: 10MBps, write_bandwidth: 10MBps, latency: 5ms}
mounts:
  - {path: /srv/store, host: 'n[1-2]', storage: disk, cache: false}
  - {path: /srv/slow, host: n1, storage: slow, cache: false}
"""
COST_NS = 50_000
"""What the calls around an operation may cost besides."""


def scenario(folder: Path, *programs: tuple[str, str, str]) -> Path:
    """A scenario with a Python program for each (host, name, text)."""
    lines = [STORAGES, "processes:"]
    for host, name, text in programs:
        (folder / f"{name}.py").write_text(TIMED + text)
        lines.append(f"  - {{name: {name}, host: '{host}', command: [{sys.executable}, {folder}/{name}.py]}}")
    file = folder / "scenario.yaml"
    file.write_text("\n".join(lines) + "\n")
    return file


CALLS = """\
fd, other = opened('/srv/store/f', 4 * MB), opened('/tmp/f', 4 * MB)
room, data = bytearray(MB), bytes(MB)
took('read', lambda: len(os.read(fd, MB)))
took('readv', lambda: os.readv(fd, [bytearray(MB // 2), bytearray(MB // 2)]))
took('pread', lambda: len(os.pread(fd, MB, 0)))
took('preadv', lambda: os.preadv(fd, [room], MB))
took('preadv2', lambda: os.preadv(fd, [room], MB, os.RWF_HIPRI))
took('short', lambda: len(os.pread(fd, MB, 4 * MB - 1000)))
took('end', lambda: len(os.pread(fd, MB, 4 * MB)))
took('write', lambda: os.write(fd, data))
took('writev', lambda: os.writev(fd, [data[:MB // 2], data[MB // 2:]]))
took('pwrite', lambda: os.pwrite(fd, data, 0))
took('pwritev', lambda: os.pwritev(fd, [data], MB))
took('pwritev2', lambda: os.pwritev(fd, [data], MB, os.RWF_SYNC))
took('sendfile', lambda: os.sendfile(other, fd, 0, MB))
took('sendfile-into', lambda: os.sendfile(fd, other, 0, MB))
took('copy', lambda: os.copy_file_range(fd, other, MB, 0, 0))
took('copy-within', lambda: os.copy_file_range(fd, fd, MB, 0, 2 * MB))
reading, writing = os.pipe()
took('splice-from', lambda: os.splice(fd, writing, 50_000, 0))
took('splice-to', lambda: os.splice(reading, fd, 50_000, None, 0))
took('fsync', lambda: os.fsync(fd))
took('outside', lambda: os.pread(other, MB, 0) and os.pwrite(other, data, 0))
took('own', lambda: os.write(opened('/srv/store/own/f'), data))
slow = opened('/srv/slow/f', MB)
took('slow-read', lambda: len(os.pread(slow, MB, 0)))
took('slow-write', lambda: os.pwrite(slow, data, 0))
took('slow-fsync', lambda: os.fsync(slow))
took('slow-fdatasync', lambda: os.fdatasync(slow))
took('slow-wrong', lambda: os.path.exists('/srv/slow/none'))
"""
READ_MS, WRITE_MS = 10.0, 25.0
EXPECTED_MS = {
    **dict.fromkeys(("read", "readv", "pread", "preadv", "preadv2", "sendfile", "copy"), READ_MS),
    **dict.fromkeys(("write", "writev", "pwrite", "pwritev", "pwritev2", "sendfile-into"), WRITE_MS),
    "copy-within": READ_MS + WRITE_MS,
    "short": 0.01,
    "splice-from": 0.5,
    "splice-to": 1.25,
    **dict.fromkeys(("end", "fsync", "outside", "own", "slow-wrong"), 0),
    **dict.fromkeys(("slow-read", "slow-write"), 105),
    **dict.fromkeys(("slow-fsync", "slow-fdatasync"), 5),
}
"""At 100 and 40 MB/s for a megabyte; on the slow storage at 10 MB/s, after 5 ms."""


def test_each_call_takes_the_time_of_its_bytes(simunix: Simunix, tmp_path: Path) -> None:
    first, _ = run_twice(simunix, scenario(tmp_path, ("n1", "calls", CALLS)), tmp_path)
    found = times(first, "n1", "calls")
    assert set(found) == set(EXPECTED_MS), first.everything("n1", "calls")
    for name, expected_ms in EXPECTED_MS.items():
        assert 0 <= found[name][0] - expected_ms * 10**6 <= COST_NS, (name, found[name])
    assert first.record["deterministic"] is True


CACHED = """\
MiB = 1 << 20
fd, data = os.open('/srv/store/f', os.O_RDWR | os.O_CREAT), bytes(MiB)
took('written', lambda: [os.write(fd, data) for _ in range(4)][0])
took('read-back', lambda: len(os.pread(fd, 4 * MiB, 0)))
took('fsync', lambda: os.fsync(fd))
took('fsync-again', lambda: os.fsync(fd))
took('overwritten', lambda: os.pwrite(fd, data, MiB // 2))
took('fdatasync', lambda: os.fdatasync(fd))
def range_of(first, size, flags):
    return ctypes.CDLL(None).sync_file_range(fd, ctypes.c_long(first), ctypes.c_long(size), flags)
os.pwrite(fd, bytes(4 * MiB), 0)
took('range-begun', lambda: range_of(0, MiB, 2))
took('range-nothing', lambda: range_of(0, 0, 0))
took('range-waited', lambda: range_of(0, 2 * MiB, 7))
took('range-to-the-end', lambda: range_of(MiB, 0, 7))
synced = os.open('/srv/store/f', os.O_RDWR | os.O_DSYNC)
took('dsync', lambda: os.pwrite(synced, data, 0))
took('rwf-sync', lambda: os.pwritev(fd, [data], 0, os.RWF_SYNC))
took('nothing-dirty', lambda: os.fsync(fd))
took('appended', lambda: os.write(os.open('/srv/store/f', os.O_WRONLY | os.O_APPEND), data))
took('appended-sync', lambda: os.fsync(fd))
os.ftruncate(fd, 2 * MiB)
os.ftruncate(fd, 4 * MiB)
took('after-truncate', lambda: len(os.pread(fd, 4 * MiB, 0)))
took('copied', lambda: os.copy_file_range(fd, opened('/srv/store/g'), MiB, 0, 0))
took('sync', lambda: os.sync())
old = os.open('/srv/old/file', os.O_RDONLY)
took('first-read', lambda: len(os.read(old, 2 * MiB)))
took('second-read', lambda: len(os.pread(old, 2 * MiB, 0)))
time.sleep(0.01)  # what is read ahead has been read
took('page', lambda: len(os.pread(old, 1, 3 * MiB)))
took('same-page', lambda: len(os.pread(old, 1, 3 * MiB + 4095)))
took('next-page', lambda: len(os.pread(old, 1, 3 * MiB + 4096)))
direct = os.open('/srv/old/file', os.O_RDONLY | os.O_DIRECT)
room = mmap.mmap(-1, MiB)
took('direct', lambda: os.preadv(direct, [room], 0))
for _ in range(3):
    temporary = os.open('/srv/store/t', os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.write(temporary, data)
    os.close(temporary)
    os.remove('/srv/store/t')
took('removed', lambda: os.sync())
took('large', lambda: sum(os.pwrite(fd, data, at * MiB) for at in range(40)) // MiB)
"""
CACHED_SCENARIO = """\
hosts: [{name: n1, memory: 100MiB}]
storages: [{name: disk, host: n1, read_bandwidth: 100MiBps, write_bandwidth: 40MiBps}]
mounts:
  - {path: /srv/store, host: n1, storage: disk}
  - {path: OLD, host: n1, storage: disk, content: copy}
processes: [{name: cached, host: n1, command: [PYTHON, PROGRAM]}]
"""
CACHED_MS = {
    **dict.fromkeys(
        ("written", "read-back", "fsync-again", "overwritten", "nothing-dirty", "appended", "second-read", "same-page"), 0
    ),
    **dict.fromkeys(("range-begun", "range-nothing"), 0),
    "range-waited": 50,
    "range-to-the-end": 50,
    "fsync": 100,
    **dict.fromkeys(("fdatasync", "dsync", "rwf-sync", "appended-sync", "sync"), 25),
    **dict.fromkeys(("after-truncate", "first-read"), 20),
    "copied": 0,
    "page": 1000 / 100 / 256,
    "next-page": 4 * 1000 / 100 / 256,
    "direct": 10,
    "removed": 0,
    "large": 400,
}
"""At 100 and 40 MiB/s. Who reads on has four pages read. Of 40 MiB that are written at once 20, a fifth of memory, may be
dirty; 4 MiB go at a time."""


def test_the_page_cache_of_a_host(simunix: Simunix, tmp_path: Path) -> None:
    """Reads of what is in memory and writes take no time, and fsync what is dirty."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old/file").write_bytes(bytes(4 << 20))
    (tmp_path / "cached.py").write_text(TIMED + CACHED.replace("/srv/old", f"{tmp_path}/old"))
    text = CACHED_SCENARIO.replace("PYTHON", sys.executable).replace("PROGRAM", f"{tmp_path}/cached.py")
    (tmp_path / "scenario.yaml").write_text(text.replace("OLD", f"{tmp_path}/old"))
    first, _ = run_twice(simunix, tmp_path / "scenario.yaml", tmp_path)
    found = times(first, "n1", "cached")
    assert set(found) == set(CACHED_MS), first.everything("n1", "cached")
    for name, expected_ms in CACHED_MS.items():
        if name != "large":
            assert 0 <= found[name][0] - expected_ms * 10**6 <= COST_NS, (name, found[name])
    assert 375 <= found["large"][0] / 10**6 <= 625, found["large"]


SHARED = """\
import_fd = opened('/srv/store/' + sys.argv[0].rpartition('/')[2], 4 * MB)
took('{word}', lambda: {call})
"""


def test_processes_of_a_host_share_its_storage_and_hosts_do_not(simunix: Simunix, tmp_path: Path) -> None:
    """A read beside a write: the write has its 40 MB/s, the read what is left of 100."""
    reading = SHARED.format(word="read", call="len(os.pread(import_fd, 3 * MB, 0))")
    writing = SHARED.format(word="write", call="os.pwrite(import_fd, bytes(4 * MB), 0)")
    ran = run(simunix, scenario(tmp_path, ("n[1-2]", "reader", reading), ("n1", "writer", writing)), tmp_path / "out")
    assert abs(times(ran, "n2", "reader")["read"][0] - 30_000_000) <= COST_NS
    assert abs(times(ran, "n1", "reader")["read"][0] - 50_000_000) <= 10 * COST_NS  # they do not begin at one moment
    assert abs(times(ran, "n1", "writer")["write"][0] - 100_000_000) <= COST_NS
    files = tmp_path / "out/hosts"
    assert (files / "n1/files/srv_store/writer.py").stat().st_size == 4_000_000
    assert not (files / "n2/files/srv_store/writer.py").exists()


INHERITED = """\
fd = opened('/srv/store/f', 4 * MB)
read = "import os; os.pread(0, 1_000_000, 0)"
took('dup', lambda: len(os.pread(os.dup(fd), MB, 0)))
def in_child():
    if os.fork() == 0:
        os.pread(fd, MB, 0)
        os._exit(0)
    os.wait()
took('fork', in_child)
took('passed', lambda: subprocess.run(['/bin/dd', 'of=/dev/null', 'bs=1000000', 'count=1', 'status=none'], stdin=fd).returncode)
os.lseek(fd, 0, 0)
left, right = socket.socketpair()
socket.send_fds(left, [b'x'], [fd])
took('sent', lambda: len(os.pread(socket.recv_fds(right, 1, 1)[1][0], MB, 0)))
os.chdir('/srv/store')
took('relative', lambda: len(os.pread(os.open('f', os.O_RDONLY), MB, 0)))
os.rename('f', 'g')
took('renamed', lambda: len(os.pread(fd, MB, 0)))
"""


def test_a_descriptor_stays_one_of_its_mount(simunix: Simunix, tmp_path: Path) -> None:
    ran = run(simunix, scenario(tmp_path, ("n1", "inherited", INHERITED)), tmp_path / "out")
    found = times(ran, "n1", "inherited")
    assert set(found) == {"dup", "fork", "passed", "sent", "relative", "renamed"}, ran.everything("n1", "inherited")
    for name, (duration_ns, _) in found.items():
        assert 10_000_000 <= duration_ns <= 12_000_000, (name, duration_ns)


SIGNALS = """\
fd = opened('/srv/store/f')
seen = []
signal.signal(signal.SIGALRM, lambda *_: seen.append(time.monotonic_ns()))
signal.setitimer(signal.ITIMER_REAL, 0.01)
begin = time.monotonic_ns()
took('written', lambda: os.write(fd, bytes(4 * MB)))
took('handled', lambda: (seen[0] - begin) // MB)
ticks = []
def tick():
    for _ in range(5):
        time.sleep(0.01)
        ticks.append(time.monotonic_ns())
thread = threading.Thread(target=tick)
thread.start()
os.write(fd, bytes(4 * MB))
took('meanwhile', lambda: len(ticks))
thread.join()
"""


def test_no_signal_ends_a_write_and_other_threads_go_on_meanwhile(simunix: Simunix, tmp_path: Path) -> None:
    ran = run(simunix, scenario(tmp_path, ("n1", "signals", SIGNALS)), tmp_path / "out")
    found = times(ran, "n1", "signals")
    assert abs(found["written"][0] - 100_000_000) <= COST_NS
    assert found["written"][1] == "4000000"
    assert found["handled"][1] == "100", "the handler runs when the write has ended"
    assert found["meanwhile"][1] == "5"


KILLED = """\
child = subprocess.Popen([sys.executable, '-c', "open('/srv/store/f', 'wb').write(bytes(40_000_000))"])
time.sleep(0.5)
child.kill()
took('killed', lambda: child.wait())
fd = opened('/srv/store/g', MB)
took('alone', lambda: len(os.pread(fd, MB, 0)))
"""


def test_a_killed_writer_leaves_the_storage_to_others(simunix: Simunix, tmp_path: Path) -> None:
    ran = run(simunix, scenario(tmp_path, ("n1", "killed", KILLED)), tmp_path / "out")
    found = times(ran, "n1", "killed")
    assert found["killed"][1] == "-9"
    assert abs(found["alone"][0] - 10_000_000) <= COST_NS


def test_dd_tells_the_bandwidth(simunix: Simunix, tmp_path: Path) -> None:
    file = scenario(tmp_path)
    command = "dd if=/dev/zero of=/srv/store/f bs=1000000 count=20 2>&1; dd if=/srv/store/f of=/dev/null bs=500000 2>&1"
    file.write_text(STORAGES + f"processes: [{{name: dd, host: n1, command: '{command}; stat -c %a /srv/store'}}]\n")
    ran = run(simunix, file, tmp_path / "out")
    lines = ran.output("n1", "dd").splitlines()
    assert [line.rpartition(", ")[2] for line in lines if "copied" in line] == ["40.0 MB/s", "100 MB/s"]
    assert lines[-1] == "1777"


def test_without_namespaces_mounts_are_refused(tmp_path: Path) -> None:
    file = scenario(tmp_path, ("n1", "none", ""))
    plan = expand(load(file), tmp_path).plan
    with pytest.raises(SimunixError, match="mounts: a path that is kept on a storage needs namespaces"):
        Emulation(plan, RunDirectory(tmp_path / "out"), isolation=Isolation.NONE)
