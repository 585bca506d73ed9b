"""Checks that look at the output of processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from simunix.checks.patterns import broken_checks, reached
from simunix.scenario.check_section import CheckSection


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    for host, name, text in (("a", "server.out", "ready\nleads term 2\n"), ("b", "server.err", "panic: \x1b[31mno disk\n")):
        (tmp_path / host).mkdir(exist_ok=True)
        (tmp_path / host / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("check", "broken"),
    [
        (CheckSection(never="panic"), "check-1: b:server has written what it never should: panic: ?[31mno disk"),
        (CheckSection(never="panic", process="a:*"), None),
        (CheckSection(never="^disk"), None),
        (CheckSection(name="up", eventually="ready"), None),
        (CheckSection(name="up", eventually="ready", process="b:server"), "check-up: no line of b:server matches 'ready'"),
        (CheckSection(sometimes="term 3"), None),
    ],
)
def test_a_check_of_output(hosts: Path, check: CheckSection, broken: str | None) -> None:
    assert [str(each) for each in broken_checks([check], hosts)] == ([broken] if broken else [])


def test_what_sometimes_happens(hosts: Path) -> None:
    checks = [CheckSection(sometimes="term 2"), CheckSection(sometimes="term 3"), CheckSection(never="x")]
    assert reached(checks, hosts) == ["check-1"]
