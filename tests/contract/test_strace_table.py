"""Every system call has a row in the table of traces, made of arguments and flag tables that exist."""

from __future__ import annotations

import re
from pathlib import Path

CSRC = Path(__file__).resolve().parents[2] / "csrc"
ROW = re.compile(r"^TRACE\((\w+), RETURNS_(\w+)((?:, AS_\w+)*)\)$", re.MULTILINE)


def test_rows_are_those_of_the_table_of_system_calls() -> None:
    calls = re.findall(
        r"^(?:QUIET_)?(?:SIMULATE|PASS|REFUSE(?:_AFTER)?)\((\w+),", (CSRC / "tables/syscalls.def").read_text(), re.MULTILINE
    )
    rows = [name for name, _, _ in ROW.findall((CSRC / "tables/strace.def").read_text())]
    assert rows == calls, "give each row of syscalls.def one in strace.def, in the same order"


def test_every_line_of_the_table_is_a_row() -> None:
    lines = [line for line in (CSRC / "tables/strace.def").read_text().splitlines() if line.startswith("TRACE")]
    assert [line for line in lines if not ROW.match(line)] == []


def test_every_kind_of_argument_is_used() -> None:
    types = set(re.findall(r"^(?:ARGUMENT|FLAGS)\((\w+),", (CSRC / "tables/strace_types.def").read_text(), re.MULTILINE))
    used = set(re.findall(r"AS_(\w+)", (CSRC / "tables/strace.def").read_text()))
    assert used == types


def test_names_of_a_flag_table_are_unique() -> None:
    text = (CSRC / "shim/strace/tables.c").read_text()
    for table, body in re.findall(r"strace_(\w+)\[\] = \{(.*?)\n\};", text, re.DOTALL):
        names = re.findall(r'"(\w+)"', body)
        assert len(names) == len(set(names)), table
