"""`simunix sweep`: runs all variants of an experiment, several at a time."""

from __future__ import annotations

import argparse
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from simunix.sweep.analysis.options import FORMATS, METRICS, TellOptions

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix sweep` and its options."""
    parser = subcommands.add_parser("sweep", help="run a scenario in many variants, several at one time")
    parser.add_argument(
        "experiment", type=Path, metavar="EXPERIMENT.yaml", help="experiment file, see docs/guide/experiments.md"
    )
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="folder for the runs and for results.csv")
    parser.add_argument("--workers", type=int, metavar="N", help="number of runs at one time (default: one per core)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler whose workers execute the runs, e.g. tcp://head:8786"
    )
    parser.add_argument("--resume", action="store_true", help="keep finished runs, and execute the missing ones")
    parser.add_argument(
        "--table", action="store_true", help="print means with 95 %% intervals and differences, and write them into DIR"
    )
    parser.add_argument("--figures", type=Path, metavar="DIR", help="write pictures of the means into this folder")
    parser.add_argument(
        "--format", action="append", choices=FORMATS, help="format of the pictures of --figures; may be repeated (default: all)"
    )
    parser.add_argument(
        "--metric",
        action="append",
        default=[],
        metavar="NAME",
        help=f"a metric, which is a column of results.csv; may be repeated (default: {', '.join(METRICS)})",
    )
    parser.add_argument(
        "--until-width",
        type=_width,
        metavar="PERCENT",
        help="add repetitions until the intervals of the metrics (default: the first) are at most this part of the mean wide",
    )
    parser.add_argument("--most", type=int, metavar="N", help="most repetitions with --until-width (default: 100)")
    parser.set_defaults(execute=execute)


def _width(text: str) -> float:
    """Return the part of 1 that a text such as '5%' means. Raises ArgumentTypeError for a malformed text."""
    try:
        value = float(text.removesuffix("%")) / 100
    except ValueError:
        value = 0.0
    if not (text.endswith("%") and 0 < value < inf):
        raise argparse.ArgumentTypeError(f"expected per cent above 0, such as 5%, got {text!r:.40}")
    return value


def execute(options: argparse.Namespace) -> int:
    """Check the options and run the sweep; return its exit code."""
    if options.workers is not None and options.workers < 1:
        raise SimunixError(f"--workers: expected at least 1, got {options.workers}")
    if options.workers is not None and options.scheduler is not None:
        raise SimunixError("--workers: the scheduler has its own workers; leave out --workers or --scheduler")
    if options.most is not None and (options.most < 2 or options.until_width is None):
        mend = "at least 2" if options.until_width is not None else "it together with --until-width"
        raise SimunixError(f"--most: expected {mend}, got {options.most}")
    from simunix.sweep.sweep import MOST, SweepOptions, sweep

    told = TellOptions(
        table=options.table,
        figures=options.figures,
        formats=tuple(options.format or FORMATS),
        metrics=tuple(dict.fromkeys(options.metric)),
        width=options.until_width,
    )
    common = (options.experiment, options.out, options.workers, options.scheduler, options.resume)
    return sweep(SweepOptions(*common, told=told, until_width=options.until_width, most=options.most or MOST))
