"""`simunix run`: runs one command, a scenario, or one more program in a running emulation."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rsg_server.errors import SimunixError

if TYPE_CHECKING:
    from simunix.launch.debug.observation import ObservationOptions

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

EPILOG = """examples:
  simunix run -- bash -c 'date; sleep 86400; date'      one command on one emulated host
  simunix run scenarios/nasa-ipsc.yaml --out out/demo   a whole cluster
  simunix run --join out/demo --host login -- squeue    one more program in a running emulation"""


def add_parser(subcommands: Subparsers) -> None:
    """Declare the subcommand `simunix run` and its options."""
    parser = subcommands.add_parser(
        "run",
        help="run a command or a scenario in virtual time",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="simunix run [options] SCENARIO.yaml | simunix run [options] -- COMMAND...",
    )
    parser.add_argument("target", nargs="*", metavar="SCENARIO | COMMAND", help="a scenario file or, after --, a command")
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="run directory (default: out/NAME; for a command, no run directory is kept)"
    )
    parser.add_argument("--seed", type=int, help="seed of all random numbers (default: the scenario's, or 0)")
    _add_time(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="replace the value of a key of the scenario; KEY+=VALUE appends to a list",
    )
    parser.add_argument("--join", type=Path, metavar="DIR", help="run COMMAND in the emulation of this run directory")
    parser.add_argument("--host", help="emulated host of the command (with --join; default: the only one)")
    parser.add_argument(
        "--keep-alive", action="store_true", help="go on after the last process and job, so that --join can run commands"
    )
    parser.add_argument("--view", action="store_true", help="serve a live page of the run; its address is printed first")
    parser.add_argument("--log-turns", action="store_true", help="write into events.jsonl which thread ran in each turn")
    parser.add_argument("--strict", action="store_true", help="end the run at the first system call that is refused or unknown")
    parser.add_argument(
        "--replay-cpu",
        type=Path,
        metavar="DIR",
        help="let computing take as long as in the run in this folder, which had cpu_policy: charged",
    )
    _add_observation(parser)
    parser.set_defaults(execute=execute)


def _add_time(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say when virtual time begins, pauses and ends, and how fast it goes."""
    parser.add_argument("--until", metavar="TIME", help="end the run at this virtual time, e.g. 90, '2h', '1 day'")
    parser.add_argument(
        "--pause-at", metavar="TIME", help="pause the run at this virtual time, until simunix ctl DIR resume (or step, until)"
    )
    parser.add_argument(
        "--epoch",
        metavar="DATE",
        help="begin at this date, e.g. 2000-01-01, or now (default: the scenario's, or today at 0:00 UTC)",
    )
    parser.add_argument("--pace", type=float, metavar="N", help="run at most N virtual seconds per second of real time")


def _add_observation(parser: argparse.ArgumentParser) -> None:
    """Declare the options that observe a run: system calls, a debugger, packets, links."""
    parser.add_argument(
        "--strace",
        action="append",
        nargs="?",
        const="",
        default=[],
        metavar="HOST[:COMMAND]",
        help="write the system calls of these processes (--strace=...; default: all) to DIR/hosts/HOST/strace, as strace does",
    )
    parser.add_argument(
        "--strace-stable", action="store_true", help="write no memory addresses into traces, so that two runs can be compared"
    )
    parser.add_argument("--gdb", metavar="[HOST:]PROCESS", help="stop this program at its start until gdb has attached to it")
    parser.add_argument(
        "--pcap", nargs="?", const="", metavar="HOSTS", help="write the packets of these hosts (default: all) to eth0.pcap"
    )
    parser.add_argument(
        "--link-usage", nargs="?", const="1s", metavar="INTERVAL", help="write the bytes of each link per interval to links.csv"
    )
    parser.add_argument(
        "--log-messages",
        action="store_true",
        help="write messages between programs to host_messages.csv, with their names in the RJMS",
    )
    parser.add_argument(
        "--turn-costs",
        action="store_true",
        help="write the CPU time of each turn to turns.csv, and each message between hosts to messages.csv (a slower run)",
    )
    parser.add_argument(
        "--count-calls",
        action="store_true",
        help="write trapped instructions to traps.csv, messages to the server to server_messages.csv",
    )


