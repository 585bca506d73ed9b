"""System calls that the table does not know or refuses: said once, counted in run.json, the end of a strict run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from simunix.coverage.table import REFUSED, table
from tests.conftest import Simunix

CALLS = "import ctypes; call = ctypes.CDLL(None, use_errno=True).syscall\n"
UNKNOWN = CALLS + "for number in (500, 500, 1 << 30): print(call(number), ctypes.get_errno())"


def test_unknown_calls_are_refused_said_once_and_counted(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", "--out", tmp_path / "run", "--", sys.executable, "-c", UNKNOWN)
    record = json.loads((tmp_path / "run/run.json").read_text())
    lines = done.stderr.splitlines()
    assert done.stdout.splitlines() == ["-1 38"] * 3
    assert record["unknown_calls"] == {"1073741824": 1, "500": 2}
    assert [line.rpartition(": ")[2] for line in lines] == [
        f"system call {number} is not in the table and was refused with ENOSYS, as by an older kernel"
        for number in (500, 1 << 30)
    ]
    assert all(line.startswith("simunix: ") and sys.executable in line for line in lines)


def test_strict_ends_the_run_at_the_first(simunix: Simunix, tmp_path: Path) -> None:
    done = simunix("run", "--strict", "--out", tmp_path / "run", "--", sys.executable, "-c", UNKNOWN)
    assert (done.returncode, done.stdout) == (2, "")
    assert "system call 500 is not in the table" in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].startswith("simunix: stopped by --strict: ")
    assert json.loads((tmp_path / "run/run.json").read_text())["ended"] == "failed"


def test_a_scenario_can_be_strict(simunix: Simunix, tmp_path: Path) -> None:
    script = tmp_path / "calls.py"
    script.write_text(UNKNOWN)
    scenario = tmp_path / "strict.yaml"
    scenario.write_text(
        f"hosts: [{{name: h}}]\nstrict: true\nprocesses: [{{name: p, host: h, command: [{sys.executable}, {script}]}}]\n"
    )
    done = simunix("run", scenario, "--out", tmp_path / "run")
    assert done.returncode == 2
    assert f"simunix: stopped by --strict: h: {sys.executable}: system call 500" in done.stderr
    assert simunix("run", scenario, "--out", tmp_path / "lenient", "--set", "strict=false").returncode == 0


def test_every_refusal_is_what_the_table_says(simunix: Simunix, tmp_path: Path) -> None:
    rows = [row for row in table() if row.verdict == REFUSED]
    script = CALLS + f"time = ctypes.create_string_buffer(16)\nfor number in {[row.number for row in rows]}:\n"
    script += "    print(call(number, 0, time, 0, 0, 0, 0), __import__('errno').errorcode[ctypes.get_errno()])"
    done = simunix("run", "--out", tmp_path / "run", "--", sys.executable, "-c", script)
    assert done.stdout.splitlines() == [f"-1 {row.errno}" for row in rows]
    assert len(done.stderr.splitlines()) == len(rows)
    assert json.loads((tmp_path / "run/run.json").read_text())["refused_calls"] == {row.name: 1 for row in rows}


def test_calls_of_the_other_architecture_are_not_mistaken(simunix: Simunix, tmp_path: Path) -> None:
    """`int $0x80` in a 64-bit program: number 1 is i386's exit, not write."""
    source = tmp_path / "old.c"
    source.write_text(
        "#include <stdio.h>\nint main(void)\n{\n    long result = 1;\n"
        '    __asm__ volatile("int $0x80" : "+a"(result) : "b"(0L), "c"(0L), "d"(0L) : "r8", "r9", "r10", "r11");\n'
        '    printf("%ld\\n", result);\n    return 0;\n}\n'
    )
    subprocess.run(["gcc", source, "-o", tmp_path / "old"], check=True)
    done = simunix("run", "--out", tmp_path / "run", "--", tmp_path / "old")
    if done.stdout == "":
        pytest.skip("this kernel has no i386 calls")
    assert done.stdout == "-38\n"
    assert json.loads((tmp_path / "run/run.json").read_text())["unknown_calls"] == {"i386 1": 1}


def test_leases_are_refused(simunix: Simunix, tmp_path: Path) -> None:
    """Whoever opens a leased file waits in the kernel, where nobody can count the time."""
    (tmp_path / "file").touch()
    script = f"import fcntl; fcntl.fcntl(open('{tmp_path}/file'), fcntl.F_SETLEASE, fcntl.F_RDLCK)"
    done = simunix("run", "--out", tmp_path / "run", "--", sys.executable, "-c", script)
    assert "OSError: [Errno 22]" in done.stderr
    assert "fcntl(F_SETLEASE) was refused" in done.stderr
    assert json.loads((tmp_path / "run/run.json").read_text())["refused_calls"] == {"fcntl": 1}


def test_requests_to_devices_that_tell_the_time_are_refused(simunix: Simunix, tmp_path: Path) -> None:
    script = """
import fcntl, errno
for request in (0x80247009, 0xc0045877, 0x5607, 0xae03, 0x80503d01):
    try:
        fcntl.ioctl(0, request)
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
    done = simunix("run", "--out", tmp_path / "run", "--", sys.executable, "-c", script)
    assert done.stdout.split() == ["ENOTTY", "EPERM", "EPERM", "ENOTTY", "ENOTTY"]
    assert "ioctl(RTC_RD_TIME): tells the real time was refused" in done.stderr
    assert json.loads((tmp_path / "run/run.json").read_text())["refused_calls"] == {"ioctl": 5}


def test_what_is_the_shims_own_is_refused(simunix: Simunix, tmp_path: Path) -> None:
    script = CALLS + "print(call(158, 0x1001, 0), call(157, 59, 1, 0, 0, 0))"
    done = simunix("run", "--out", tmp_path / "run", "--", sys.executable, "-c", script)
    assert done.stdout == "-1 -1\n"
    assert json.loads((tmp_path / "run/run.json").read_text())["refused_calls"] == {"arch_prctl": 1, "prctl": 1}
