"""`simunix shell DIR`: opens an interactive shell on a host of a running emulation."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand."""
    parser = subcommands.add_parser("shell", help="open a shell on a host of a running emulation")
    parser.add_argument("directory", type=Path, metavar="DIR", help="run directory of the emulation")
    parser.add_argument("--host", help="emulated host (default: the only one)")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Run the user's shell on the host."""
    from simunix.app.join import join

    return join(options.directory, options.host, [os.environ.get("SHELL", "/bin/sh")])
