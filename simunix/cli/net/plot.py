"""`simunix net plot DIR`: draws how many bytes per second the links of a run carried, over virtual time."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

BUSIEST = 12


def add_question(questions: Subparsers) -> None:
    """Declare the operation `plot` of `simunix net`."""
    plot = questions.add_parser("plot", help="draw how much traffic links carried, from links.csv of a run with --link-usage")
    plot.add_argument("directory", type=Path, metavar="DIR", help="run directory, or a file links.csv")
    plot.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="file for the picture: .png, .svg or .pdf (default: DIR/links.png)"
    )
    plot.add_argument(
        "--links", default="", metavar="NAMES", help=f"links, separated by commas (default: the {BUSIEST} busiest)"
    )
    plot.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Draw the links and print the file name of the picture; return the exit code."""
    from simunix.report.link_plot import plot
    from simunix.results.link_usage import read_usage

    source = options.directory / "links.csv" if options.directory.is_dir() else options.directory
    usage = read_usage(source)
    names = usage.chosen(options.links.split(",") if options.links else [], BUSIEST)
    target = options.output or source.with_suffix(".png")
    plot(usage, names, target)
    print(target)
    return 0
