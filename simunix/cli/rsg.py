"""`simunix rsg`: runs programs that use Remote SimGrid on a platform file of SimGrid's."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

MODELS = "flow model: LV08 (default), CM02, SMPI, raw, constant, ptask_L07"
EXAMPLES = """examples:
  simunix rsg run platform.xml -- python3 program.py
  simunix rsg serve platform.xml &
  simunix rsg status --retry-timeout 10000
  simunix rsg add-actor alice Tremblay -- ./alice
  simunix rsg add-actor bob Jupiter -- ./bob
  simunix rsg start
"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix rsg` and its operations."""
    parser = subcommands.add_parser(
        "rsg",
        help="run programs that use the API of Remote SimGrid on a SimGrid platform",
        description="Run programs that use the API of Remote SimGrid: actors, mailboxes and activities, in virtual time.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _add_run(verbs)
    _add_serve(verbs)
    _add_add_actor(verbs)
    _add_start(verbs)
    _add_status(verbs)
    _add_kill(verbs)
    _add_flags(verbs)


# One program


def _add_run(verbs: Subparsers) -> None:
    run = verbs.add_parser(
        "run",
        help="run one program, whose actors are threads or forks of it",
        description="Run a program on the first host of a platform; its actors are on all hosts. Calls take no virtual time.",
    )
    run.add_argument("platform", type=Path, metavar="PLATFORM", help="a SimGrid platform file")
    run.add_argument("command", nargs="+", metavar="COMMAND", help="the program and its arguments, after --")
    run.add_argument("--out", type=Path, metavar="DIR", help="keep the run directory here")
    run.add_argument("--model", default="LV08", metavar="NAME", help=MODELS)
    run.set_defaults(execute=execute_run)


def execute_run(options: argparse.Namespace) -> int:
    """Run a command on the platform; return the command's exit code."""
    from simunix.app.rsg import run_rsg

    return run_rsg(options.platform, tuple(options.command), options.out, options.model)


# A server, and the commands that speak to it


def _verb(verbs: Subparsers, name: str, text: str, description: str) -> argparse.ArgumentParser:
    """Declare an operation of `simunix rsg` that acts on the server of a port."""
    parser = verbs.add_parser(name, help=text, description=description)
    parser.add_argument("--port", metavar="NUMBER", help="port of the server (default: RSG_SERVER_PORT, or 35000)")
    if name != "serve":
        parser.add_argument(
            "--hostname", default="", metavar="NAME", help="host name of the server, which must be this computer: localhost"
        )
    return parser


def _port(options: argparse.Namespace) -> int:
    from simunix.app.rsg_ports import check_hostname, port_of

    check_hostname(getattr(options, "hostname", ""), "--hostname")
    return port_of(options.port, os.environ)


def _add_serve(verbs: Subparsers) -> None:
    serve = _verb(
        verbs,
        "serve",
        "wait for actors on a platform, and run them",
        "Emulate all hosts of a platform. Actors are added by `simunix rsg add-actor`, and begin with `simunix rsg start`; the "
        "server ends when they have ended.",
    )
    serve.add_argument("platform", type=Path, metavar="PLATFORM", help="a SimGrid platform file")
    serve.add_argument("--out", type=Path, metavar="DIR", help="keep the run directory here")
    serve.add_argument("--model", default="LV08", metavar="NAME", help=MODELS)
    serve.set_defaults(execute=execute_serve)


def execute_serve(options: argparse.Namespace) -> int:
    """Run a server until its actors have ended; return the exit code."""
    from simunix.app.rsg_serve import ServeOptions, serve

    return serve(ServeOptions(platform=options.platform, port=_port(options), out=options.out, model=options.model))


def _add_add_actor(verbs: Subparsers) -> None:
    add = _verb(
        verbs,
        "add-actor",
        "add an actor: a program on a host",
        "Add an actor and start the program that becomes it, with the directory, environment and streams of this command. It "
        "runs once the server is started.",
    )
    add.add_argument("name", metavar="NAME", help="name of the actor")
    add.add_argument("host", metavar="HOST", help="host of the platform on which the actor runs")
    add.add_argument("command", nargs="+", metavar="COMMAND", help="the program and its arguments, after --")
    add.add_argument(
        "--no-autoconnect",
        action="store_true",
        help="the program calls rsg::connect() itself; else librsg makes it the actor before main()",
    )
    add.add_argument("--no-fork", action="store_true", help="wait until the program ends, and exit with its exit code")
    add.add_argument("--think-time", metavar="HOW", help="refused: a program's own computing takes no virtual time")
    add.set_defaults(execute=execute_add_actor)


def execute_add_actor(options: argparse.Namespace) -> int:
    """Add an actor to a running server; return the exit code."""
    from simunix.app.rsg_commands import NewActor, add_actor

    if options.think_time is not None:
        raise SimunixError("--think-time: a program's own computing takes no virtual time in simunix; call execute() for that")
    actor = NewActor(
        name=options.name,
        host=options.host,
        argv=tuple(options.command),
        connects_by_itself=not options.no_autoconnect,
        waits=options.no_fork,
    )
    return add_actor(_port(options), actor)


def _add_start(verbs: Subparsers) -> None:
    description = "Let the programs that were added run. The actors begin, at date 0, once all of them have connected."
    _verb(verbs, "start", "let the actors begin", description).set_defaults(execute=execute_start)


def execute_start(options: argparse.Namespace) -> int:
    """Let the actors of a running server begin; return the exit code."""
    from simunix.app.rsg_commands import start

    return start(_port(options))


def _add_status(verbs: Subparsers) -> None:
    text = "show the state, the date and the actors of a server, as JSON"
    status = _verb(verbs, "status", text, f"{text[0].upper()}{text[1:]}.")
    status.add_argument(
        "--retry-timeout",
        type=int,
        default=0,
        metavar="MS",
        help="wait up to this number of milliseconds for the server to start",
    )
    status.set_defaults(execute=execute_status)


def execute_status(options: argparse.Namespace) -> int:
    """Print the state of a running server as JSON; return the exit code."""
    from simunix.app.rsg_commands import status

    print(json.dumps(status(_port(options), options.retry_timeout / 1000)))
    return 0


def _add_kill(verbs: Subparsers) -> None:
    kill = _verb(verbs, "kill", "end a server, with all that runs there", "End a server, with all that runs there.")
    kill.add_argument(
        "--reason", default="no reason given", metavar="TEXT", help="text that the server prints as the reason of its end"
    )
    kill.set_defaults(execute=execute_kill)


def execute_kill(options: argparse.Namespace) -> int:
    """End a running server; return the exit code."""
    from simunix.app.rsg_commands import kill

    return kill(_port(options), options.reason)


# Programs in C and C++


def _add_flags(verbs: Subparsers) -> None:
    flags = verbs.add_parser(
        "flags",
        help="show the options with which a compiler finds librsg",
        description="Show the options by which a compiler finds librsg and its headers, as pkg-config does; by default all.",
        epilog="examples:\n  c++ -std=c++17 program.cpp $(simunix rsg flags) -o program\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    flags.add_argument("--cflags", action="store_true", help="show only the options of the compiler")
    flags.add_argument("--libs", action="store_true", help="show only the options of the linker")
    flags.set_defaults(execute=execute_flags)


def execute_flags(options: argparse.Namespace) -> int:
    """Print the options with which a compiler finds librsg; return the exit code."""
    from simunix.app.rsg_flags import flags

    both = options.cflags == options.libs
    print(flags(options.cflags or both, options.libs or both))
    return 0
