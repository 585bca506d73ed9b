"""`simunix`: picks the subcommand; every user error is one line and a non-zero exit."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import io
import os
import resource
import signal
import stat
import sys
import threading
from collections.abc import Iterable, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

from rsg_server.errors import SimunixError, described, shortened
from simunix import __version__

FAILED = 1
EXIT_INTERRUPTED = 130
EXIT_UNREAD = 128 + signal.SIGPIPE


OPTIONAL = {"--strace": "--strace=", "--pcap": "--pcap=", "--link-usage": "--link-usage=1s"}
"""Options whose value may be left out, and what they mean then."""


COMMANDS = (
    "run",
    "explore",
    "replay",
    "sweep",
    "compare",
    "check",
    "shell",
    "ctl",
    "ps",
    "root",
    "slurm",
    "workload",
    "report",
    "trace",
    "platform",
    "rsg",
    "net",
    "bench",
    "calibrate",
    "coverage",
    "schema",
)
"""The subcommands, in the order of the help text."""
ENDLESS = {(1, 5), (1, 8), (1, 9)}
"""Numbers of /dev/zero, /dev/random and /dev/urandom (Documentation/admin-guide/devices.txt of Linux)."""
SYMLINK_LOOP = "Symlink loop from "
MODULES = {"ctl": "control", "explore": "exploration.explore", "replay": "exploration.replay"}
"""Modules in simunix.cli that are not named as their subcommand."""


class Parser(argparse.ArgumentParser):
    """A parser, and those of its subcommands, whose messages do not repeat a long argument as a whole."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message; exit with status 2."""
        super().error(shortened(message))


def build_parser(commands: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of these subcommands and their options.

    A command in an emulation of its own is to start at once: main() declares the one subcommand that is asked for, and a
    subcommand's module imports what it does its work with when it is executed.
    """
    parser = Parser(prog="simunix", description="Run unmodified programs and whole clusters in virtual time on one computer.")
    parser.add_argument("--version", action="version", version=f"simunix {__version__}")
    subcommands = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)
    for command in commands:
        import_module(f"simunix.cli.{MODULES.get(command, command)}").add_parser(subcommands)
    return parser


def asked_for(arguments: Sequence[str]) -> Sequence[str]:
    """The one subcommand that the first word names; all of them if it names none, for the help text or the error message."""
    return arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS


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
        words = spelled_out(sys.argv[1:] if arguments is None else arguments)
        parsed = build_parser(asked_for(words)).parse_args(words)
        _check_paths(parsed)
        return int(parsed.execute(parsed))
    except SimunixError as error:
        return _failed(str(error), error.exit_code)
    except KeyboardInterrupt as interrupt:
        return int(getattr(interrupt, "exit_code", EXIT_INTERRUPTED))
    except BrokenPipeError:
        return _unread()
    except ImportError as error:
        return _failed(_not_loaded(error), FAILED)
    except RuntimeError as error:  # what pathlib says of links that lead round in a circle, before Python 3.13
        if not str(error).startswith(SYMLINK_LOOP):
            raise
        return _failed(f"{str(error).removeprefix(SYMLINK_LOOP)}: symbolic links lead round in a circle; name another file", 2)
    except SystemError:  # what Python says, besides MemoryError, where it cannot have memory
        if not _memory_is_limited():
            raise
        return _failed(described(MemoryError()), FAILED)
    except (OSError, MemoryError) as error:  # of this computer, not of simunix: a full disk, a folder that may not be written
        return _failed(_folder_is_gone() or described(error), FAILED)


def _check_paths(parsed: argparse.Namespace) -> None:
    """Raise SimunixError for a path of the command line that is a device whose bytes never end, as its reader would not."""
    for value in vars(parsed).values():
        for path in value if isinstance(value, list) else [value]:
            if isinstance(path, Path) and _is_endless(path):
                raise SimunixError(f"{path}: a device whose bytes never end; give a file")


def _is_endless(path: Path) -> bool:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return False
    return stat.S_ISCHR(found.st_mode) and (os.major(found.st_rdev), os.minor(found.st_rdev)) in ENDLESS


def _failed(text: str, code: int) -> int:
    """Say what is wrong, if there is anybody left to tell, and nothing more of standard output; return the exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        _silence()
    with contextlib.suppress(OSError):
        print(f"simunix: {shortened(text)}", file=sys.stderr, flush=True)
    return code


def _memory_is_limited() -> bool:
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _not_loaded(error: ImportError) -> str:
    """What to do about a module that cannot be loaded: a library is mapped into memory, which `ulimit -v` may forbid."""
    mend = "raise the limit of memory (ulimit -v)" if _memory_is_limited() else "install simunix again"
    return f"cannot load {error.name or 'a module'}: {' '.join(str(error).split())}; {mend}"


def _folder_is_gone() -> str:
    """Words for a working folder that has been removed, which makes all relative names fail; "" if it is there."""
    try:
        os.getcwd()
    except OSError:
        return "the working folder has been removed: go to another one (cd)"
    return ""


def _unread() -> int:
    """Write no more to a pipe whose reader has gone, as in `| head -1`; return the exit code of what its signal ends."""
    _silence()
    return EXIT_UNREAD


def _silence() -> None:
    """Lead standard output nowhere, since what is still to be written to it would fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console() -> NoReturn:
    """What the console script calls: main(), and the end of the process."""
    _open_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that the terminal's encoding has not ends no run
    try:
        code = main()
    except SystemExit as end:  # of the parser: help, or what it has refused
        code = end.code if isinstance(end.code, int) else FAILED
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # all is done: an interrupt ends the process, without a traceback
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        unread = _unread()
        code = code or unread
    except OSError as error:
        _silence()
        code = _failed(f"standard output: {described(error)}", code or FAILED)
    leave(code)


def _open_closed() -> None:
    """Open standard streams that the caller has closed: the first files opened would take their places."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free, which is this one
            setattr(sys, name, os.fdopen(fd, "r" if fd == 0 else "w", closefd=False))


def leave(code: int) -> NoReturn:
    """End this process without freeing every module and object first, which takes longer than a small command's run.

    What Python's own end does for others is done: functions registered for the exit are called, streams are flushed.
    """
    waits = any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    if not waits and sys.getprofile() is None and sys.gettrace() is None:
        with contextlib.suppress(OSError):  # a stream that cannot be flushed: Python says so at its own end
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    console()
