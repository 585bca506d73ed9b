"""`simunix ctl DIR storage …`: what programs of a running emulation meet when a user makes a storage slow, full or failing."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.starts import start
from tests.system.network.test_faults_by_hand import read, wait_for

pytestmark = pytest.mark.slow
PROGRAM = """\
import errno, os, sys, time
def tried(function, *words):
    start = time.monotonic()
    try:
        function(*words)
    except OSError as error:
        return errno.errorcode[error.errno]
    return f'{time.monotonic() - start:.2f}'
MB = 1_000_000
fd = os.open(sys.argv[1] + '/f', os.O_CREAT | os.O_RDWR)
os.pwrite(fd, bytes(MB), 0)
while True:
    block = -(-os.fstat(fd).st_size // 4096) * 4096  # behind the last one
    made = [tried(os.pwrite, fd, bytes(MB), 0), tried(os.pwrite, fd, b'x', block), tried(os.pread, fd, MB, 0)]
    print(*made, flush=True)
    time.sleep(1)
"""
SCENARIO = """\
name: stored
hosts: [{name: 'fs[1-2]'}, {name: n1}]
network: {bandwidth: 10GBps, latency: 0}
storages: [{name: disk, host: 'fs[1-2]', read_bandwidth: 100MBps, write_bandwidth: 100MBps}]
mounts:
  - {path: /srv/one, host: n1, server: fs1, storage: disk, cache: false}
  - {path: /srv/two, host: n1, server: fs2, storage: disk, cache: false}
pace: 20
stop: time
until: 10000h
processes:
"""
WELL = "0.01 0.00 0.01"
STEPS: list[tuple[tuple[str, ...], str]] = [
    (("storage", "fs1:disk", "write", "1MBps", "latency", "250ms"), "1.25 0.25 0.26"),
    (("storage", "fs1:disk", "write", "100MBps", "latency", "0s", "read", "2MBps"), "0.01 0.00 0.50"),
    (("storage", "fs1:disk", "read", "100MBps", "readwrite", "5MBps"), "0.20 0.00 0.20"),
    (("storage", "fs1:disk", "readwrite", "100MBps"), WELL),
    (("storage", "fs1:disk", "full"), "0.01 ENOSPC 0.01"),
    (("storage", "fs1:disk", "read-only"), "EROFS EROFS 0.01"),
    (("storage", "fs1:disk", "failing"), "EIO EIO EIO"),
    (("storage", "fs1:disk", "ok"), WELL),
    (("storage", "fs1:disk", "full", "write", "4MBps"), "0.25 ENOSPC 0.01"),
    (("storage", "fs1:disk", "ok", "write", "100MBps"), WELL),
]
"""What a user asks for, one after the other, and what the program meets then: it overwrites a megabyte, appends, reads."""


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run directory where n1 writes to and reads from a storage of each of two servers, for ever."""
    tmp_path = tmp_path_factory.mktemp("stored")
    (tmp_path / "program.py").write_text(PROGRAM)
    lines = [
        f"  - {{name: {name}, host: n1, command: [{sys.executable}, {tmp_path}/program.py, /srv/{name}]}}\n"
        for name in ("one", "two")
    ]
    (tmp_path / "s.yaml").write_text(SCENARIO + "".join(lines))
    out = tmp_path / "out"
    with start("run", tmp_path / "s.yaml", "--out", out, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            wait_for(lambda: last(out, "one") == last(out, "two") == WELL)
            yield out
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(timeout=60)


def last(out: Path, name: str) -> str:
    """What a program has met last, once it has met that twice: it may have been at it while something changed."""
    lines = read(out / "hosts" / "n1" / f"{name}.out").splitlines(keepends=True)[-3:]
    whole = [line.strip() for line in lines if line.endswith("\n")]
    return whole[-1] if len(whole) > 1 and whole[-1] == whole[-2] else ""


CHANGES = "ok, read-only, full, failing, read, write, readwrite, latency"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("fs1:none", "full"), "host fs1 has no storage 'none'; it has disk"),
        (("fs9:disk", "full"), "host 'fs9': no such host; did you mean 'fs2'? known: fs1, fs2, n1"),
        (("fs1:disk",), f"ctl storage: expected {CHANGES}, got nothing; usage: simunix ctl DIR storage HOSTS:NAME"),
        (("fs1:disk", "broken"), f"ctl storage: expected {CHANGES}, got 'broken'; usage: simunix ctl DIR storage HOSTS:NAME"),
        (("fs1:disk", "write"), "ctl storage: expected a value of write, got nothing; usage: simunix ctl DIR storage"),
        (("fs1:disk", "write", "0"), "ctl storage: expected a rate such as"),
        (("fs1", "full"), "ctl storage: expected HOSTS:STORAGE such as 'nfs1:disk', got 'fs1'"),
    ],
)
def test_what_is_wrong_is_one_line(simunix: Simunix, stored: Path, words: tuple[str, ...], expected: str) -> None:
    done = simunix("ctl", stored, "storage", *words)
    assert done.returncode == 2 and expected in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_each_change_is_met_by_a_running_program(simunix: Simunix, stored: Path) -> None:
    def ctl(*words: str) -> dict[str, object]:
        done = simunix("ctl", stored, *words)
        assert done.returncode == 0, done.stderr
        answer: dict[str, object] = json.loads(done.stdout)
        return answer

    def meets(name: str, expected: str) -> None:
        try:
            wait_for(lambda: last(stored, name) == expected)
        except TimeoutError:
            pytest.fail(f"expected {expected!r}, found {read(stored / 'hosts' / 'n1' / f'{name}.out')[-200:]!r}")

    for words, expected in STEPS:
        ctl(*words)
        meets("one", expected)
        assert last(stored, "two") in (WELL, ""), words
    ctl("storage", "fs[1-2]:disk", "failing")
    meets("two", "EIO EIO EIO")
    ctl("storage", "fs[1-2]:disk", "ok")
    meets("two", WELL)
    ctl("host", "fs1", "off")
    assert ctl("status")["off"] == "fs1"
    count = read(stored / "hosts/n1/one.out").count("\n")
    wait_for(lambda: read(stored / "hosts/n1/two.out").count("\n") > count + 10)
    assert read(stored / "hosts/n1/one.out").count("\n") <= count + 2, "a hard mount waits for its server"
    ctl("host", "fs1", "on")
    meets("one", WELL)
    ctl("stop")
    wait_for(lambda: (stored / "run.json").exists())
    events = [json.loads(line) for line in read(stored / "events.jsonl").splitlines() if '"event":"storage"' in line]
    assert len(events) == len(STEPS) + 4 and events[0]["latency_s"] == 0.25
    record = json.loads(read(stored / "run.json"))
    assert record["deterministic"] is False and "changed by hand" in str(record["disturbances"])
