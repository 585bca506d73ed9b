"""`simunix net`: computes completion times of flows by the network model alone (solve), and draws links (plot)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from simunix.cli.net import plot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rsg_server.network.models import Model

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

MODEL_NAMES = ("LV08", "CM02", "SMPI", "constant", "raw", "ptask_L07")


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix net` and its operations."""
    parser = subcommands.add_parser("net", help="compute flows by the network model alone; draw the traffic of links")
    questions = parser.add_subparsers(dest="question", metavar="QUESTION", required=True)
    solver = questions.add_parser(
        "solve", help="compute when given flows end on a platform, by the network model alone, without any program"
    )
    solver.add_argument("platform", metavar="PLATFORM", type=Path, help="a SimGrid platform file (XML)")
    solver.add_argument(
        "flows", metavar="FLOWS.json", type=Path, help='{"flows": [{"id", "src", "dst", "bytes", "start", "rate", "weight"}]}'
    )
    solver.add_argument("--model", choices=MODEL_NAMES, help="flow model (default: that of the platform file, or LV08)")
    solver.add_argument(
        "--cfg",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a setting of SimGrid, which overrides the platform file, e.g. network/crosstraffic=0",
    )
    solver.add_argument(
        "--simgrid-compat", action="store_true", help="behave like SimGrid 3.32 where SimGrid deviates from its manual"
    )
    solver.set_defaults(execute=execute)
    plot.add_question(questions)


def settings(options: argparse.Namespace) -> dict[str, str]:
    """Return SimGrid's configuration from the command line; settings of --cfg override --model."""
    found = {} if options.model is None else {"network/model": options.model}
    for text in options.cfg:
        separator = "=" if "=" in text else ":"
        key, found_one, value = text.partition(separator)
        if not found_one or not key:
            raise SimunixError(f"--cfg {text}: expected KEY=VALUE, e.g. --cfg network/crosstraffic=0")
        found[key] = value
    return found


def chosen_model(config: Mapping[str, str], options: argparse.Namespace) -> Model:
    """Return the flow model: LV08, changed by the platform's own configuration, which the command line overrides.

    Raises SimunixError for a setting that the model does not have.
    """
    from rsg_server.network.models import about_flows, configured, lv08

    written = settings(options)
    own = {key: value for key, value in about_flows(config).items() if key not in written}
    try:
        configured(lv08(), own)
    except SimunixError as error:
        text = str(error).removeprefix("--cfg ")
        raise SimunixError(f"{options.platform}: config: {text}; or set it by --cfg, which overrides the file") from None
    return configured(lv08(), own | written)


def execute(options: argparse.Namespace) -> int:
    """Compute when the flows of a file finish, and print the result as JSON; return the exit code."""
    from rsg_server.platform.simgrid_xml import load_platform
    from simunix.flows.file import read_flows, written
    from simunix.flows.solve import check_hosts, solve
    from simunix.launch.emulation import say

    platform = load_platform(options.platform, simgrid_compat=options.simgrid_compat)
    for text in platform.description.warnings:
        say(text)
    rows = read_flows(options.flows)
    check_hosts(rows, {host.name: host for host in platform.hosts}, options.flows, options.platform)
    model = chosen_model(platform.description.config, options)
    print(written(solve(platform, rows, model, options.simgrid_compat)))
    return 0
