"""`simunix bench`: measures what simunix costs on this computer, and compares with other tools."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """examples:
  simunix bench                          all short benchmarks, some ten minutes
  simunix bench turn idle --json out.json
  simunix bench hundred-jobs             100 jobs in real time, under faketime and under simunix"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subcommands.add_parser(
        "bench",
        help="measure what simunix costs on this computer",
        description="Runs one benchmark after the other and prints a table, with the reason for each that cannot be run.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks (default: those that take minutes)")
    parser.add_argument("--list", action="store_true", help="list the benchmarks, and what this computer lacks for them")
    parser.add_argument("--all", action="store_true", help="run all benchmarks, also the long ones: two hours in all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures and a description of this computer here")
    parser.add_argument("--quick", action="store_true", help="shorter runs, rougher figures")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """List the chosen benchmarks or run them; return the exit code."""
    from simunix.bench.catalog import chosen

    benchmarks = chosen(options.names, options.all or (options.list and not options.names))
    if options.list:
        from simunix.bench.listing import print_list

        print_list(benchmarks)
        return 0
    from simunix.bench.session import bench

    return bench(benchmarks, options.json, options.quick)
