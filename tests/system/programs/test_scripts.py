"""A perl script with children, alarms and pipes."""

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
SCENARIO = """
name: scripts
hosts: [{name: a1}]
processes:
  - {name: script, host: a1, command: [/usr/bin/perl, FOLDER/script.pl]}
"""


def test_perl(needs: Needs, run_twice: RunTwice, tmp_path: Path) -> None:
    needs("perl")
    for name, text in {"script.pl": PERL}.items():
        (tmp_path / name).write_text(text)
    run = run_twice(SCENARIO.replace("FOLDER", str(tmp_path)))
    assert run.output("a1", "script").splitlines() == [
        *[f"child of {n} s: {n} at {n}" for n in (1, 2, 3)],
        "alarm",
        "7 s",
        "from a pipe",
        "9 s",
    ], run.everything("a1", "script")
