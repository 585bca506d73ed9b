"""Storages that become slow, read-only, full, or fail, and file servers that are off, by events of a scenario and by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from rsg_server.faults.changes import StorageChange, from_message
from simunix.cli.faults import changes
from simunix.rjms.scenario import load
from tests.conftest import Simunix
from tests.system.runs import run_twice

SCENARIO = """\
hosts: [{name: n1}, {name: fs1}]
network: {bandwidth: 400MBps, latency: 500us}
storages: [{name: disk, host: fs1, read_bandwidth: 100MBps, write_bandwidth: 100MBps}]
mounts:
  - {path: /srv/raw, host: n1, server: fs1, storage: disk, cache: false}
  - {path: /srv/home, host: n1, server: fs1, storage: disk}
  - {path: /srv/soft, host: n1, server: fs1, storage: disk, soft: 3s}
events:
  - {at: 5s, storage: 'fs1:disk', write_bandwidth: 10MBps, duration: 9s}
  - {at: 15s, storage: 'fs1:disk', state: read-only, duration: 9s}
  - {at: 25s, storage: 'fs1:disk', state: full, duration: 9s}
  - {at: 35s, storage: 'fs1:disk', state: failing, duration: 9s}
  - {at: 52s, host: fs1, state: off, duration: 10s}
  - {at: 85s, link: fs1, state: down}
processes: [{name: p, host: n1, command: [PYTHON, PROGRAM]}]
"""
PROGRAM = """\
import errno, os, time
begin = time.monotonic()
def tried(name, function):
    start = time.monotonic()
    try:
        result = function()
    except OSError as error:
        result = errno.errorcode[error.errno]
    print(name, result, f'{time.monotonic() - start:.2f}', flush=True)
    return result
def until(moment):
    time.sleep(begin + moment - time.monotonic())
