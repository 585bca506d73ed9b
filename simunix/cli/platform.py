"""`simunix platform`: shows a platform file or a scenario as tables and as a picture (show), or converts it (convert)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.platform.platform import Platform

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """examples:
  simunix platform show machine.xml
  simunix platform show machine.xml --output machine.svg
  simunix platform show scenarios/nasa-ipsc.yaml --route node01 node02
  simunix platform convert machine.xml machine.yaml"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix platform` and its operations `show` and `convert`."""
    parser = subcommands.add_parser(
        "platform",
        help="show, draw or convert the hosts and the network of a SimGrid platform file or a scenario",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    operations = parser.add_subparsers(dest="operation", metavar="OPERATION", required=True)
    show = operations.add_parser("show", help="print the hosts, switches and links of a platform, with their capacities")
    show.add_argument("file", type=Path, metavar="FILE", help="SimGrid platform (.xml) or scenario (.yaml)")
    show.add_argument("--output", type=Path, metavar="PICTURE", help="draw the platform into this file: .svg, .png or .pdf")
    show.add_argument(
        "--route", nargs=2, metavar=("FROM", "TO"), help="print only the links on the route from one host to another"
    )
    show.add_argument(
        "--simgrid-compat", action="store_true", help="route like SimGrid 3.32 where SimGrid deviates from its manual"
    )
    show.set_defaults(execute=execute_show)
    convert = operations.add_parser("convert", help="convert a SimGrid platform to a scenario's hosts and network, or back")
    convert.add_argument(
        "file", type=Path, metavar="FILE", help="file to convert: a SimGrid platform (.xml) or a scenario (.yaml)"
    )
    convert.add_argument("output", type=Path, metavar="OUT", help="output file, .yaml or .xml, which must not exist")
    convert.set_defaults(execute=execute_convert)


def execute_show(options: argparse.Namespace) -> int:
    """Print the tables of a platform, or one route, and draw the picture if `--plot` asks for it; return the exit code."""
    from simunix.launch.emulation import say
    from simunix.platforms.drawing import draw_platform
    from simunix.platforms.source import read_platform
    from simunix.platforms.table import show_platform, show_route

    platform = read_platform(options.file, options.simgrid_compat)
    for text in platform.description.warnings:
        say(text)
    if options.route:
        source, destination = (_host(platform, name) for name in options.route)
        show_route(platform.route(source, destination))
    else:
        show_platform(platform)
    if options.output is not None:
        draw_platform(platform, options.output, options.file.name)
        print(f"drawn: {options.output}")
    return 0


def _host(platform: Platform, name: str) -> Host:
    try:
        return platform.host_by_name(name)
    except KeyError:
        from simunix.platforms.formatting import some

        raise SimunixError(f"--route: no host {name!r}; known: {some([host.name for host in platform.hosts], 8)}") from None


def execute_convert(options: argparse.Namespace) -> int:
    """Convert a platform file to the other format, and print the name of the output; return the exit code."""
    from simunix.launch.emulation import say
    from simunix.platforms.convert import convert

    convert(options.file, options.output, say)
    print(f"written: {options.output}")
    return 0
