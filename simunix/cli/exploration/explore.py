"""`simunix explore`: finds failures of a scenario: runs it with other orders of threads, late packets and faults, all
of them possible in reality.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix explore` and its options."""
    parser = subcommands.add_parser(
        "explore",
        help="run a scenario with many seeds, each with another order of events and other faults, and keep failing runs",
    )
    parser.add_argument("scenario", type=Path, metavar="SCENARIO.yaml", help="a scenario file (see docs/guide/explore.md)")
    parser.add_argument(
        "-o",
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for the results; if it has an exploration already, only the missing seeds are run",
    )
    parser.add_argument("--seeds", type=int, default=1000, metavar="N", help="number of seeds to run (default: 1000)")
    parser.add_argument(
        "--first-seed", type=int, default=0, metavar="N", help="the first seed (default: 0, the run of simunix run)"
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="number of runs at one time (default: 1)")
    parser.add_argument("--for", dest="time", metavar="TIME", help="begin no more runs after this real time, e.g. 30min")
    parser.add_argument(
        "--strategy",
        default="portfolio",
        metavar="NAME",
        help="how seeds choose: portfolio (all in turn; default), random, pct:DEPTH or delay:BOUND",
    )
    parser.add_argument("--stop-at-first", action="store_true", help="begin no more runs after the first failure")
    parser.add_argument("--check-determinism", action="store_true", help="run each seed twice and compare the event logs")
    parser.add_argument(
        "--minimise",
        default="60s",
        metavar="TIME",
        help="real time for leaving out what each failure does not need (default: 60s; 0: leave out nothing)",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="replace the value of a key of the scenario"
    )
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Check the options and explore the scenario; return the exit code."""
    for name, least in (("seeds", 1), ("jobs", 1), ("first_seed", 0)):
        if (value := getattr(options, name)) < least:
            raise SimunixError(f"--{name.replace('_', '-')}: expected at least {least}, got {value}")
    from simunix.explore.explore import ExploreOptions, explore
    from simunix.explore.seeds import check_strategy
    from simunix.units import option_s

    check_strategy(options.strategy)
    return explore(
        ExploreOptions(
            path=options.scenario,
            out=options.out,
            overrides=tuple(options.set),
            first_seed=options.first_seed,
            seeds=options.seeds,
            jobs=options.jobs,
            seconds=None if options.time is None else option_s("--for", options.time),
            strategy=options.strategy,
            stops_at_first=options.stop_at_first,
            checks_determinism=options.check_determinism,
            minimise_s=option_s("--minimise", options.minimise),
        )
    )
