"""`simunix bench`: measures what simunix costs on this computer, and compares with other tools.

The benchmarks are a package of a checkout, simunix_bench, beside this one; pip installs simunix without it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import simunix
from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """examples:
  simunix bench                          all short benchmarks, some ten minutes
  simunix bench turn idle --json out.json
  simunix bench hundred-jobs             100 jobs in real time, under faketime and under simunix"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix bench` and its options."""
    parser = subcommands.add_parser(
        "bench",
        help="measure what simunix costs on this computer",
        description="Run one benchmark after the other, and print a table of figures, and why a benchmark cannot be run.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="the benchmarks to run (default: those that take minutes)")
    parser.add_argument("--list", action="store_true", help="list the benchmarks, and what this computer lacks for each")
    parser.add_argument("--all", action="store_true", help="run all benchmarks, including the long ones, which takes two hours")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the figures and a description of this computer into this file"
    )
    parser.add_argument("--quick", action="store_true", help="make shorter runs, which gives less exact figures")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """List the chosen benchmarks or run them; return the exit code."""
    reach_benchmarks()
    from simunix_bench.catalog import chosen

    benchmarks = chosen(options.names, options.all or (options.list and not options.names))
    if options.list:
        from simunix_bench.listing import print_list

        print_list(benchmarks)
        return 0
    from simunix_bench.session import bench

    return bench(benchmarks, options.json, options.quick)


def reach_benchmarks() -> None:
    """Make the package simunix_bench of the checkout that simunix runs from importable. Raises SimunixError if simunix
    runs from no checkout.
    """
    checkout = Path(simunix.__file__).resolve().parents[1]
    if not (checkout / "simunix_bench").is_dir():
        raise SimunixError(
            "bench: the benchmarks are in simunix's repository, not in the installed package; in a checkout: pip install -e ."
        )
    if str(checkout) not in sys.path:
        sys.path.append(str(checkout))  # at the end of the path: no other file of the checkout may hide an installed module
