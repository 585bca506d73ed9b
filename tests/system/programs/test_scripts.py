"""Scripts: perl with children, alarms and pipes, python with threads and subprocesses, on two hosts side by side."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.programs.conftest import Needs, RunTwice

pytestmark = pytest.mark.slow

PERL = r"""
use strict; use warnings; use POSIX ":sys_wait_h"; $| = 1;
my $start = time;
my %seconds;
for my $n (3, 1, 2) { my $pid = fork // die; if (!$pid) { sleep $n; exit $n } $seconds{$pid} = $n }
while ((my $pid = wait) > 0) { print "child of $seconds{$pid} s: ", $? >> 8, " at ", time - $start, "\n" }
eval { local $SIG{ALRM} = sub { die "alarm\n" }; alarm 4; select undef, undef, undef, 100 };
print "$@", time - $start, " s\n";
open my $out, "-|", "sleep 2; echo from a pipe" or die; print <$out>; close $out;
print time - $start, " s\n";
"""
PYTHON = """
import concurrent.futures, queue, subprocess, sys, threading, time
start = time.monotonic()
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda n: time.sleep(n) or n, [1, 2, 3, 4, 5, 6])), round(time.monotonic() - start))
work, done = queue.Queue(), []
def serve():
    while (item := work.get()) is not None:
        done.append(subprocess.run(["sh", "-c", f"sleep {item}; echo {item}"], capture_output=True, text=True).stdout.strip())
threads = [threading.Thread(target=serve) for _ in range(3)]
for thread in threads:
    thread.start()
for item in [3, 2, 1, 1, 2, 3, None, None, None]:
    work.put(item)
for thread in threads:
    thread.join()
print(done, round(time.monotonic() - start))
try:
    subprocess.run(["sleep", "60"], timeout=5)
except subprocess.TimeoutExpired:
    print("timeout", round(time.monotonic() - start))
"""
SCENARIO = """
name: scripts
hosts: [{name: 'a[1-2]'}]
processes:
  - {name: script, host: a1, command: [/usr/bin/perl, FOLDER/script.pl]}
  - {name: script, host: a2, command: [/usr/bin/python3, FOLDER/script.py]}
"""


def test_scripts_of_perl_and_python(needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    needs("perl")
    for name, text in {"script.pl": PERL, "script.py": PYTHON}.items():
        (tmp_path / name).write_text(text)
    run = run_twice(SCENARIO.replace("FOLDER", str(tmp_path)))
    assert run.output("a1", "script").splitlines() == [
        *[f"child of {n} s: {n} at {n}" for n in (1, 2, 3)],
        "alarm",
        "7 s",
        "from a pipe",
        "9 s",
    ], run.everything("a1", "script")
    assert run.output("a2", "script").splitlines() == [
        "21 8",
        "['1', '2', '1', '3', '2', '3'] 13",
        "timeout 18",
    ], run.everything("a2", "script")
