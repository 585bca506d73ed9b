"""File times and /proc, as real programs see them: they follow the virtual clock, and are the same each time."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from simunix.testing import Cluster
from tests.conftest import Simunix
from tests.needs import needs

MAKEFILE = """\
all: b
b: a
\tsleep 2; cp a b; echo made b
a: source
\tsleep 2; cp source a; echo made a
"""


def run(simunix: Simunix, folder: Path, script: str) -> str:
    """What a shell script prints, run emulated in a folder."""
    done = simunix("run", "--epoch", "2025-01-01", "--", "bash", "-ec", script, cwd=folder)
    assert done.returncode == 0, done.stderr + done.stdout
    assert "simunix:" not in done.stderr
    output: str = done.stdout
    return output


@needs("make")
def test_make_rebuilds_what_must_be(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(MAKEFILE)
    rounds = ("echo 1 > source; make -s", "make -s; sleep 60; touch a; make -s", "sleep 1; echo 2 > source; make -s")
    script = "; echo --; ".join(rounds)
    output = run(simunix, tmp_path, script)
    assert [line for line in output.split("\n") if line.startswith(("made", "--", "make"))] == [
        "made a",
        "made b",
        "--",
        "made b",
        "--",
        "made a",
        "made b",
    ]


@needs("make")
def test_make_finds_what_was_built_before_up_to_date(simunix: Simunix, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a few seconds ago are in the past of a run that begins now, and what is built inside is newer than they."""
    (tmp_path / "Makefile").write_text(MAKEFILE.replace("sleep 2; ", ""))
    for age_s, name in ((30, "source"), (20, "a"), (10, "b")):
        (tmp_path / name).write_text("1")
        os.utime(tmp_path / name, (time.time() - age_s, time.time() - age_s))
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS"):  # of a make that runs the tests
        monkeypatch.delenv(name, raising=False)
    built = simunix("run", "--epoch", "now", "--", "make", cwd=tmp_path)
    assert (built.returncode, built.stdout, built.stderr) == (0, "make: Nothing to be done for 'all'.\n", "")
    (tmp_path / "source").touch()
    built = simunix("run", "--epoch", "now", "--", "sh", "-c", "make -s; make -s", cwd=tmp_path)
    assert (built.returncode, built.stdout, built.stderr) == (0, "made a\nmade b\n", "")


def test_find_sees_what_is_newer(simunix: Simunix, tmp_path: Path) -> None:
    script = "echo > early; sleep 3600; echo > mark; sleep 3600; echo > late; echo more >> early; touch -d '90 minutes ago' old"
    output = run(simunix, tmp_path, f"{script}; find . -type f -newer mark | sort; echo --; find . -type f -mmin +30 | sort")
    assert output == "./early\n./late\n--\n./mark\n./old\n"


def test_listings_show_the_virtual_present(simunix: Simunix, tmp_path: Path) -> None:
    script = "sleep 100; mkdir d; echo > d/f; sleep 100; mv d/f d/g; ls -l --time-style=+%F/%T . d; date +%F/%T"
    lines = [line.split() for line in run(simunix, tmp_path, script).splitlines()]
    shown = {words[-1]: words[-2] for words in lines if len(words) > 2}
    assert shown["g"] == "2025-01-01/00:01:40" and shown["d"] == lines[-1][0] == "2025-01-01/00:03:20"


def test_copies_keep_times(simunix: Simunix, tmp_path: Path) -> None:
    script = (
        "echo > f; sleep 5000; cp -p f g; tar cf t.tar f; mkdir x; tar xf t.tar -C x; cp f h\n"
        "stat -c %Y f g x/f; stat -c %y h\n"
        'python3 -c \'import os; print(os.stat("f").st_mtime_ns == os.stat("g").st_mtime_ns)\''
    )
    first, copied, unpacked, late, same = run(simunix, tmp_path, script).splitlines()
    assert first == copied == unpacked and late.startswith("2025-01-01 01:23:20") and same == "True"


@needs("rsync")
def test_rsync_copies_only_what_has_changed(simunix: Simunix, tmp_path: Path) -> None:
    script = (
        "mkdir s; echo 1 > s/one; echo 2 > s/two; sleep 10; rsync -a s/ t/; sleep 10; echo 3 > s/two; sleep 10\n"
        "rsync -ai s/ t/; rsync -ai s/ t/; stat -c %Y s/two t/two"
    )
    *changes, source, target = run(simunix, tmp_path, script).splitlines()
    assert changes == [">f..t...... two"] and source == target


def test_files_of_before_keep_their_times(simunix: Simunix, tmp_path: Path) -> None:
    (tmp_path / "before").touch()
    real = (tmp_path / "before").stat().st_mtime
    script = "stat -c %Y before; stat -c %Z before; cat before; stat -c %X before; sleep 9; echo > before; stat -c %y before"
    *kept, written = run(simunix, tmp_path, script).splitlines()
    assert kept == [str(int(real))] * 3 and written.startswith("2025-01-01 00:00:09")


@needs("ps")
def test_processes_began_when_they_did(simunix: Simunix, tmp_path: Path) -> None:
    script = "sleep 600; sleep 50 & sleep 5; ps -eo etimes,times,lstart,args; cat /proc/uptime; uptime -p; free -b | head -2"
    output = run(simunix, tmp_path, script)
    [line] = [line for line in output.splitlines() if line.endswith("sleep 50")]
    assert line.split() == ["5", "0", "Wed", "Jan", "1", "00:10:00", "2025", "sleep", "50"]
    assert "\n665." in output and "up 11 minutes" in output


@pytest.mark.slow
def test_one_answer_each_time(simunix: Simunix, tmp_path: Path) -> None:
    """Everything that is shown of files and of /proc, in two runs; and random numbers of several processes."""
    script = (
        "mkdir d; echo > d/f; ln -s f d/l; mkfifo d/p; sleep 7; chmod 600 d/f; mv d/f d/g; stat -c '%n %x %y %z %w' d d/*\n"
        "cat /proc/stat /proc/loadavg /proc/uptime /proc/meminfo /proc/sys/kernel/random/*id\n"
        "for i in 1 2 3; do ps -eo pid,stat,etimes,min_flt,psr,comm; head -c 8 /dev/urandom | od -x; done\n"
        "python3 -c 'import os, uuid; print(uuid.uuid4(), os.urandom(4), hash(\"x\"))'\n"
        "python3 -c 'import os; os.fork(); print(os.urandom(4))'; sleep 1"
    )
    shown = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shown.append(run(simunix, tmp_path / name, script).splitlines())
    assert shown[0] == shown[1] and len(shown[0]) > 40


def test_hosts_differ_in_what_is_theirs(emulation: Cluster) -> None:
    """Each host has its own processors, births and boot identifier."""
    small, large = emulation.host("small", cores=2), emulation.host("large", cores=8)
    script = "grep -c '^cpu[0-9]' /proc/stat; head -1 /proc/meminfo; cat /proc/sys/kernel/random/boot_id /proc/loadavg"
    told = [host.start(script) for host in (small, large)]
    emulation.run(check=True)
    one, other = (process.stdout.splitlines() for process in told)
    assert (one[0], other[0]) == ("2", "8") and one[2] != other[2] and one[3].startswith("0.00 0.00 0.00 1/")
