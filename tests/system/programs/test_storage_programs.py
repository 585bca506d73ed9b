"""Programs on a storage take the time that its model says, within a hundredth; what they compute takes none."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run_twice

PG_TEST_FSYNC = "/usr/lib/postgresql/15/bin/pg_test_fsync"
SCENARIO = """\
hosts: [{name: n1, memory: 1GiB}]
storages:
  - {name: disk, host: n1, read_bandwidth: 100MiBps, write_bandwidth: 40MiBps}
  - {name: slow, host: n1, read_bandwidth: 100MiBps, write_bandwidth: 40MiBps, latency: 5ms}
mounts:
  - {path: /srv/disk, host: n1, storage: disk}
  - {path: /srv/raw, host: n1, storage: disk, cache: false}
  - {path: /srv/slow, host: n1, storage: slow}
processes:
  - name: p
    host: n1
    command: |
      t() { b=$(date +%s%N); "$@"; e=$(date +%s%N); echo "$((e-b)) ns: $1"; }
      cd /srv/disk
"""
FIO = "fio --name=w --rw=RW --bs=1M --size=40M --output-format=json --output=/tmp/fio.json"


def prints(simunix: Simunix, folder: Path, *lines: str) -> str:
    """What a shell prints that runs these lines on the host, in both of two runs."""
    file = folder / "scenario.yaml"
    file.write_text(SCENARIO + "".join(f"      {line}\n" for line in lines))
    first, _ = run_twice(simunix, file, folder)
    return first.output("n1", "p")


def seconds(text: str) -> list[float]:
    return [int(number) / 1e9 for number in re.findall(r"^(\d+) ns: ", text, re.MULTILINE)]


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"no {program}")


@pytest.mark.slow
def test_cp_tar_and_dd(simunix: Simunix, tmp_path: Path) -> None:
    text = prints(
        simunix,
        tmp_path,
        "t dd if=/dev/zero of=f bs=1M count=100 status=none conv=fsync",
        "t cp f g",
        "t sync",
        "mkdir t; for i in 1 2 3 4; do dd if=/dev/zero of=t/$i bs=1M count=10 status=none; done; tar cf t.tar t",
        "t tar xf t.tar -C /srv/raw",
        "t cp /srv/raw/t/1 /srv/raw/t/2 /tmp",
    )
    writing, copying, syncing, unpacking, reading = seconds(text)
    assert writing == pytest.approx(2.5, rel=0.01)
    assert copying < 0.01, "it is read from memory, and written there"
    assert syncing == pytest.approx(2.5, rel=0.01)
    assert unpacking == pytest.approx(1, rel=0.01)
    assert reading == pytest.approx(0.2, rel=0.01)


@pytest.mark.slow
@needs("fio")
@pytest.mark.parametrize(
    ("options", "rw", "expected_ms"),
    [
        ("--ioengine=psync --filename=/srv/raw/f", "write", 1000),
        ("--ioengine=sync --filename=/srv/raw/f", "read", 400),
        ("--ioengine=psync --direct=1 --filename=/srv/disk/f", "read", 400),
        ("--ioengine=psync --fsync=1 --filename=/srv/disk/f", "write", 975),
    ],
)
def test_fio(simunix: Simunix, tmp_path: Path, options: str, rw: str, expected_ms: int) -> None:
    """The time that fio tells ends with the last write: before the fsync that follows it."""
    text = prints(simunix, tmp_path, f"{FIO.replace('RW', rw)} {options} && cat /tmp/fio.json")
    found = json.loads(text[text.index("{") :])["jobs"][0][rw]
    assert found["io_bytes"] == 40 << 20
    assert found["runtime"] == pytest.approx(expected_ms, rel=0.01)


@pytest.mark.slow
@needs(PG_TEST_FSYNC)
def test_postgresql_s_test_of_fsync(simunix: Simunix, tmp_path: Path) -> None:
    """Its first table; the last one, writes without fsync, has half a million writes in a second."""
    text = prints(simunix, tmp_path, f"timeout 5.5 {PG_TEST_FSYNC} -s 1 -f /srv/slow/file || true")
    found = re.findall(r"^ +(\w+) +([\d.]+) ops/sec", text, re.MULTILINE)[:4]
    once = 1 / (0.005 + 8192 / (40 << 20))
    assert [name for name, _ in found] == ["open_datasync", "fdatasync", "fsync", "open_sync"]
    for _, rate in found:
        assert float(rate) == pytest.approx(once, rel=0.01)


@pytest.mark.slow
@needs("sqlite3")
def test_sqlite_waits_for_its_fsyncs(simunix: Simunix, tmp_path: Path) -> None:
    """A transaction in the mode DELETE has three or more fsyncs, each of 5 ms."""
    insert = "sqlite3 /srv/slow/db 'insert into a values (1)'"
    text = prints(simunix, tmp_path, "sqlite3 /srv/slow/db 'create table a(b)'", f"t {insert}")
    (took,) = seconds(text)
    assert 0.015 <= took <= 0.03


SERVED = """\
hosts: [{name: n1, memory: 1GiB}, {name: fs1}]
network: {bandwidth: 10Gbps, latency: 25us}
storages: [{name: disk, host: fs1, read_bandwidth: 100MiBps, write_bandwidth: 40MiBps}]
mounts: [{path: /srv/home, host: n1, server: fs1, storage: disk}]
processes:
  - name: p
    host: n1
    command: |
      t() { b=$(date +%s%N); "$@"; e=$(date +%s%N); echo "$((e-b)) ns: $1"; }
      cd /tmp
      dd if=/dev/zero of=f bs=1M count=100 status=none
      mkdir d && for i in 1 2 3 4 5; do dd if=/dev/zero of=d/$i bs=1M count=20 status=none; done; tar cf d.tar d
"""


@pytest.mark.slow
@needs("rsync")
def test_programs_on_a_file_server_wait_at_close(simunix: Simunix, tmp_path: Path) -> None:
    """At 40 MiB/s, 100 MiB, or 200; each closes its files before it ends. rsync itself waits for some 0.02 s."""
    file = tmp_path / "scenario.yaml"
    lines = [
        "t cp f /srv/home/cp",
        "t rsync -W f d.tar /srv/home",
        "t tar xf d.tar -C /srv/home",
    ]
    file.write_text(SERVED + "".join(f"      {line}\n" for line in lines))
    first, _ = run_twice(simunix, file, tmp_path)
    found = seconds(first.output("n1", "p"))
    assert found == pytest.approx([2.5, 5, 2.5], rel=0.01), first.everything("n1", "p")