def execute(options: argparse.Namespace) -> int:
    """Run one command, a scenario, or one more program in a running emulation, as the options say; return the exit
    code.
    """
    if not options.target:
        raise SimunixError("run: give a scenario file, or a command after --; see simunix run --help")
    if options.pace is not None and not 0 < options.pace < float("inf"):
        raise SimunixError(f"--pace: expected a number above 0, got {options.pace:g}")
    if options.seed is not None and not 0 <= options.seed < 1 << 63:
        raise SimunixError(f"--seed: expected a number from 0 to {(1 << 63) - 1}, got {options.seed}")
    if options.epoch is not None:
        options.set.append(f"epoch={_date(options.epoch)}")
    if options.join is not None:
        from simunix.app.join import join

        return join(options.join, options.host, options.target)
    if len(options.target) == 1 and Path(options.target[0]).suffix in (".yaml", ".yml"):
        return _execute_scenario(options)
    return _execute_command(options)


def _execute_scenario(options: argparse.Namespace) -> int:
    from simunix.app.runner import ScenarioOptions, run_scenario

    path = Path(options.target[0])
    return run_scenario(ScenarioOptions(path=path, keep_alive=options.keep_alive, view=options.view, **_of_any_run(options)))


def _execute_command(options: argparse.Namespace) -> int:
    from simunix.app.single import SingleOptions, run_single

    if options.pcap is not None or options.link_usage is not None or options.turn_costs or options.log_messages:
        raise SimunixError(
            "--pcap, --link-usage, --log-messages, --turn-costs: a single command has no network but its loopback; "
            "run a scenario"
        )
    if options.view:
        raise SimunixError("--view: a single command has no machine to show; run a scenario")
    if options.pause_at is not None and options.out is None:
        raise SimunixError("--pause-at: needs --out DIR, the folder by which simunix ctl finds the run")
    if options.strace and options.out is None:
        raise SimunixError("--strace: needs --out DIR, the folder that will contain the traces")
    if options.count_calls and options.out is None:
        raise SimunixError("--count-calls: needs --out DIR, the folder that will contain traps.csv and server_messages.csv")
    return run_single(SingleOptions(argv=tuple(options.target), **_of_any_run(options)))


def _of_any_run(options: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of RunOptions (simunix/app/run_options.py) from the parsed options."""
    from simunix.launch.debug.strace import StraceOptions

    return {
        "out": options.out,
        "seed": options.seed,
        "until_ns": duration("--until", options.until),
        "overrides": tuple(options.set),
        "pace": options.pace,
        "pause_at_ns": duration("--pause-at", options.pause_at),
        "log_every_turn": options.log_turns,
        "strict": options.strict,
        "strace": StraceOptions(tuple(options.strace), options.strace_stable),
        "debug": options.gdb,
        "observation": _observation(options),
        "replay_cpu": options.replay_cpu,
    }


def _observation(options: argparse.Namespace) -> ObservationOptions:
    from simunix.launch.debug.observation import ObservationOptions
    from simunix.ranges import expand_hosts

    interval_ns = duration("--link-usage", options.link_usage)
    if interval_ns == 0:
        raise SimunixError("--link-usage: expected an interval above 0, such as '1s'")
    try:
        hosts = None if options.pcap is None else tuple(expand_hosts(options.pcap)) if options.pcap else ()
    except ValueError as error:
        raise SimunixError(f"--pcap: {error}") from error
    return ObservationOptions(hosts, interval_ns, options.turn_costs, options.count_calls, options.log_messages)


def duration(option: str, text: str | None) -> int | None:
    """Return the nanoseconds that the value of an option means; None if the option is not given. Raises SimunixError
    for a malformed value.
    """
    from simunix.units import duration_ns

    if text is None:
        return None
    try:
        return duration_ns(text)
    except ValueError as error:
        raise SimunixError(f"{option}: {error}") from error


def _date(text: str) -> str:
    from simunix.dates import moment, next_second

    if text == "now":
        return next_second().isoformat()
    try:
        return moment(text).isoformat()
    except ValueError as error:
        raise SimunixError(f"--epoch: {error}") from error
