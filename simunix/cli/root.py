"""`simunix root make` and `simunix root show`: root file systems of other Debian releases for the hosts of a scenario."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from simunix.roots.debootstrap import MIRROR, RootRequest, make_root
from simunix.roots.tree import open_root

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """examples:
  simunix root make trixie roots/trixie slurm-wlm munge python3
  simunix root show roots/trixie
  simunix run scenarios/nasa-ipsc.yaml --set root=$PWD/roots/trixie"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix root` and its operations `make` and `show`."""
    parser = subcommands.add_parser(
        "root",
        help="make or show a root file system of another Debian release",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    operations = parser.add_subparsers(dest="operation", metavar="OPERATION", required=True)
    make = operations.add_parser("make", help="make a root file system with debootstrap (as root); no service is started")
    make.add_argument("release", metavar="RELEASE", help="release of Debian, such as bullseye, bookworm, trixie or sid")
    make.add_argument(
        "directory", type=Path, metavar="DIR", help="folder for the root file system, which must be missing or empty"
    )
    make.add_argument("packages", nargs="*", metavar="PACKAGE", help="packages to install besides the minimal base")
    make.add_argument(
        "--mirror", default=MIRROR, metavar="URL", help=f"mirror from which packages are downloaded (default: {MIRROR})"
    )
    make.set_defaults(execute=execute_make)
    show = operations.add_parser("show", help="show the release, the C library and the RJMSs of a root file system")
    show.add_argument("directory", type=Path, metavar="DIR", help="folder of the root file system")
    show.set_defaults(execute=execute_show)


def execute_make(options: argparse.Namespace) -> int:
    """Make a root file system with debootstrap, show debootstrap's messages as progress on a terminal, then print what
    the root has; return the exit code.
    """
    from rich.markup import escape

    from simunix.console import Console

    request = RootRequest(options.release, options.directory, tuple(options.packages), options.mirror)
    with Console(stderr=True).status("debootstrap") as status:
        make_root(request, lambda text: status.update(escape(text)))
    return show_root(options.directory)


def execute_show(options: argparse.Namespace) -> int:
    """Print which release, C library and Slurm a root file system has; return the exit code."""
    return show_root(options.directory)


def show_root(directory: Path) -> int:
    """Print one line each for the Debian release, the C library and the Slurm of a root file system; return the exit
    code.
    """
    from simunix.rjms.registry import RJMSS  # imported here, because the other operations on roots do not need it

    tree = open_root(directory)
    print(f"release  {tree.release()}")
    print(f"glibc    {tree.glibc() or 'none'}")
    for name, rjms in RJMSS.items():
        print(f"{name:8} {rjms.version(tree) or 'none'}")
    return 0
