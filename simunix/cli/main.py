"""`simunix`: choose and execute the subcommand. Every user error is reported as one line, with a non-zero exit code."""

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
"""Options whose value may be omitted, and the option with the value that is meant then."""


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
    "view",
    "top",
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
"""The subcommands of simunix, in the order in which the help text lists them."""
ENDLESS = {(1, 5), (1, 8), (1, 9)}
"""Major and minor numbers of /dev/zero, /dev/random and /dev/urandom (Documentation/admin-guide/devices.txt of Linux),
which never end.
"""
SYMLINK_LOOP = "Symlink loop from "
MODULES = {
    "ctl": "control",
    "view": "live.view",
    "top": "live.top",
    "explore": "exploration.explore",
    "replay": "exploration.replay",
}
"""The Python modules in simunix.cli whose names differ from those of their subcommands."""


class Parser(argparse.ArgumentParser):
    """A parser of the command line or of a subcommand. Its error messages shorten long arguments."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message on stderr; exit with status 2."""
        super().error(shortened(message))


def build_parser(commands: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """Make the parser of the given subcommands and their options.

    A `simunix` command that runs inside of an emulation must start quickly. So main() declares only the subcommand that
    the caller asks for, and a subcommand's module imports what it needs only when the subcommand is executed.
    """
    parser = Parser(prog="simunix", description="Run unmodified programs and whole clusters in virtual time on one computer.")
    parser.add_argument("--version", action="version", version=f"simunix {__version__}")
    subcommands = parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)
    for command in commands:
        import_module(f"simunix.cli.{MODULES.get(command, command)}").add_parser(subcommands)
    return parser


def asked_for(arguments: Sequence[str]) -> Sequence[str]:
    """Return a list of the subcommand that the first word names. If the first word is no subcommand, return all
    subcommands, for the help text or the error message.
    """
    return arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS


def spelled_out(arguments: Sequence[str]) -> list[str]:
    """Replace an option without a value, such as `--strace`, by the form `--strace=`; else argparse would take the next
    word as the value.

    Raises SimunixError if the next word looks like a value of the option.
    """
    end = arguments.index("--") if "--" in arguments else len(arguments)
    for option, value in pairwise(arguments[:end]):
        if option in OPTIONAL and not value.startswith("-") and not value.endswith((".yaml", ".yml")):
            raise SimunixError(f"{option} {value}: write {option}={value} if this is its value; a command goes behind --")
    options = [OPTIONAL.get(word, word) for word in arguments[:end]]
    return [*options, *arguments[end:]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (by default the arguments of this process); return the exit code."""
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
    except RuntimeError as error:  # what pathlib raises for circular links, before Python 3.13
        if not str(error).startswith(SYMLINK_LOOP):
            raise
        return _failed(f"{str(error).removeprefix(SYMLINK_LOOP)}: symbolic links lead round in a circle; name another file", 2)
    except SystemError:  # besides MemoryError, Python raises SystemError if it gets no memory
        if not _memory_is_limited():
            raise
        return _failed(described(MemoryError()), FAILED)
    # an error of this computer, not of simunix: a full disk, a folder without write permission
    except (OSError, MemoryError) as error:
        return _failed(_folder_is_gone() or described(error), FAILED)


def _check_paths(parsed: argparse.Namespace) -> None:
    """Raise SimunixError for a path on the command line that is an endless device such as /dev/zero, since reading it
    would never end.
    """
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
    """Print an error message if stderr can still be written, and close standard output; return the exit code."""
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
    """Return an error message with advice for a module that cannot be loaded, for example because `ulimit -v` forbids
    to map its library.
    """
    mend = "raise the limit of memory (ulimit -v)" if _memory_is_limited() else "install simunix again"
    return f"cannot load {error.name or 'a module'}: {' '.join(str(error).split())}; {mend}"


def _folder_is_gone() -> str:
    """Return an error message if the working folder was removed, so that all relative paths fail; "" if the working
    folder exists.
    """
    try:
        os.getcwd()
    except OSError:
        return "the working folder has been removed: go to another one (cd)"
    return ""


def _unread() -> int:
    """Return the exit code of a process that SIGPIPE has ended, because the reader of standard output has gone, as in
    `| head -1`; write no more.
    """
    _silence()
    return EXIT_UNREAD


def _silence() -> None:
    """Redirect standard output to /dev/null, since flushing the buffered output at the exit would fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def console() -> NoReturn:
    """Run main() and end the process with its exit code. This is the entry point of the console script."""
    _open_closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a name that the terminal's encoding lacks must not end a run
    try:
        code = main()
    except SystemExit as end:  # argparse exits after the help text or an error
        code = end.code if isinstance(end.code, int) else FAILED
    # from here on an interrupt ends the process without a traceback, since all is done
    signal.signal(signal.SIGINT, signal.SIG_DFL)
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
    """Open /dev/null in the place of each standard stream that the caller has closed. Else the first files that simunix
    opens would become its standard streams.
    """
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # open(2) returns the lowest free number, which is the closed stream's
            setattr(sys, name, os.fdopen(fd, "r" if fd == 0 else "w", closefd=False))


def leave(code: int) -> NoReturn:
    """End this process with an exit code, without freeing all modules and objects first, which would take longer than
    the run of a small command.

    Functions registered by atexit are called and streams are flushed, as at a normal end of Python.
    """
    waits = any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread())
    if not waits and sys.getprofile() is None and sys.gettrace() is None:
        with contextlib.suppress(OSError):  # if a stream cannot be flushed, Python's normal end prints the error
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    console()
