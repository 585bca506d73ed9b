"""The table of system calls as text: a line per call, and the summary's numbers add up."""

from __future__ import annotations

import re

from simunix.coverage.document import markdown, summary, text
from simunix.coverage.table import table


def test_the_summary_counts_every_call_once() -> None:
    total, *verdicts = map(int, re.findall(r"\d+", summary(table())))
    assert total == sum(verdicts) == len(table())


def test_each_call_has_a_line() -> None:
    rows = table()[:5]
    lines = text(rows).splitlines()
    assert [line.split()[1] for line in lines[:-1]] == [row.name for row in rows]
    assert lines[-1] == summary(rows)
    assert [f"| {row.number} | `{row.name}` | {row.verdict} |" in markdown(rows) for row in rows] == [True] * len(rows)
