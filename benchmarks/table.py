"""Print the table of benchmarks/README.md from a file that `simunix bench --json FILE` has written.

python benchmarks/table.py FILE.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # the checkout: simunix_bench is not installed

from simunix_bench.row import number  # noqa: E402

BOUNDS = {"at_most": "≤", "at_least": "≥"}


def shown(value: float | None, unit: str) -> str:
    """Return a value with its unit and three significant digits; "not measured" for None."""
    if value is None:
        return "not measured"
    return f"{number(value)} {unit}".rstrip()


def line(row: dict[str, Any]) -> str:
    """Return the table's row for one figure of a benchmark, in Markdown."""
    aim = "".join(f"{BOUNDS[kind]} {shown(bound, row['unit'])}" for kind, bound in (row["aim"] or {}).items())
    verdict = row["verdict"] if row["value"] is not None else ""
    return f"| {row['text']} | {shown(row['value'], row['unit'])} | {aim} | {verdict} |"


def main() -> None:
    """Print the table of all benchmarks in the file, then the notes below the table."""
    found = json.loads(Path(sys.argv[1]).read_text())
    print("| figure | measured | aim | |\n| --- | ---: | ---: | --- |")
    for row in found["rows"]:
        print(line(row))
    notes = dict.fromkeys(f"{row['text']}: {row['note']}" for row in found["rows"] if row["note"])
    print("", *(f"* {note}" for note in notes), f"\n{found['date']}: {found['machine']}", sep="\n")


if __name__ == "__main__":
    main()
