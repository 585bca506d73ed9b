"""Print the table of an experiment on the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from simunix.console import Console
from simunix.sweep.analysis.estimates import Estimate
from simunix.sweep.analysis.texts import HEADS, cells, name_of

LEAST_WIDTH = 150
"""The table is printed with up to this width even on a narrower terminal, which then breaks the lines, so that no
number is cut off.
"""


def show(found: Sequence[Estimate], width: float) -> None:
    """Print a table for each metric; `width` is the wanted width of intervals, as a part of the mean."""
    console = Console(highlight=False, soft_wrap=True, width=max(LEAST_WIDTH, Console().width))
    for metric in dict.fromkeys(each.metric for each in found):
        table = Table(title=f"[bold]{escape(name_of(metric))}[/]", title_justify="left", box=None, pad_edge=False)
        for number, head in enumerate(HEADS):
            text = f"{head} for {100 * width:g} %" if head == "more needed" else head
            justify = "left" if number in (0, len(HEADS) - 1) else "right"
            table.add_column(text, justify="left" if justify == "left" else "right", no_wrap=True)
        for each in found:
            if each.metric == metric:
                table.add_row(*map(escape, cells(each)))
        console.print(table)
        console.print()
