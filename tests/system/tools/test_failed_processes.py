"""A process of a scenario that does not end as expected is named at the end of the run, whose exit status is then 1."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Simunix

HEAD = "name: s\nhosts: [{name: 'a[01-12]'}]\n"


def run(simunix: Simunix, tmp_path: Path, processes: str, rest: str = "") -> tuple[int, list[str], dict[str, Any]]:
    """Run a scenario with these processes: exit status, the lines of standard error, run.json."""
    (tmp_path / "s.yaml").write_text(f"{HEAD}processes: [{processes}]\n{rest}")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    return done.returncode, done.stderr.splitlines(), json.loads((tmp_path / "out" / "run.json").read_text())


def test_who_how_when_and_why(simunix: Simunix, tmp_path: Path) -> None:
    why = 'echo starting >&2; sleep 5; printf "\\033[31mNo module named x\\n\\n" >&2; exit 3'
    processes = f"{{name: good, host: a01, command: 'true'}}, {{name: bad, host: a02, start: 1s, command: '{why}'}}"
    code, lines, record = run(simunix, tmp_path, processes)
    told = "a02: bad ended with exit code 3 at 6.00"
    assert (code, record["ended"], record["failure"]) == (1, "done", None)
    assert lines[0].startswith(f"simunix: {told}") and "s: ?[31mNo module named x (" in lines[0]
    assert lines[0].endswith(f"(its standard error: {tmp_path}/out/hosts/a02/bad.err)")
    assert lines[1] == "simunix: if such an end is meant, say so by the key expect of the process" and len(lines) == 2
    assert len(record["failed_processes"]) == 1 and record["failed_processes"][0].startswith(told)


def test_a_signal_is_named(simunix: Simunix, tmp_path: Path) -> None:
    code, lines, _ = run(simunix, tmp_path, "{name: p, host: a01, command: 'kill -SEGV $$'}")
    assert code == 1 and "a01: p ended with signal 11 (SIGSEGV) at 0.0" in lines[0]


def test_of_many_a_handful_is_named(simunix: Simunix, tmp_path: Path) -> None:
    code, lines, record = run(simunix, tmp_path, "{name: p, host: 'a[01-12]', command: 'exit 1'}")
    assert code == 1 and len(lines) == 7 and [line.split(":")[1] for line in lines[:5]] == [f" a0{n}" for n in range(1, 6)]
    assert lines[5] == "simunix: 7 more processes, on 7 hosts, did not end as expected"
    assert len(record["failed_processes"]) == 6


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ("expect: 3, command: 'exit 3'", 0),
        ("expect: [0, 3], command: 'exit 3'", 0),
        ("expect: SIGTERM, command: 'kill $$'", 0),
        ("expect: [SIGTERM, 1], command: 'kill $$'", 0),
        ("expect: 3, command: 'exit 4'", 1),
        ("expect: SIGKILL, command: 'kill $$'", 1),
        ("expect: 1, command: 'true'", 1),
        ("restart: on-failure, command: 'test -e /tmp/x && exit 0; touch /tmp/x; exit 1'", 0),
        ("restart: on-failure, expect: 3, command: 'test -e /tmp/x && exit 3; touch /tmp/x; exit 0'", 0),
    ],
)
def test_an_end_that_is_expected(simunix: Simunix, tmp_path: Path, keys: str, code: int) -> None:
    found, lines, _ = run(simunix, tmp_path, f"{{name: p, host: a01, {keys}}}")
    assert found == code, lines
    assert (" instead of " in " ".join(lines)) == (code == 1)


def test_what_simunix_or_a_fault_ends_has_not_failed(simunix: Simunix, tmp_path: Path) -> None:
    """A daemon that lives when the run ends; programs of hosts whose power is cut, that shut down, or that boot again."""
    processes = ", ".join(
        f"{{name: p, host: {host}, command: '{command}'}}"
        for host, command in (
            ("a01", "sleep 1000"),
            ("a02", "sleep 1000"),
            ("a03", 'trap "exit 7" TERM; sleep 1000 & wait'),
            ("a04", "sleep 30; test -e /srv/x && exit 0; touch /srv/x; sleep 1000"),
        )
    )
    processes += ", {name: work, host: a05, command: 'sleep 200'}"
    rest = """stop: work
events:
  - {at: 10s, host: a02, state: off}
  - {at: 20s, host: a03, state: shutdown}
  - {at: 60s, host: a04, state: reboot}
"""
    code, lines, _ = run(simunix, tmp_path, processes.replace("host: a04,", "host: a04, private: [/srv],"), rest)
    assert (code, lines) == (0, [])


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("expect: 256", "expected an exit status from 0 to 255, or a signal's name such as SIGTERM, got 256"),
        ("expect: TERM", "expected an exit status from 0 to 255, or a signal's name such as SIGTERM, got 'TERM'"),
        ("expect: []", "expected an exit status from 0 to 255, or a signal's name such as SIGTERM, got []"),
        ("expect: true", "expected an exit status from 0 to 255, or a signal's name such as SIGTERM, got True"),
        ("expect: 1, essential: true", "expect: the end of an essential process fails the run; take expect or essential away"),
    ],
)
def test_what_cannot_be_expected(simunix: Simunix, tmp_path: Path, keys: str, message: str) -> None:
    (tmp_path / "s.yaml").write_text(f"{HEAD}processes: [{{name: p, host: a01, command: 'true', {keys}}}]\n")
    done = simunix("run", tmp_path / "s.yaml", "--out", tmp_path / "out")
    assert done.returncode == 2 and f"{tmp_path}/s.yaml:3: processes[0]" in done.stderr and message in done.stderr


def test_what_never_starts_is_said_before_the_start(simunix: Simunix, tmp_path: Path) -> None:
    code, lines, record = run(simunix, tmp_path, "{name: c, host: a01, start: 20s, command: 'exit 1'}", "until: 15s\n")
    told = f"{tmp_path}/s.yaml:3: processes[0].start: c starts at 20 s, and the run ends at 15 s (until): it never starts"
    assert (code, lines) == (0, [f"simunix: {told}"]) and told in record["warnings"]


def test_of_a_run_that_failed_what_ended_before_is_named(simunix: Simunix, tmp_path: Path) -> None:
    """The first process may be the reason; what ends with the run, or after, follows from its failure."""
    processes = (
        "{name: early, host: a01, command: 'sleep 1; exit 3'}, "
        "{name: daemon, host: a02, essential: true, command: 'sleep 5; exit 4'}, "
        "{name: other, host: a03, command: 'sleep 5; exit 5'}"
    )
    code, lines, record = run(simunix, tmp_path, processes)
    assert code == 1 and "a02: daemon ended with exit code 4" in lines[0] and record["ended"] == "failed"
    assert "a01: early ended with exit code 3" in lines[1] and not any("other" in line for line in lines)
