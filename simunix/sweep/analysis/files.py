"""Write the table of an experiment: as CSV with all numbers, and as Markdown and LaTeX for papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rsg_server.whole_files import write_whole
from simunix.sweep.analysis.estimates import Estimate
from simunix.sweep.analysis.texts import HEADS, cells, name_of
from simunix.sweep.table import write_table

NAME = "table"
_LATEX = {"\\": r"\textbackslash{}", "…": r"\dots{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    sign: f"\\{sign}" for sign in "&%$#_{}"
}


def write_files(folder: Path, found: Sequence[Estimate]) -> list[Path]:
    """Write the table of an experiment as table.csv, table.md and table.tex into a folder; return their paths. Raises
    ServerError if that fails.
    """
    write_table(folder / f"{NAME}.csv", [numbers(each) for each in found])
    write_whole(folder / f"{NAME}.md", markdown(found))
    write_whole(folder / f"{NAME}.tex", latex(found))
    return [folder / f"{NAME}.{kind}" for kind in ("csv", "md", "tex")]


def numbers(each: Estimate) -> dict[str, Any]:
    """Return a row of table.csv: plain numbers in the metric's unit, and fractions in place of per cent."""
    interval, difference = each.interval, each.difference
    row: dict[str, Any] = {
        "metric": each.metric,
        "setting": each.setting,
        "repetitions": interval.count,
        "mean": interval.mean,
        "low": interval.low,
        "high": interval.high,
        "method": interval.method,
        "relative_width": interval.relative_width,
        "needed": "" if each.needed is None else each.needed,
        "difference": float("nan"),
        "difference_low": float("nan"),
        "difference_high": float("nan"),
        "relative_difference": float("nan"),
        "paired": "",
        "p": float("nan"),
        "p_adjusted": float("nan"),
        "conclusion": "",
    }
    if difference is None:
        return row
    return row | {
        "difference": difference.interval.mean,
        "difference_low": difference.interval.low,
        "difference_high": difference.interval.high,
        "relative_difference": difference.relative,
        "paired": difference.is_paired,
        "p": difference.p_value,
        "p_adjusted": difference.adjusted_p,
        "conclusion": difference.verdict,
    }


def _by_metric(found: Sequence[Estimate]) -> dict[str, list[Estimate]]:
    metrics: dict[str, list[Estimate]] = {}
    for each in found:
        metrics.setdefault(each.metric, []).append(each)
    return metrics


def markdown(found: Sequence[Estimate]) -> str:
    """Return a table for each metric in Markdown."""
    lines = []
    for metric, own in _by_metric(found).items():
        lines += [f"**{name_of(metric)}**", "", f"| {' | '.join(HEADS)} |", f"| --- |{' ---: |' * (len(HEADS) - 2)} --- |"]
        lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells(each))} |" for each in own]
        lines.append("")
    return "\n".join(lines)


def latex(found: Sequence[Estimate]) -> str:
    """Return a LaTeX `tabular` for each metric, with the lines of the package booktabs."""
    lines = ["% \\usepackage{booktabs}"]
    for metric, own in _by_metric(found).items():
        lines += [
            f"% {name_of(metric)}",
            f"\\begin{{tabular}}{{l{'r' * (len(HEADS) - 2)}l}}",
            "\\toprule",
            f"{' & '.join(map(_escaped, HEADS))} \\\\",
            "\\midrule",
            *(f"{' & '.join(map(_escaped, cells(each)))} \\\\" for each in own),
            "\\bottomrule",
            "\\end{tabular}",
            "",
        ]
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)
