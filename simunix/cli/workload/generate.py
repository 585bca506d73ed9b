"""`simunix workload generate KIND`: makes workloads from published models."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from simunix.cli.workload.recording import RecordingParser

if TYPE_CHECKING:
    from collections.abc import Callable

    from simunix.workload.formats.swf import SwfTrace
    from simunix.workload.generators.io_mix import IoMix

    Subparsers = argparse._SubParsersAction[RecordingParser]
    Maker = Callable[[argparse.Namespace], SwfTrace | IoMix]

EPILOG = """examples:
  simunix workload generate light-esp --processors 256 --seed 1 -o esp.swf
  simunix workload generate lublin --jobs 10000 --processors 1024 --seed 7 -o synthetic.swf.gz
  simunix workload generate curie --nodes 32 --duration 12h --load 1.5 --seed 1 -o curie.swf
  simunix workload generate mira --jobs 100 --seed 3 -o mira.json"""
BANDWIDTH = 1e9
OUTPUTS = "output file: .swf, .swf.gz, .swf.xz, .csv, .parquet or .json"


def add_parser(operations: Subparsers) -> None:
    """Declare the operation `generate` of `simunix workload`, and the kinds of workload that it can make."""
    parser = operations.add_parser(
        "generate",
        help="make a workload from a published model",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    for name, text in (("esp2", "the benchmark ESP-2: 230 jobs"), ("light-esp", "ESP-2 with run times divided by about 12")):
        esp = _kind(kinds, name, _esp, text)
        esp.add_argument(
            "--processors", type=int, required=True, metavar="N", help="processors of the machine that the jobs fill"
        )
    lublin = _kind(kinds, "lublin", _lublin, "Lublin and Feitelson's model of rigid parallel jobs")
    lublin.add_argument("--jobs", type=int, required=True, metavar="N", help="number of jobs")
    processors = "processors of the machine (default: 128, as published)"
    lublin.add_argument("--processors", type=int, default=128, metavar="N", help=processors)
    choices = ("both", "one", "interactive", "batch")
    lublin.add_argument("--types", choices=choices, default="both", help="types of jobs (default: both)")
    raijin = _kind(kinds, "raijin", _raijin, "a stand-in for NCI's Raijin, from what Barberato's thesis published of it")
    raijin.add_argument("--jobs", type=int, required=True, metavar="N", help="number of jobs")
    raijin.add_argument("--processors", type=int, required=True, metavar="N", help="processors of the machine")
    raijin.add_argument("--scale", type=float, default=1.0, metavar="X", help="factor for the sizes of jobs (default: 1)")
    load = "work submitted / work that the machine can do (default: 4)"
    raijin.add_argument("--load", type=float, default=4.0, metavar="X", help=load)
    raijin.add_argument("--high", type=float, default=0.2, metavar="X", help="share of jobs in queue 2 (default: 0.2)")
    _add_curie(kinds)
    uniform = _io_kind(kinds, "uniform", _uniform, "jobs with I/O, periodic, uniformly drawn (Vidal's BU and NU)")
    uniform.add_argument(
        "--saturation", type=float, default=1.0, metavar="X", help="load at which the sizes of jobs aim (default: 1)"
    )
    _io_kind(kinds, "mira", _mira, "jobs with I/O like those of Argonne's Mira (Vidal's MB and MN)")


def _add_curie(kinds: Subparsers) -> None:
    curie = _kind(kinds, "curie", _curie, "an overloaded machine like Curie, from the quantiles of Emeras's thesis, with waits")
    curie.add_argument(
        "--nodes", type=int, default=5040, metavar="N", help="number of nodes of the machine (default: 5040, as Curie has)"
    )
    curie.add_argument("--cores", type=int, default=16, metavar="N", help="number of cores of a node (default: 16)")
    curie.add_argument("--duration", default="24h", metavar="TIME", help="time span of the submissions (default: 24h)")
    load = "work submitted, relative to what the machine can do in that time (default: 1.5)"
    curie.add_argument("--load", type=float, default=1.5, metavar="X", help=load)
    curie.add_argument("--users", type=int, default=100, metavar="N", help="number of users (default: 100)")


def _kind(kinds: Subparsers, name: str, make: Maker, text: str) -> argparse.ArgumentParser:
    parser = kinds.add_parser(name, help=text, description=text)
    parser.add_argument("--seed", type=int, required=True, metavar="N", help="seed of all random choices, from 0 up")
    parser.add_argument(
        "--output",
        "-o",
        type=Path,
        required=True,
        metavar="FILE",
        help="output file: .swf, .swf.gz, .swf.xz, .csv, .parquet or .json",
    )
    parser.set_defaults(execute=execute_generate, make=make)
    return parser


def _io_kind(kinds: Subparsers, name: str, make: Maker, text: str) -> argparse.ArgumentParser:
    parser = _kind(kinds, name, make, text)
    jobs = "number of jobs (default: uniform 100 to 500 by the seed, mira 250)"
    parser.add_argument("--jobs", type=int, metavar="N", help=jobs)
    parser.add_argument(
        "--ratio", type=float, metavar="X", help="mean ratio of I/O to computing of all jobs, in the place of two kinds of jobs"
    )
    parser.add_argument(
        "--low-share", type=float, default=0.5, metavar="X", help="share of the jobs with little I/O (default: 0.5)"
    )
    parser.add_argument(
        "--bandwidth",
        type=float,
        default=BANDWIDTH,
        metavar="B",
        help="bandwidth of the storage in bytes per second, for .json (default: 1e9)",
    )
    return parser


def execute_generate(options: argparse.Namespace) -> int:
    """Make the workload, write it to a file, and print its size; return the exit code."""
    from simunix.workload.formats.by_name import write_trace
    from simunix.workload.formats.provenance import history, recorded
    from simunix.workload.generators.io_mix import IoMix, write_batsim

    if options.seed < 0:
        raise SimunixError(f"--seed {options.seed}: expected a number from 0 up")
    made = options.make(options)
    trace = recorded(made.trace() if isinstance(made, IoMix) else made, ("workload", "generate", *options.arguments))
    if isinstance(made, IoMix) and options.output.suffix == ".json":
        if not 0 < options.bandwidth < float("inf"):
            raise SimunixError(f"--bandwidth {options.bandwidth:g}: expected bytes per second above 0")
        write_batsim(options.output, made, options.bandwidth, list(history(trace)))
    else:
        write_trace(options.output, trace)
    load = f", I/O load {made.load:.3g}" if isinstance(made, IoMix) else ""
    print(f"{options.output}: {len(trace.jobs)} jobs for {trace.header['MaxProcs']} processors{load}")
    return 0


def _esp(options: argparse.Namespace) -> SwfTrace:
    from simunix.workload.generators.esp import esp

    return esp(options.processors, options.seed, light=options.kind == "light-esp")


def _lublin(options: argparse.Namespace) -> SwfTrace:
    from simunix.workload.generators.lublin import lublin

    return lublin(options.jobs, options.processors, options.seed, options.types)


def _raijin(options: argparse.Namespace) -> SwfTrace:
    from simunix.workload.generators.raijin import raijin

    return raijin(options.jobs, options.processors, options.seed, options.scale, options.load, options.high)


def _curie(options: argparse.Namespace) -> SwfTrace:
    from simunix.units import option_s
    from simunix.workload.generators.curie import Curie, curie

    duration_s = option_s("--duration", options.duration)
    return curie(Curie(options.nodes, options.cores, duration_s, options.load, options.users), options.seed)


def _uniform(options: argparse.Namespace) -> IoMix:
    from simunix.workload.generators.io_mix import uniform

    return uniform(options.seed, options.jobs, options.ratio, options.low_share, options.saturation)


def _mira(options: argparse.Namespace) -> IoMix:
    from simunix.workload.generators.io_mix import mira

    return mira(options.seed, 250 if options.jobs is None else options.jobs, options.ratio, options.low_share)
