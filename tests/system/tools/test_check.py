"""`simunix check` and `simunix coverage` on the command line, and that what it says escapes is not started inside either."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from tests.conftest import Simunix


def foreign(path: Path) -> None:
    """Make a program of another machine (AArch64)."""
    header = bytearray(Path("/bin/true").read_bytes()[:64])
    struct.pack_into("<H", header, 18, 183)
    path.write_bytes(header)
    path.chmod(0o755)


def test_a_command_that_is_intercepted(simunix: Simunix) -> None:
    done = simunix("check", "--", "bash", "-c", "sleep 1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0].startswith("bash: intercepted")
    assert any(line.startswith("sleep: intercepted") for line in done.stdout.splitlines())


def test_a_command_that_is_not(simunix: Simunix, tmp_path: Path) -> None:
    foreign(tmp_path / "foreign")
    (tmp_path / "script").write_text(f"#!{tmp_path}/foreign\n")
    (tmp_path / "script").chmod(0o755)
    done = simunix("check", "--", tmp_path / "script")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == f"{tmp_path}/script: NOT intercepted"
    assert "not an x86-64 program" in done.stdout
    (report,) = json.loads(simunix("check", "--json", "--", tmp_path / "script").stdout)
    assert len(report["escapes"]) == 1 and report["refused"] == {}
    assert simunix("check", "--", "/no/such/program").returncode == 1


def test_verbose_names_libraries_and_calls(simunix: Simunix) -> None:
    text = simunix("check", "--verbose", "--", "date").stdout
    assert "libc.so.6" in text
    assert "  refused: clock_settime (EPERM: virtual time belongs to the server; asked for by date)" in text
    assert "passed on: getcwd: " in simunix("check", "--verbose", "--", "ls").stdout


def test_a_wrong_question_is_one_line(simunix: Simunix, tmp_path: Path) -> None:
    for arguments in ([], [tmp_path / "absent.yaml"]):
        done = simunix("check", *arguments)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_scenario_names_everything_that_escapes(simunix: Simunix, tmp_path: Path) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        "hosts: [{name: h}]\nprocesses:\n"
        "- {name: a, host: h, command: [date]}\n"
        "- {name: b, host: h, command: 'sleep 1; /no/such/one'}\n"
        "- {name: c, host: h, command: [/no/such/other]}\n"
    )
    done = simunix("check", scenario)
    assert done.returncode == 1
    said = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split(":")[0] for line in said] == ["date", "/bin/sh", "sleep", "/no/such/one", "/no/such/other"]
    assert [line.endswith("NOT intercepted") for line in said] == [False, False, False, True, True]


@pytest.mark.slow
@pytest.mark.slurm
def test_the_demo_is_intercepted(simunix: Simunix) -> None:
    done = simunix("check", "scenarios/nasa-ipsc.yaml", cwd=Path(__file__).resolve().parents[3])
    assert done.returncode == 0, done.stdout
    assert "/usr/sbin/slurmd: intercepted" in done.stdout
    assert "plugins" in done.stdout


def test_coverage_as_text_and_json(simunix: Simunix) -> None:
    assert simunix("coverage").stdout.splitlines()[0].split()[:4] == [
        "0",
        "read",
        "simulated",
        "parity/programs/pipes/pipe_blocking_read.c",
    ]
    (row,) = json.loads(simunix("coverage", "--json", "reboot").stdout)
    assert (row["number"], row["verdict"], row["errno"]) == (169, "refused", "EPERM")
    done = simunix("coverage", "no_such_call")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


# Inside


def test_a_foreign_program_is_not_started_by_its_descriptor(simunix: Simunix, tmp_path: Path) -> None:
    foreign(tmp_path / "foreign")
    script = f"import os; os.execve(os.open('{tmp_path}/foreign', os.O_RDONLY), ['foreign'], {{}})"
    done = simunix("run", "--", "python3", "-c", script)
    assert "PermissionError" in done.stderr
    assert "not an x86-64 program (not started)" in done.stderr


def test_what_comes_after_the_end_is_said(simunix: Simunix, tmp_path: Path) -> None:
    scenario = tmp_path / "s.yaml"
    scenario.write_text("hosts: [{name: h}]\nuntil: 15s\nprocesses:\n- {name: c, host: h, start: 20s, command: [date]}\n")
    done = simunix("check", scenario)
    assert done.returncode == 0
    assert done.stderr == (
        f"simunix: {scenario}:4: processes[0].start: c starts at 20 s, and the run ends at 15 s (until): it never starts\n"
    )
