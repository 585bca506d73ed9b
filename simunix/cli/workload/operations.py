"""The operations of `simunix workload` on traces of jobs: stats, plot, merge, and those that make one trace from
another.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from simunix.cli.workload import generate
from simunix.cli.workload.recording import RecordingParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from simunix.workload.formats.swf import SwfTrace

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]
    Operations = argparse._SubParsersAction[RecordingParser]

EPILOG = """formats, by the name's ending: .swf, .swf.gz, .swf.xz (SWF), .csv, .parquet (job table), .json
(Batsim), .sacct or .txt (what sacct -P prints; read only), or the folder of a run (read only). Headers say how a trace was
made, from what: docs/guide/workloads.md
examples:
  simunix workload stats trace.swf.gz
  simunix workload cut trace.swf.gz day.swf --begin 40d --end 41d
  simunix workload sample trace.swf small.swf --count 1000 --method error-diffused
  simunix workload convert jobs.sacct jobs.swf
  simunix workload convert out/demo demo.swf
  simunix workload generate lublin --jobs 10000 --seed 7 -o synthetic.swf
  simunix workload plot trace.swf.gz -o trace.png"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix workload` and its operations."""
    parser = subcommands.add_parser(
        "workload",
        help="look at traces of jobs; make, cut, scale, sample, shuffle, merge, convert and draw them",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    operations = parser.add_subparsers(dest="operation", metavar="OPERATION", required=True, parser_class=RecordingParser)
    stats = operations.add_parser("stats", help="print counts, time span, sizes, times, load and users of a trace")
    stats.add_argument("trace", type=Path, metavar="TRACE")
    stats.add_argument("--json", action="store_true", help="as JSON")
    stats.set_defaults(execute=execute_stats)
    _add_makers(operations)
    merge = operations.add_parser("merge", help="write the jobs of several traces into one trace")
    merge.add_argument("traces", type=Path, nargs="+", metavar="TRACE")
    merge.add_argument("--output", "-o", type=Path, required=True, metavar="TRACE")
    merge.add_argument("--by-date", action="store_true", help="keep the dates of the traces; by default all traces start at 0")
    merge.set_defaults(execute=execute_merge)
    generate.add_parser(operations)
    plot = operations.add_parser("plot", help="draw sizes, run times, arrivals and load of a trace")
    plot.add_argument("trace", type=Path, metavar="TRACE")
    plot.add_argument("--output", "-o", type=Path, required=True, metavar="FIGURE", help=".png or .svg")
    plot.set_defaults(execute=execute_plot)


def _add_makers(operations: Operations) -> None:
    """Declare the operations of `simunix workload` that make one trace of jobs from another."""
    cut = _maker(operations, "cut", _cut, "the jobs submitted in a window of time")
    cut.add_argument(
        "--begin",
        default="0",
        metavar="TIME",
        help="beginning of the window in the trace, e.g. 40d (default: the start of the trace)",
    )
    cut.add_argument("--end", metavar="TIME", help="end of the window in the trace (default: the end of the trace)")
    cut.add_argument("--context", action="store_true", help="add the jobs that ran or waited when the window begins")
    cut.add_argument("--settle", metavar="TIME", help="time from the start of the context's jobs to the window (default: 60 s)")
    scale = _maker(operations, "scale", _scale, "sizes and times multiplied by a factor")
    scale.add_argument("--to-processors", type=_size, metavar="N", help="scale sizes so that the machine has N processors")
    scale.add_argument(
        "--processors",
        type=_factor,
        default=1.0,
        metavar="FACTOR",
        help="factor by which sizes are multiplied (rounded, at least 1)",
    )
    scale.add_argument("--times", type=_factor, default=1.0, metavar="FACTOR", help="factor by which all times are multiplied")
    sample = _maker(operations, "sample", _sample, "a representative sample of the jobs")
    sample.add_argument("--count", type=int, required=True, metavar="N", help="number of jobs to keep")
    sample.add_argument("--method", choices=("error-diffused", "stratified"), default="error-diffused")
    sample.add_argument(
        "--offset", type=int, default=0, metavar="N", help="offset of the job in each block, for the stratified method"
    )
    shuffle = _maker(operations, "shuffle", _shuffle, "the jobs in random order, at equal distances")
    shuffle.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random order (default: 0)")
    _maker(operations, "convert", lambda trace, _: trace, "the trace in another format")


def _maker(
    operations: Operations, name: str, make: Callable[[SwfTrace, argparse.Namespace], SwfTrace], text: str
) -> argparse.ArgumentParser:
    """Declare an operation that reads a trace of jobs and writes the trace that `make` makes from it."""
    parser = operations.add_parser(name, help=text)
    parser.add_argument("trace", type=Path, metavar="FROM")
    parser.add_argument("output", type=Path, metavar="TO")
    parser.set_defaults(execute=execute_make, make=make)
    return parser


def execute_make(options: argparse.Namespace) -> int:
    """Read a trace of jobs, write the trace made from it, and print how many jobs the new trace has; return the exit
    code.
    """
    from simunix.results.as_trace import read_trace
    from simunix.workload.formats.by_name import write_trace
    from simunix.workload.formats.provenance import recorded

    trace = read_trace(options.trace)
    made = _naming(options.trace, lambda: options.make(trace, options))
    write_trace(options.output, recorded(made, _command(options), [options.trace]))
    print(f"{options.output}: {len(made.jobs)} jobs of {len(trace.jobs)}")
    return 0


def execute_merge(options: argparse.Namespace) -> int:
    """Read traces of jobs and write the merged trace; return the exit code."""
    from simunix.results.as_trace import read_trace
    from simunix.workload.formats.by_name import write_trace
    from simunix.workload.formats.provenance import recorded, with_history_of
    from simunix.workload.transforms.shape import merge

    traces = [read_trace(path) for path in options.traces]
    made = with_history_of(merge(traces, options.by_date), traces)
    write_trace(options.output, recorded(made, _command(options), options.traces))
    print(f"{options.output}: {len(made.jobs)} jobs of {len(options.traces)} traces")
    return 0


def _command(options: argparse.Namespace) -> tuple[str, ...]:
    return ("workload", options.operation, *options.arguments)


def execute_stats(options: argparse.Namespace) -> int:
    """Print the statistics of a trace of jobs, as lines or as JSON; return the exit code."""
    from simunix.results.as_trace import read_trace
    from simunix.workload.statistics import statistics
    from simunix.workload.statistics_text import lines_of

    found = statistics(read_trace(options.trace))
    if options.json:
        print(json.dumps(found, indent=1))
        return 0
    print("\n".join(lines_of(found)))
    return 0


def execute_plot(options: argparse.Namespace) -> int:
    """Draw a trace of jobs and print the file name of the picture; return the exit code."""
    from simunix.report.workload_plot import plot
    from simunix.results.as_trace import read_trace

    plot(read_trace(options.trace), options.trace.name, options.output)
    print(options.output)
    return 0


def _cut(trace: SwfTrace, options: argparse.Namespace) -> SwfTrace:
    from simunix.units import option_s
    from simunix.workload.transforms.context import SETTLE_S, cut_with_context
    from simunix.workload.transforms.shape import cut

    begin = option_s("--begin", options.begin)
    settle = SETTLE_S if options.settle is None else option_s("--settle", options.settle)
    end = math.inf if options.end is None else option_s("--end", options.end)
    if not begin < end:
        raise SimunixError(f"--begin {options.begin} --end {options.end}: expected the beginning before the end")
    if options.settle is not None and not options.context:
        raise SimunixError("--settle: works only with --context; give --context too, or leave --settle out")
    return cut_with_context(trace, begin, end, settle) if options.context else cut(trace, begin, end)


def _scale(trace: SwfTrace, options: argparse.Namespace) -> SwfTrace:
    from simunix.workload.transforms.shape import factor_to, scale

    processors = options.processors if options.to_processors is None else factor_to(trace, options.to_processors)
    return scale(trace, processors, options.times)


def _sample(trace: SwfTrace, options: argparse.Namespace) -> SwfTrace:
    from simunix.workload.transforms.sample import error_diffused, stratified

    return (
        stratified(trace, options.count, options.offset)
        if options.method == "stratified"
        else error_diffused(trace, options.count)
    )


def _shuffle(trace: SwfTrace, options: argparse.Namespace) -> SwfTrace:
    from simunix.workload.transforms.shape import shuffle

    return shuffle(trace, options.seed)


def _naming(path: Path, make: Callable[[], SwfTrace]) -> SwfTrace:
    """Return the trace that `make` returns. An error of `make` about a job is raised again with the name of the file in
    front.
    """
    try:
        return make()
    except SimunixError as error:
        raise SimunixError(f"{path}: {error}") from error


def _size(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {text}")
    return value


def _factor(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return value
