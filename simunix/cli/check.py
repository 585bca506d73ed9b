"""`simunix check`: tells before a run which programs cannot be intercepted, and which calls will be passed on or refused."""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    from simunix.coverage.check import Report

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

ESCAPES = 1
EPILOG = """exit status: 0 if all programs are intercepted, 1 if one escapes or cannot start, 2 if the question was wrong.
examples:
  simunix check -- bash -c 'sleep 10; date'
  simunix check scenarios/nasa-ipsc.yaml"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix check` and its options."""
    parser = subcommands.add_parser(
        "check",
        help="show which programs simunix cannot intercept, and which of their system calls it passes on or refuses",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="simunix check [options] SCENARIO.yaml | simunix check [options] -- COMMAND...",
    )
    parser.add_argument("target", nargs="*", metavar="SCENARIO | COMMAND", help="a scenario file or, after --, a command")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="replace the value of a key of the scenario"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="also name the libraries, and the system calls that are passed on to the kernel"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON list with a report for each program")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Check the programs of the scenario or command, and print the reports. Return the exit code: ESCAPES if a program
    cannot be intercepted.
    """
    from simunix.coverage.check import Context, check_command

    if not options.target:
        raise SimunixError("check: give a scenario file, or a command after --; see simunix check --help")
    first = Path(options.target[0])
    if len(options.target) == 1 and first.suffix in (".yaml", ".yml"):
        reports = _scenario_reports(first, tuple(options.set))
    else:
        path = os.environ.get("PATH", os.defpath)
        context = Context(path, os.getcwd(), library_path=os.environ.get("LD_LIBRARY_PATH", ""))
        reports = check_command(options.target, context)
    if options.json:
        print(json.dumps([{**asdict(report), "path": str(report.path or "")} for report in reports], indent=1))
    else:
        print("\n".join(line for report in reports for line in lines(report, options.verbose)))
    return ESCAPES if any(report.escapes for report in reports) else 0


def _scenario_reports(path: Path, overrides: tuple[str, ...]) -> list[Report]:
    """Report on each program of a scenario, after the warnings that a run would print before its start."""
    from simunix.app.late import late_lines
    from simunix.launch.emulation import say
    from simunix.planning.expand import expand
    from simunix.planning.programs import check_programs
    from simunix.rjms.scenario import load

    scenario = load(path, overrides)
    expansion = expand(scenario, path.parent, checked=False)
    for warning in (*expansion.plan.warnings, *late_lines(scenario, expansion, expansion.plan.until_ns)):
        say(warning)
    return check_programs(expansion)


def lines(report: Report, verbose: bool) -> list[str]:
    """Return the lines of a report for the terminal; the first line says whether the program is intercepted."""
    if report.escapes:
        return [f"{report.name}: NOT intercepted", *(f"  {escape}" for escape in report.escapes)]
    found = [f"{report.name}: intercepted" + (f" ({report.path})" if str(report.path) != report.name else "")]
    known = f" and {count(report.plugins, 'plugin', 'plugins')}" if report.plugins else ""
    names = ": " + ", ".join(report.libraries) if verbose else ""
    found.append(f"  loads {count(len(report.libraries), 'library', 'libraries')}{known}{names}")
    found += [f"  refused: {name} ({why})" for name, why in report.refused.items()]
    found += [f"  note: {note}" for note in report.notes]
    if verbose:
        found += [f"  passed on: {name}: {why}" for name, why in report.passed.items()]
    elif report.passed:
        found.append(f"  passed on to the kernel: {count(len(report.passed), 'call', 'calls')} (--verbose names them)")
    return found


def count(number: int, one: str, many: str) -> str:
    """Return a number with its noun: `1 call`, `2 calls`."""
    return f"{number} {one if number == 1 else many}"
