"""`simunix bench --list`: print the benchmarks, how long each takes, and what this computer lacks for it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from simunix.console import Console
from simunix_bench.catalog import Benchmark
from simunix_bench.requirements import lacks


def print_list(benchmarks: Sequence[Benchmark]) -> None:
    """Print the list of benchmarks on standard output."""
    table = Table()
    for title in ("name", "what", "takes", "runs"):
        table.add_column(title, no_wrap=title != "what")
    lacking = []
    for each in benchmarks:
        why = lacks(each.needs)
        lacking += [f"{each.name}: {why}"] if why else []
        table.add_row(
            each.name, escape(each.title), each.takes, "not here" if why else "if named" if each.is_long else "always"
        )
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    for line in lacking:
        console.print(escape(line))
