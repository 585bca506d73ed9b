"""`simunix trace DIR`: writes the events of a run as a trace file for Perfetto and chrome://tracing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix trace` and its options."""
    parser = subcommands.add_parser(
        "trace",
        help="write a run's jobs, processes and connections for ui.perfetto.dev or chrome://tracing",
        description="Write what a run did, in virtual time, in the Trace Event Format: hosts, jobs, processes, connections.",
    )
    parser.add_argument("directory", type=Path, metavar="DIR", help="run directory, also of a run that was killed")
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file for the trace, compressed if its name ends in .gz (default: DIR/trace.json.gz)",
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Write the trace file, and print its name and the number of its events; return the exit code."""
    from simunix.report.run_data import read_run
    from simunix.report.trace_events import write_trace

    target = options.output or options.directory / "trace.json.gz"
    count = write_trace(target, read_run(options.directory))
    print(f"{target}: {count:,} events; open it in ui.perfetto.dev or chrome://tracing")
    return 0
