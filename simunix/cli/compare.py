"""`simunix compare`: runs variants of a scenario, and tells which jobs and users gain and lose by each variant."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """examples:
  simunix compare site.yaml --set slurm.parameters.PriorityWeightAge=5000
  simunix compare site.yaml --set fifo: slurm.parameters.PriorityType=priority/basic --set large: workload.processors=2
  simunix compare site.yaml today/slurm.conf tomorrow/slurm.conf    two configurations
  simunix compare slurm.yaml gridengine.yaml                        two scenarios
  simunix compare site.yaml --against sacct.txt                     how far to trust it
  simunix compare site.yaml --set ... --repetitions 5 --set-all perturb=true    and what is chance
  simunix compare out/a out/b                                       runs that are there already"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix compare` and its options."""
    parser = subcommands.add_parser(
        "compare",
        help="run variants of a scenario, and show which jobs and users wait less or longer",
        description="Run a scenario and its variants, and show what changes for each user, account, partition, QOS and job.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        type=Path,
        nargs="+",
        metavar="BASE",
        help="scenarios, configurations for the first scenario, or folders of runs",
    )
    parser.add_argument(
        "--set",
        action="append",
        nargs="+",
        default=[],
        metavar="[NAME:] KEY=VALUE",
        help="a variant of the first scenario: an optional name, and keys with other values; may be repeated",
    )
    parser.add_argument("--set-all", action="append", default=[], metavar="KEY=VALUE", help="set a key in all variants")
    parser.add_argument(
        "--against", type=Path, metavar="FILE", help="accounting of the real site (output of sacct -P) to compare the base with"
    )
    parser.add_argument(
        "--most", type=int, default=5, metavar="N", help="number of rows in each list on the terminal (default: 5)"
    )
    parser.add_argument(
        "--window",
        choices=("whole", "steady"),
        default="whole",
        help="count all jobs, or those submitted in the steady window, which leaves out the first and the last tenth",
    )
    _add_files(parser)
    _add_runs(parser)
    parser.set_defaults(execute=execute)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--out", type=Path, metavar="DIR", help="folder for the runs and the results (default: out/compare-NAME)"
    )
    parser.add_argument(
        "--page", type=Path, metavar="FILE", help="file for the HTML page (default: compare.html in the folder of --out)"
    )
    parser.add_argument("--figures", type=Path, metavar="DIR", help="write every figure as a picture into this folder")
    parser.add_argument(
        "--format",
        action="append",
        choices=("png", "svg", "pdf"),
        help="format of the pictures of --figures; may be repeated (default: png, svg)",
    )


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="seed of all runs; with --repetitions, the first seed (default: each scenario's own)",
    )
    parser.add_argument(
        "--repetitions",
        type=int,
        default=1,
        metavar="N",
        help="number of runs of each variant, with different seeds, to tell effects from chance (default: 1)",
    )
    parser.add_argument("--workers", type=int, metavar="N", help="number of runs at one time (default: one per core)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="address of a Dask scheduler whose workers execute the runs")


def execute(options: argparse.Namespace) -> int:
    """Check the options, run the variants and compare them; return the exit code."""
    for name, least in (("workers", 1), ("most", 1), ("seed", 0), ("repetitions", 1)):
        value = getattr(options, name)
        if value is not None and value < least:
            raise SimunixError(f"--{name}: expected at least {least}, got {value}")
    if options.workers is not None and options.scheduler is not None:
        raise SimunixError("--workers: the scheduler has its own workers; leave out --workers or --scheduler")
    from simunix.compare.compare import CompareOptions, compare

    return compare(
        CompareOptions(
            paths=options.paths,
            sets=options.set,
            everywhere=options.set_all,
            against=options.against,
            out=options.out,
            page=options.page,
            figures=options.figures,
            formats=options.format or ("png", "svg"),
            seed=options.seed,
            workers=options.workers,
            scheduler=options.scheduler,
            most=options.most,
            window=options.window,
            repetitions=options.repetitions,
        )
    )
