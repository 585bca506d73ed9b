"""`simunix`: picks the subcommand; every user error is one line and a non-zero exit."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from itertools import pairwise

from rsg_server.errors import SimunixError
from simunix import __version__

EXIT_INTERRUPTED = 130


OPTIONAL = {"--strace": "--strace=", "--pcap": "--pcap=", "--link-usage": "--link-usage=1s"}
"""Options whose value may be left out, and what they mean then."""


def build_parser() -> argparse.ArgumentParser:
    """All subcommands and their options; they are loaded here, where Ctrl-C is understood already.

    What only one of them needs it imports when it is executed: a command in an emulation of its own is to start at once.
    """
    from simunix.cli import (
        bench,
        check,
        control,
        coverage,
        net,
        platform,
        ps,
        report,
        root,
        run,
        schema,
        shell,
        sweep,
        trace,
        workload,
    )

    parser = argparse.ArgumentParser(
        prog="simunix", description="Run unmodified programs and whole clusters in virtual time on one computer."
    )
    parser.add_argument("--version", action="version", version=f"simunix {__version__}")
    subcommands = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)
    for module in (
        run,
        sweep,
        check,
        shell,
        control,
        ps,
        root,
        workload,
        report,
        trace,
        platform,
        net,
        bench,
        coverage,
        schema,
    ):
        module.add_parser(subcommands)
    return parser


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """`--strace` as `--strace=`: values that are optional, where argparse would take the next word for them.

    Raises SimunixError for a next word that looks like one.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for option, value in pairwise(arguments[:end]):
        if option in OPTIONAL and not value.startswith("-") and not value.endswith((".yaml", ".yml")):
            raise SimunixError(f"{option} {value}: write {option}={value} if this is its value; a command goes behind --")
    options = [OPTIONAL.get(word, word) for word in arguments[:end]]
    return [*options, *arguments[end:]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point of the console script; returns the exit code."""
    try:
        parsed = build_parser().parse_args(spelled_out(sys.argv[1:] if arguments is None else arguments))
        return int(parsed.execute(parsed))
    except SimunixError as error:
        print(f"simunix: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt as interrupt:
        return int(getattr(interrupt, "exit_code", EXIT_INTERRUPTED))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
