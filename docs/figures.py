"""Draws the figure that each study opens with, from a table of the study's own page: no number stands in two places.

    python docs/figures.py           # write what has changed into docs/images
    python docs/figures.py --check   # exit code 1 if a table says something else than its figure

A figure carries the numbers that it shows in its description, by which the check compares.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SURFACE, INK, MUTED, GRID = "#ffffff", "#1a1a2e", "#5a5a6e", "#e3e3ea"
SERIES = ("#3f51b5", "#d1495b", "#2e8b57")


@dataclass(frozen=True, slots=True)
class Figure:
    """Bars of a table: a bar for each of its rows, or (`row`) for each of its columns; `head` begins the table's first line.

    `columns` are those whose numbers count, by their place from 0, each a colour of its own. `nth` is which number of a cell.
    """

    study: str
    head: str
    title: str
    columns: tuple[int, ...] = (1,)
    row: str = ""
    nth: int = 0
    names: tuple[str, ...] = ()


FIGURES = (
    Figure("barberato", "| | WT, s |", "Mean wait of a job, s: back-filling (BF) and suspend/resume (SR)"),
    Figure(
        "curie",
        "| | large jobs first, twice |",
        "Jobs that waited for more than 5 s on 5,040 nodes",
        (1, 2),
        "jobs that began; that waited",
        1,
    ),
    Figure(
        "emeras",
        "| PriorityFavorSmall | YES |",
        "Jobs completed within the hour, %",
        (1, 2, 3, 4),
        "completed",
        0,
        ("small first", "large first", "small first, no context", "large first, no context"),
    ),
    Figure("fidelity", "| runs | starts apart: median, ms |", "How far apart the same jobs start in two runs: median, ms"),
    Figure("glesser", "| Light-ESP, 32 nodes, three runs |", "Stretch of users whose jobs draw 175, 250 and 325 W", (1, 2, 3)),
    Figure("oar", "| runs | starts apart: mean, s |", "How far apart the same jobs start in two runs of OAR: mean, s"),
    Figure("rjms", "| | Slurm 22.05.8 |", "Light-ESP: ideal ÷ makespan, %", (1, 2, 3, 4), "ideal ÷ makespan"),
    Figure("vidal", "| policy | makespan here, s |", "Makespan of applications that share a disk, s"),
    Figure("what-if", "| change | mean wait after it", "Mean wait after a change, % of before"),
)


def table_of(figure: Figure) -> list[list[str]]:
    """The table's rows as cells, its head first; of several tables with this head the one that has the row."""
    lines = (HERE / f"studies/{figure.study}.md").read_text().splitlines()
    for start, line in enumerate(lines):
        if not line.startswith(figure.head):
            continue
        end = next(at for at in range(start, len(lines) + 1) if at == len(lines) or not lines[at].startswith("|"))
        table = [[cell.strip() for cell in row.strip("|").split("|")] for row in lines[start:end]]
        if any(cells[0].startswith(figure.row) for cells in table[2:]):
            return [table[0], *table[2:]]
    raise SystemExit(f"docs/figures.py: studies/{figure.study}.md has no table {figure.head!r} with a row {figure.row!r}")


def bars_of(figure: Figure) -> dict[str, list[float]]:
    """The numbers of each bar, or group of bars, by its name."""
    head, *rows = table_of(figure)
    if figure.row:
        (cells,) = (cells for cells in rows if cells[0].startswith(figure.row))
        names = figure.names or tuple(head[column].split(",")[0] for column in figure.columns)
        return {name: [_number(cells[column], figure.nth)] for name, column in zip(names, figure.columns, strict=True)}
    return {_named(cells[0]): [_number(cells[column], figure.nth) for column in figure.columns] for cells in rows}


def _named(cell: str) -> str:
    """A row's name without marks: of a link its text."""
    return re.sub(r"\[(.*?)\]\(.*?\)", r"\1", cell).strip("`")


def _number(cell: str, nth: int) -> float:
    return float(re.findall(r"\d+(?:\.\d+)?", cell.replace(",", ""))[nth])


def described(figure: Figure) -> str:
    """What the figure says, in words."""
    bars = "; ".join(f"{name} {', '.join(f'{value:g}' for value in values)}" for name, values in bars_of(figure).items())
    return f"{figure.title}: {bars}"


def draw(figure: Figure, path: Path) -> None:
    """Write the figure: horizontal bars with their values, the first one on top."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    bars = bars_of(figure)
    width = max(map(len, bars.values()))
    with plt.rc_context({"svg.hashsalt": "simunix", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}):
        chart, axes = plt.subplots(figsize=(7, 0.7 + 0.24 * (width + 0.5) * len(bars) + 0.3 * (width > 1)), facecolor=SURFACE)
        for group, values in enumerate(bars.values()):
            for place, value in enumerate(values):
                at = group + (place - (width - 1) / 2) * 0.8 / width
                axes.barh(at, value, 0.72 / width, color=SERIES[place % len(SERIES)])
                axes.text(value, at, f" {value:,g}", va="center", color=INK, fontsize=9)
        if width > 1:
            head = table_of(figure)[0]
            marks = [axes.barh(0, 0, color=color) for color in SERIES[:width]]
            axes.legend(
                marks,
                [head[column] for column in figure.columns],
                frameon=False,
                ncols=width,
                loc="upper right",
                bbox_to_anchor=(1, 0),
            )
        axes.set_yticks(range(len(bars)), list(bars), color=INK)
        axes.invert_yaxis()
        axes.set_title(figure.title, loc="left", color=INK, fontsize=11, x=0)
        axes.set_facecolor(SURFACE)
        axes.tick_params(length=0, labelcolor=INK)
        axes.xaxis.set_visible(False)
        axes.margins(x=0.12)
        for side in axes.spines.values():
            side.set_visible(False)
        axes.spines["left"].set_visible(True)
        axes.spines["left"].set_color(GRID)
        chart.savefig(path, bbox_inches="tight", metadata={"Date": None, "Creator": None, "Description": described(figure)})
        plt.close(chart)


def stale() -> list[Figure]:
    """The figures that do not say what their tables say."""
    from xml.sax.saxutils import escape

    def says(figure: Figure) -> bool:
        path = HERE / f"images/study-{figure.study}.svg"
        return path.exists() and escape(described(figure)) in path.read_text()

    return [figure for figure in FIGURES if not says(figure)]


def main() -> int:
    """Write the figures, or with --check only say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a figure is out of date")
    check = parser.parse_args().check
    found = stale()
    for figure in found:
        path = HERE / f"images/study-{figure.study}.svg"
        print(f"docs/images/{path.name}: {'out of date; run python docs/figures.py' if check else 'written'}")
        if not check:
            draw(figure, path)
    return 1 if check and found else 0


if __name__ == "__main__":
    sys.exit(main())
