"""`simunix calibrate DIR…`: learns from charged runs what programs compute before their calls."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix calibrate` and its options."""
    parser = subcommands.add_parser(
        "calibrate", help="learn from charged runs how long programs compute, for cpu_policy: modelled"
    )
    parser.add_argument(
        "directories", nargs="+", type=Path, metavar="DIR", help="run directory of a run with cpu_policy: charged"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the table of computing times into this file, for the key cpu_costs of a scenario",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Read the runs, write the computing times of their programs, and report how well these times predict what was
    charged; return the exit code.
    """
    from simunix.calibration.measured import prices_of, read_measured
    from simunix.calibration.prices import write_prices
    from simunix.calibration.report import foretold, table_of
    from simunix.console import Console
    from simunix.results.dependencies import processor

    runs = [read_measured(directory) for directory in options.directories]
    if options.output is not None:
        write_prices(options.output, processor(), prices_of(runs))
    Console().print(table_of(foretold(runs), len(runs)))
    return 0
