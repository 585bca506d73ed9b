"""Programs on a storage take the time that its model says, within a hundredth; what they compute takes none."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.system.runs import run, run_twice

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
        ("--ioengine=mmap --filename=/srv/disk/f", "read", 400),
        ("--ioengine=mmap --fsync=1 --filename=/srv/disk/f", "write", 400 + 975),
        ("--ioengine=mmap --end_fsync=1 --filename=/srv/disk/f", "write", 400 + 1000),
    ],
)
def test_fio(simunix: Simunix, tmp_path: Path, options: str, rw: str, expected_ms: int) -> None:
    """The time that fio tells ends with the last write: before the fsync that follows it.

    What it is to write by mmap(2) it lays out before, and has the kernel forget (posix_fadvise(2)): each page is read before
    it is stored to.
    """
    text = prints(simunix, tmp_path, f"{FIO.replace('RW', rw)} {options} && cat /tmp/fio.json")
    found = json.loads(text[text.index("{") :])["jobs"][0][rw]
    assert found["io_bytes"] == 40 << 20
    assert found["runtime"] == pytest.approx(expected_ms, rel=0.01)


FIO_SERVED = "fio --name=w --rw=write --bs=1M --size=100M --ioengine=sync --output-format=json --output=/tmp/fio.json"


@pytest.mark.slow
@needs("fio")
def test_fio_itself_takes_up_to_a_quarter_of_a_second(simunix: Simunix, tmp_path: Path) -> None:
    """On a file server 100 MiB at 40 MiB/s take 2.5 s, as fio tells if it counts the fsync.

    Its whole run is longer, as it is where nothing takes time: it measures its clock before, and looks for its job's end now
    and then.
    """
    lines = [
        f"t {FIO_SERVED} --filename=/tmp/f",
        f"t {FIO_SERVED} --filename=/tmp/new",
        f"t {FIO_SERVED} --filename=/srv/home/f",
        f"{FIO_SERVED} --filename=/srv/home/g --end_fsync=1 && cat /tmp/fio.json",
    ]
    file = tmp_path / "scenario.yaml"
    file.write_text(SERVED + "".join(f"      {line}\n" for line in lines))
    text = run_twice(simunix, file, tmp_path)[0].output("n1", "p")
    *elsewhere, served = seconds(text)
    assert all(0.1 < took < 0.3 for took in elsewhere)
    assert 2.5 < served < 2.5 + 0.3  # fio looks for the end at moments of its own, so the two parts do not add up exactly
    assert json.loads(text[text.index("{") :])["jobs"][0]["write"]["runtime"] == pytest.approx(2500, rel=0.01)


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


DATABASE = """\
hosts: [{name: n1, memory: 1GiB}]
storages: [{name: disk, host: n1, read_bandwidth: 100MiBps, write_bandwidth: 40MiBps, latency: 5ms}]
mounts: [{path: /var/lib/postgresql, host: n1, storage: disk}]
processes:
  - name: p
    host: n1
    user: postgres
    environment: {PATH: '/usr/lib/postgresql/15/bin:/usr/bin:/bin', PGHOST: /tmp, PGUSER: postgres}
    command: |
      cd /var/lib/postgresql
      initdb -A trust -D data > /tmp/initdb.log 2>&1 || cat /tmp/initdb.log
      options='-c track_wal_io_timing=on -c unix_socket_directories=/tmp -c listen_addresses='
      pg_ctl -w -D data -l /tmp/log -o "$options" start > /tmp/start.log || cat /tmp/log
      createdb bench && pgbench -i -q -s 1 bench 2> /tmp/load.log
      psql -qAt -c checkpoint -c "select pg_stat_reset_shared('wal')" -o /dev/null bench
      pgbench -t 200 bench | grep tps
      psql -At -F ' ' -c 'select wal_sync, wal_sync_time, wal_bytes from pg_stat_wal' bench
      PGOPTIONS='-c synchronous_commit=off' pgbench -t 200 bench | grep tps
      pg_ctl -D data -m fast stop > /dev/null
"""


@pytest.mark.slow
@needs(PG_TEST_FSYNC.replace("pg_test_fsync", "pgbench"))
def test_transactions_of_postgresql_wait_for_their_fsync(simunix: Simunix, tmp_path: Path) -> None:
    """Each commit has one fdatasync of the log: 5 ms, and at 40 MiB/s the pages of 8 KiB that it has bytes in.

    The first of these pages has been written before as a rule, with what was there. Who does not wait for commits is an order
    of magnitude faster.
    """
    (tmp_path / "scenario.yaml").write_text(DATABASE)
    ran = run(simunix, tmp_path / "scenario.yaml", tmp_path / "out")
    found = [
        float(number) for number in re.findall(r"(?:(?<=tps = )|^|(?<= ))\d+(?:\.\d+)?(?= |$)", ran.output("n1", "p"), re.M)
    ]
    assert len(found) == 5, ran.everything("n1", "p")
    rate, syncs, syncing_ms, log_bytes, careless_rate = found
    assert syncs == pytest.approx(200, abs=3)
    model_s = syncs * (0.005 + 8192 / (40 << 20)) + log_bytes / (40 << 20)
    assert syncing_ms / 1000 == pytest.approx(model_s, rel=0.01)
    assert rate == pytest.approx(syncs / model_s, rel=0.01)
    assert careless_rate > 10 * rate


@pytest.mark.slow
@needs("sqlite3")
def test_a_hundred_transactions_of_sqlite(simunix: Simunix, tmp_path: Path) -> None:
    """Each has three fdatasyncs of 5 ms, and writes six pages.

    The rollback journal, whose header and two pages with their numbers lie in three pages of the cache; the journal's header
    again; and two pages of the database. Without `synchronous` none waits.
    """
    text = prints(
        simunix,
        tmp_path,
        "cd /srv/slow; sqlite3 db 'create table a(b)'",
        'for i in $(seq 100); do echo "insert into a values($i);"; done > /tmp/inserts',
        "(echo 'pragma synchronous=off;'; cat /tmp/inserts) > /tmp/careless",
        "benchmark() { sqlite3 db < $1; }",
        "t benchmark /tmp/inserts; t benchmark /tmp/careless",
        "sqlite3 db 'select count(*), sum(b) from a'",
    )
    careful, careless = seconds(text)
    assert careful == pytest.approx(100 * (3 * 0.005 + 6 * 4096 / (40 << 20)), rel=0.01)
    assert careless < 0.01
    assert "200|10100" in text


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