MB = 1_000_000
fd = os.open('/srv/raw/f', os.O_CREAT | os.O_RDWR)
tried('written', lambda: os.pwrite(fd, bytes(10 * MB), 0))
until(10)
tried('slow', lambda: os.pwrite(fd, bytes(10 * MB), 0))
until(20)
tried('read-only', lambda: os.pwrite(fd, b'x', 0))
tried('new', lambda: os.open('/srv/raw/g', os.O_CREAT | os.O_RDWR))
tried('mkdir', lambda: os.mkdir('/srv/raw/g'))
tried('unlink', lambda: os.unlink('/srv/raw/f'))
tried('read', lambda: len(os.pread(fd, 10 * MB, 0)))
until(30)
tried('full', lambda: os.write(os.open('/srv/raw/h', os.O_CREAT | os.O_WRONLY), bytes(MB)))
tried('overwrite', lambda: os.pwrite(fd, bytes(MB), 0))
until(40)
tried('failing', lambda: len(os.read(fd, MB)))
tried('position', lambda: os.lseek(fd, 0, os.SEEK_CUR))
until(50)
fd = os.open('/srv/home/c', os.O_CREAT | os.O_RDWR)
tried('cached', lambda: os.write(fd, bytes(MB)))
until(55)
tried('hard', lambda: os.fsync(fd))
tried('after', lambda: len(os.pread(fd, MB, 0)))
until(80)
fd = os.open('/srv/soft/s', os.O_CREAT | os.O_RDWR)
os.write(fd, bytes(MB))
until(90)
tried('soft', lambda: os.fsync(fd))
tried('soft-open', lambda: os.open('/srv/soft/s', os.O_RDONLY))
os.write(fd, bytes(MB))
tried('soft-close', lambda: os.close(fd))
"""
EXPECTED = {
    "written": ("10000000", 0.1),
    "slow": ("10000000", 1.0),
    "read-only": ("EROFS", 0),
    "new": ("EROFS", 0),
    "mkdir": ("EROFS", 0),
    "unlink": ("EROFS", 0),
    "read": ("10000000", 0.1),
    "full": ("ENOSPC", 0),
    "overwrite": ("1000000", 0.01),
    "failing": ("EIO", 0),
    "position": ("0", 0),
    "cached": ("1000000", 0),
    "hard": ("None", 7.01),
    "after": ("1000000", 0),
    "soft": ("EIO", 3),
    "soft-open": ("EIO", 3),
    "soft-close": ("EIO", 3),
}
"""What each call returns, and how many seconds it takes: the hard mount waits from second 55 until the server is back at 62."""


def test_what_programs_see_of_faults(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    file = tmp_path / "scenario.yaml"
    file.write_text(SCENARIO.replace("PYTHON", sys.executable).replace("PROGRAM", f"{tmp_path}/program.py"))
    first, _ = run_twice(simunix, file, tmp_path)
    lines = [line.split() for line in first.output("n1", "p").splitlines()]
    found = {name: (result, float(seconds)) for name, result, seconds in lines}
    assert set(found) == set(EXPECTED), first.everything("n1", "p")
    for name, (result, seconds) in EXPECTED.items():
        assert found[name] == (result, pytest.approx(seconds, abs=0.011)), name
    events = [json.loads(line) for line in first.events if '"storage"' in line]
    assert [event.get("state", event.get("write_bytes_per_s")) for event in events] == [
        *(1e7, 1e8),
        *("read-only", "ok", "full", "ok", "failing", "ok"),
    ]


WRONG = {
    "storage: fs1": "expected HOSTS:STORAGE such as 'nfs1:disk', got 'fs1'",
    "storage: 'fs1:none', state: full": "events[0]: host fs1 has no storage 'none'; it has disk",
    "storage: 'fs9:disk', state: full": "events[0]: host 'fs9': no such host; did you mean 'fs1'?",
    "storage: 'n1:disk', state: full": "events[0]: host n1 has no storage 'disk'; it has none",
    "storage: 'fs1:disk', state: down": "state: a storage is ok, read-only, full or failing, got 'down'",
    "host: fs1, state: full": "state: a host is off, on, shutdown, reboot or hang, got 'full'",
    "link: fs1, state: reboot": "state: a link is up or down, got 'reboot'",
    "storage: 'fs1:disk'": "expected what happens to the storage: state, read_bandwidth",
    "storage: 'fs1:disk', bandwidth: 1MBps": "bandwidth: not a key of an event of storage; known: state, read_bandwidth",
}


@pytest.mark.parametrize("event", WRONG)
def test_a_wrong_event_is_one_line(event: str, tmp_path: Path) -> None:
    from rsg_server.errors import SimunixError
    from simunix.planning.expand import expand

    file = tmp_path / "scenario.yaml"
    file.write_text(SCENARIO[: SCENARIO.index("events:")] + f"events:\n  - {{at: 1s, {event}}}\n")
    with pytest.raises(SimunixError) as caught:
        expand(load(file), tmp_path, checked=False)
    assert str(caught.value).startswith(f"{file}:9: events[0]") and WRONG[event] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_user_asks_for_is_a_change() -> None:
    words = ["fs[1-2]:disk", "full", "read", "1MBps", "latency", "5ms"]
    expected = [StorageChange(name, "disk", condition="full", read_bytes_per_s=1e6, latency_s=0.005) for name in ("fs1", "fs2")]
    assert changes("storage", words, "") == expected
    assert from_message({"kind": "StorageChange", "host": "a", "storage": "b"}) == StorageChange("a", "b")


HARD = """\
hosts: [{name: n1}, {name: fs1}]
network: {bandwidth: 400MBps, latency: 500us}
storages: [{name: disk, host: fs1, read_bandwidth: 100MBps, write_bandwidth: 100MBps}]
mounts: [{path: /srv/home, host: n1, server: fs1, storage: disk}]
events: [{at: 1s, host: fs1, state: off}]
processes: [{name: p, host: n1, command: 'sleep 2; touch /srv/home/f'}]
"""


def test_who_waits_for_a_server_that_never_comes_back_is_named(simunix: Simunix, tmp_path: Path) -> None:
    """A hard mount waits for ever: once nothing else is to come, the run ends with what everybody waits for."""
    (tmp_path / "scenario.yaml").write_text(HARD)
    ended = simunix("run", tmp_path / "scenario.yaml", "--out", tmp_path / "out")
    assert ended.returncode != 0
    assert "Traceback" not in ended.stderr
    assert "waits for storage disk of fs1 (fs1 cannot be reached)" in ended.stderr
