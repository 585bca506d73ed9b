"""gdb and strace as emulated programs, of emulated programs: ptrace(2) inside."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Simunix
from tests.needs import needs

needs_gdb = needs("gdb")
needs_strace = needs("strace")

PROGRAM = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int total;

static int add(int first, int second)
{
    int sum = first + second;
    total += sum;
    return sum;
}

static void *work(void *argument)
{
    for (int i = 0; i < 3; i++) {
        sleep(1);
        add(i, 10);
    }
    return argument;
}

int main(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    printf("total %d\\n", total);
    return 3;
}
"""
"""A thread adds 10, 11 and 12, a second each."""


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("debugged")
    (folder / "adds.c").write_text(PROGRAM)
    subprocess.run(["gcc", "-g", "-O0", "-pthread", "-o", folder / "adds", folder / "adds.c"], check=True)
    return folder / "adds"


def words(*commands: str) -> list[str]:
    """The options that have gdb execute these commands."""
    return ["-nx", "-batch", *(word for command in ("set pagination off", *commands) for word in ("-ex", command))]


@needs_gdb
@pytest.mark.slow
def test_gdb_runs_a_program(simunix: Simunix, binary: Path, tmp_path: Path) -> None:
    commands = ["break add", "run", "info threads", "backtrace", "print second", "finish", "print total", "next", "stepi"]
    commands += ["delete", "watch total", "continue", "delete"]
    commands += ["call add(100, 0)", "break printf", "continue", "up", "print total", "delete", "continue"]
    run = ["run", "--out", tmp_path / "out", "--", "gdb", *words(*commands), binary]
    done = simunix(*run)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    assert re.search(r"hit Breakpoint 1(\.1)?, add \(first=0, second=10\) at .*adds.c:10\n", said)
    assert re.search(r"\* 2 +Thread .* add \(first=0, second=10\)", said) and re.search(r"#1 .* in work ", said)
    assert "$1 = 10\n" in said and "Value returned is $2 = 10\n" in said and "$3 = 10\n" in said and "$4 = 100\n" in said
    assert "Old value = 10\nNew value = 21\n" in said
    assert "$5 = 133\n" in said and "total 133\n" in said and "exited with code 03" in said
    again = simunix("run", "--out", tmp_path / "again", *run[3:])
    assert again.stdout == said
    digests = [json.loads((tmp_path / out / "run.json").read_text())["events_sha256"] for out in ("out", "again")]
    assert digests[0] == digests[1]


@needs_gdb
@pytest.mark.slow
def test_gdb_attaches_to_a_program_and_leaves_it(simunix: Simunix, binary: Path, tmp_path: Path) -> None:
    options = " ".join(f"'{word}'" for word in words("thread apply all backtrace", "print total", "detach"))
    script = f"{binary} & sleep 1.5; gdb {options} -p $!; gcore -o {tmp_path}/core $! >/dev/null; wait $!; echo code $?"
    done = simunix("run", "--", "sh", "-c", script)
    assert re.search(r"#\d+ .* in work ", done.stdout) and re.search(r"#\d+ .* in main ", done.stdout)
    assert "$1 = 10\n" in done.stdout
    assert done.stdout.endswith("total 33\ncode 3\n")
    cores = list(tmp_path.glob("core.*"))
    assert len(cores) == 1
    seen = subprocess.run(["gdb", *words("print total"), binary, cores[0]], capture_output=True, text=True, check=True)
    assert "$1 = 10\n" in seen.stdout


@needs_strace
@pytest.mark.slow
def test_strace_shows_a_program_and_its_children(simunix: Simunix, tmp_path: Path) -> None:
    traced = tmp_path / "trace"
    done = simunix("run", "--", "strace", "-f", "-o", traced, "sh", "-c", "sleep 100; echo hi | cat; exit 4")
    assert (done.returncode, done.stdout) == (4, "hi\n"), done.stderr
    lines = traced.read_text()
    assert re.search(r'execve\("/(usr/)?bin/sh", .* = 0\n', lines) and "tv_sec=100" in lines
    assert re.search(r'write\(1, "hi\\n", 3\) += 3\n', lines) and re.search(r'read\(0, "hi\\n", \d+\) += 3\n', lines)
    assert len(re.findall(r"\+\+\+ exited with 0 \+\+\+", lines)) == 3 and lines.endswith("+++ exited with 4 +++\n")
    assert "--- SIGCHLD" in lines


@needs_strace
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="only root can become nobody, by setpriv")
def test_what_gains_privileges_is_refused_under_a_tracer(simunix: Simunix) -> None:
    unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = simunix("run", "--", *unprivileged, "strace", "-o", "/dev/null", "su", "--version")
    assert done.returncode == 1
    assert "su: setuid or setgid: an emulated process traces it, and Linux would give it no privileges" in done.stderr
    assert simunix("run", "--", *unprivileged, "su", "--version").returncode == 0


@needs_strace
def test_strace_attaches_to_a_program(simunix: Simunix, binary: Path, tmp_path: Path) -> None:
    traced = tmp_path / "trace"
    script = f"{binary} & sleep 0.5; timeout 1 strace -f -p $! -o {traced}; wait $!; echo code $?"
    done = simunix("run", "--", "sh", "-c", script)
    assert done.stdout == "total 33\ncode 3\n", done.stderr
    assert "2 threads" in done.stderr
    assert "clock_nanosleep(CLOCK_REALTIME, 0, {tv_sec=1, tv_nsec=0}" in traced.read_text()
