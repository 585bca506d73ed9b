"""`simunix rsg`: programs that name the simulation (Remote SimGrid), on a platform of SimGrid's."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommands."""
    parser = subcommands.add_parser(
        "rsg",
        help="run programs that use the API of Remote SimGrid on a SimGrid platform",
        description="Run programs that use the API of Remote SimGrid: actors, mailboxes and activities, in virtual time.",
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_run(verbs)


def _add_run(verbs: Subparsers) -> None:
    run = verbs.add_parser(
        "run",
        help="run one program, whose actors are threads or forks of it",
        description="Run a program on the first host of a platform; its actors are on all hosts. Calls take no virtual time.",
    )
    run.add_argument("platform", type=Path, metavar="PLATFORM", help="a SimGrid platform file")
    run.add_argument("command", nargs="+", metavar="COMMAND", help="program and arguments, after --")
    run.add_argument("--out", type=Path, metavar="DIR", help="keep the run directory here")
    run.add_argument(
        "--model", default="LV08", metavar="NAME", help="flow model: LV08 (default), CM02, SMPI, raw, constant, ptask_L07"
    )
    run.set_defaults(execute=execute_run)


def execute_run(options: argparse.Namespace) -> int:
    """Run the command; its own exit code."""
    from simunix.app.rsg import run_rsg

    return run_rsg(options.platform, tuple(options.command), options.out, options.model)
