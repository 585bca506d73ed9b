"""`simunix replay`: repeats, to the byte, the failing run that a capsule (a folder of `simunix explore`) describes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix replay` and its options."""
    parser = subcommands.add_parser("replay", help="repeat a failing run that simunix explore has found")
    parser.add_argument(
        "capsule", type=Path, metavar="CAPSULE", help="folder of a failure, below failures/ in the folder of an exploration"
    )
    parser.add_argument("--out", type=Path, default=Path("out/replay"), metavar="DIR", help="folder for the results")
    parser.add_argument("--until", metavar="TIME", help="end the run at this virtual time")
    parser.add_argument("--pause-at", metavar="TIME", help="pause the run at this virtual time")
    parser.add_argument("--strace", nargs="?", const="", metavar="PROCESSES", help="as of simunix run")
    parser.add_argument("--gdb", metavar="[HOST:]PROCESS", help="as of simunix run")
    parser.add_argument(
        "--reseed-at",
        metavar="TIMES",
        help="count how often the failure occurs if the choices are others from a virtual time on, e.g. 5s,10s",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="find the choice that causes the failure, show what it changes, and since when the failure is likely",
    )
    parser.add_argument(
        "--seeds", type=int, metavar="N", help="with --reseed-at or --explain: number of runs with other choices (default: 20)"
    )
    parser.add_argument(
        "--jobs", type=int, metavar="N", help="with --reseed-at or --explain: number of runs at one time (default: 1)"
    )
    parser.add_argument("--story", action="store_true", help="print what happens in the run, without running it")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Repeat the run of the capsule, explain it or reseed it, as the options say; return the exit code."""
    from simunix.cli.run import duration
    from simunix.explore.replay import ReplayOptions, replay

    if options.explain:
        return _explain(options)
    if options.reseed_at is not None:
        return _reseed(options)
    for name in ("seeds", "jobs"):
        if getattr(options, name) is not None:
            raise SimunixError(f"--{name}: works only with --reseed-at or --explain; give one of these, or leave it out")
    return replay(
        ReplayOptions(
            capsule=options.capsule,
            out=options.out,
            until_ns=duration("--until", options.until),
            pause_at_ns=duration("--pause-at", options.pause_at),
            strace=options.strace,
            debug=options.gdb,
            tells_story=options.story,
        )
    )


def _check_counts(options: argparse.Namespace) -> None:
    for name in ("seeds", "jobs"):
        if (value := getattr(options, name)) is not None and value < 1:
            raise SimunixError(f"--{name}: expected at least 1, got {value}")


def _explain(options: argparse.Namespace) -> int:
    """Explain the failure of the capsule (`--explain`); return the exit code."""
    from simunix.explore.report import refreshed
    from simunix.explore.why.explain import ExplainOptions, explain

    for name in ("until", "pause_at", "strace", "gdb", "reseed_at"):
        if getattr(options, name) is not None:
            raise SimunixError(
                f"--{name.replace('_', '-')}: does not work with --explain, which makes runs of its own; leave it out"
            )
    _check_counts(options)
    code = explain(ExplainOptions(capsule=options.capsule, out=options.out, seeds=options.seeds or 20, jobs=options.jobs or 1))
    report = refreshed(options.capsule)
    if report is not None:
        print(f"report: {report}")
    return code


def _reseed(options: argparse.Namespace) -> int:
    """Repeat the run up to some moments, and go on with other seeds (`--reseed-at`); return the exit code."""
    from simunix.cli.run import duration
    from simunix.explore.reseed import ReseedOptions, reseed

    _check_counts(options)
    moments = [duration("--reseed-at", text) for text in options.reseed_at.split(",")]
    return reseed(
        ReseedOptions(
            capsule=options.capsule,
            out=options.out,
            moments_ns=[moment_ns for moment_ns in moments if moment_ns is not None],
            seeds=options.seeds or 20,
            jobs=options.jobs or 1,
        )
    )
