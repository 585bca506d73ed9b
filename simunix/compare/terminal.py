"""Shows a comparison on the terminal: whether the results can be trusted, the runs side by side, which users and which
jobs win and lose.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.markup import escape
from rich.table import Table

from simunix.compare import texts
from simunix.compare.conclusion import effect_cells
from simunix.compare.study import Change, Study, Validation
from simunix.console import Console
from simunix.metrics.changes import most_moved
from simunix.report.comparison import Comparison
from simunix.report.page.rows import summary_rows

SHOWN = (
    *("jobs", "finished", "utilisation", "makespan", "wait, mean", "wait, median", "wait, longest", "bounded slowdown, mean"),
    *("requeues", "preemptions", "lost core hours", "lost GPU hours", "energy of the machine"),
)
"""The rows of the page's summary that the terminal shows."""
INTERVAL = "95 % interval"
FEW_COLUMNS = 6
"""The number of columns for groups that fit on a terminal."""
LEAST_WIDTH = 160
"""The width up to which tables are printed even on a narrower terminal, which then breaks the lines, so that no name or
number is cut off.
"""


def show(study: Study, comparison: Comparison, most: int) -> None:
    """Print the comparison, with at most so many groups and jobs in each list."""
    console = Console(highlight=False, soft_wrap=True, width=max(LEAST_WIDTH, Console().width))
    for run in study.runs:
        for note in run.notes:
            console.print(f"[bold]{escape(run.label)}[/]: {escape(note)}")
    if study.validation is not None:
        _validation(console, study.validation)
    labels = [run.label for run in study.runs]
    rows = [[row["name"], *(_cell(cell) for cell in row["cells"])] for row in summary_rows(comparison) if row["name"] in SHOWN]
    if rows:
        console.print(_table(["", *labels], rows))
    for change in study.changes:
        console.print()
        _change(console, change, most)


def _cell(cell: dict[str, str]) -> str:
    return f"{cell['text']} ({cell['change']})" if cell["change"] else cell["text"]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], title: str | None = None) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, show_header=any(heads))
    for number, head in enumerate(heads):
        table.add_column(escape(head), justify="right" if number else "left", no_wrap=True)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _validation(console: Console, validation: Validation) -> None:
    rows = [[name, *(text(one[key]) for one in validation.summaries.values())] for key, name, text in texts.ERROR_ROWS]
    console.print(_table(["", *validation.summaries], rows, f"Starts against {validation.source}"))
    for note in validation.notes:
        console.print(f"{escape(note)}.")
    console.print()


def _without_empty(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the heads and the rows of a table, without the column of intervals if this column is empty."""
    kept = [place for place, head in enumerate(heads) if head != INTERVAL or any(row[place] for row in rows)]
    return [heads[place] for place in kept], [[row[place] for place in kept] for row in rows]


def _effects(console: Console, change: Change) -> None:
    """Print the effects that are more than noise, metric by metric."""
    heads = ["", change.base.label, change.run.label, "change", INTERVAL, ""]
    rows = [effect_cells(one) for one in change.repetitions.effects]
    console.print(_table(heads, rows, f"Over {len(change.repetitions.seeds)} seeds, in pairs of one seed"))


def _change(console: Console, change: Change, most: int) -> None:
    console.print(f"[bold]{escape(change.run.label)}[/] against {escape(change.base.label)}: {escape(texts.sentence(change))}")
    if change.is_repeated:
        _effects(console, change)
    for name, table in change.groups.items():
        shown = texts.most_changed(table, 2 * most)
        heads = [texts.TITLES[name], *texts.GROUP_COLUMNS[: FEW_COLUMNS - 1], "change", INTERVAL, ""]
        rows = [
            [
                row["name"],
                *texts.group_cells(row)[: FEW_COLUMNS - 1],
                texts.signed_time(row["wait_change"]),
                texts.interval(row),
                row["verdict"],
            ]
            for _, row in shown.iterrows()
        ]
        console.print(_table(*_without_empty(heads, rows)))
        if len(shown) < len(table):
            console.print(f"… and {len(table) - len(shown):,} more, whose waits changed less")
    moved = change.repetitions.moved_jobs(most) if change.is_repeated else most_moved(change.pairs, most)
    for title, jobs in zip(("Earlier by most", "Later by most"), moved, strict=True):
        if len(jobs):
            cells = [[*texts.job_cells(row), texts.interval(row) or texts.NOTHING] for _, row in jobs.iterrows()]
            heads, rows = texts.known_columns(cells, ("job", *texts.JOB_COLUMNS, INTERVAL))
            console.print(_table(heads, rows, title))
    for text, names in texts.lists(change):
        console.print(f"{escape(text)}: {escape(names)}")
