"""`simunix sweep`: runs all variants of an experiment, several at a time."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subcommands.add_parser("sweep", help="run a scenario in many variants, several at a time, into one table")
    parser.add_argument("experiment", type=Path, metavar="EXPERIMENT.yaml", help="see docs/guide/experiments.md")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="DIR", help="folder of the runs and results.csv")
    parser.add_argument("--workers", type=int, metavar="N", help="runs at a time (default: one per core)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="a Dask scheduler whose workers do the runs, e.g. tcp://head:8786"
    )
    parser.add_argument("--resume", action="store_true", help="continue a sweep: keep finished runs, do the missing ones")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Check the options and do the sweep; return its exit code."""
    if options.workers is not None and options.workers < 1:
        raise SimunixError(f"--workers: expected at least 1, got {options.workers}")
    if options.workers is not None and options.scheduler is not None:
        raise SimunixError("--workers: a scheduler has its own workers; leave out --workers or --scheduler")
    from simunix.sweep.sweep import SweepOptions, sweep

    return sweep(SweepOptions(options.experiment, options.out, options.workers, options.scheduler, options.resume))
