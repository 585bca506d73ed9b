"""The rows of a run of benchmarks, printed as a table on the terminal, and written to a JSON file that always has the
rows measured so far.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from simunix.console import Console
from simunix_bench.machine import sentence
from simunix_bench.row import MISSED, OK, UNMEASURED, Row, number

STYLES = {OK: "green", MISSED: "yellow", UNMEASURED: "dim", "": ""}


@dataclass(slots=True)
class Results:
    """The rows measured so far, in order, each with the name of its benchmark."""

    machine: dict[str, object]
    is_quick: bool = False
    date: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    rows: list[tuple[str, Row]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the results as JSON: machine, date, and a dictionary per row."""
        rows = [
            {
                "benchmark": benchmark,
                "name": row.name,
                "text": row.text,
                "value": row.value,
                "unit": row.unit,
                "aim": None if row.aim is None else {"at_least" if row.aim.is_least else "at_most": row.aim.bound},
                "verdict": row.verdict,
                "note": row.note,
            }
            for benchmark, row in self.rows
        ]
        return {"machine": self.machine, "date": self.date, "quick": self.is_quick, "rows": rows}

    def write(self, path: Path) -> None:
        """Replace the file atomically, so that readers see the old rows or the new ones. Raises OSError."""
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            unfinished.write_text(json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n")
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)


def shown(row: Row) -> str:
    """Return the value of a row with its unit."""
    return "—" if row.value is None else f"{number(row.value)} {row.unit}".rstrip()


def table(rows: Sequence[tuple[str, Row]]) -> Table:
    """Return the table of results: figure, measured value, aim, and whether the aim was met, with a section for each
    benchmark.
    """
    found = Table(title="simunix bench", title_justify="left")
    found.add_column("figure")
    found.add_column("measured", justify="right", no_wrap=True)
    found.add_column("aim", justify="right", no_wrap=True)
    found.add_column("", no_wrap=True)
    before = None
    for benchmark, row in rows:
        if row.is_detail:
            continue
        if before not in (None, benchmark):
            found.add_section()
        before = benchmark
        aim = "" if row.aim is None else f"{row.aim} {row.unit}".rstrip()
        found.add_row(escape(row.text), shown(row), aim, row.verdict, style=STYLES[row.verdict])
    return found


def notes(rows: Sequence[tuple[str, Row]]) -> list[str]:
    """Return a line for each different note, with the figures to which it belongs."""
    figures: dict[str, list[str]] = {}
    for _, row in rows:
        if row.note and not row.is_detail:
            said = f"not measured: {row.note}" if row.value is None else row.note
            figures.setdefault(said, []).append(row.text)
    return [f"{'; '.join(texts)}: {note}" for note, texts in figures.items()]


def print_results(results: Results) -> None:
    """Print the table of the benchmarks' figures, the notes and a description of the machine on standard output."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(table(results.rows))
    for line in notes(results.rows):
        console.print(f"[bold]*[/] {escape(line)}")
    if results.is_quick:
        console.print("Measured with --quick: shorter runs, rougher figures.")
    console.print(escape(sentence(results.machine)) + ".")
