"""Traces of system calls: whose are written, and into which files. The shims write the lines; see csrc/shim/strace/lines.c."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rsg_server.errors import SimunixError
from rsg_server.protocol import FLAG_TRACE, FLAG_TRACE_STABLE

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process


@dataclass(frozen=True, slots=True)
class Selection:
    """Processes by host and command, both shell patterns; the command is the program's file name."""

    host: str = "*"
    command: str = "*"

    @classmethod
    def parse(cls, text: str, hosts: Iterable[str]) -> Selection:
        """`HOST`, `HOST:COMMAND`, `:COMMAND` or nothing for all; raises SimunixError for a host that does not exist."""
        host, _, command = text.partition(":")
        known = list(hosts)
        if host and not any(fnmatchcase(name, host) for name in known):
            raise SimunixError(f"--strace={text}: no host {host!r}; known: {', '.join(known)}")
        return cls(host or "*", command or "*")

    def matches(self, process: Process) -> bool:
        """Whether a process is one of them."""
        program = os.path.basename(process.program)
        return fnmatchcase(process.host.name, self.host) and fnmatchcase(program, self.command)


class Traces:
    """Opens the files of traced threads and writes how each of them ended."""

    def __init__(self, folder: Callable[[str], Path], selections: Iterable[Selection], stable: bool, own_pids: bool) -> None:
        """`folder` gives a host's; `stable` leaves out what may differ between runs; `own_pids`: hosts number their own."""
        self._folder = folder
        self._selections = tuple(selections)
        self._flags = FLAG_TRACE | (FLAG_TRACE_STABLE if stable else 0)
        self._by_number = stable and not own_pids
        self._files: dict[int, Path] = {}  # by actor number

    def flags(self, process: Process) -> int:
        """What a new program is told in the reply to its HELLO."""
        return self._flags if any(selection.matches(process) for selection in self._selections) else 0

    def open(self, actor: Actor) -> int:
        """A descriptor of the file for an actor's calls, COMMAND.TID, which the caller closes; -errno if there is none."""
        process = actor.process
        folder = self._folder(process.host.name) / "strace"
        name = os.path.basename(process.program) or "unknown"
        path = folder / f"{name}.{actor.number if self._by_number else actor.tid}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            return -(error.errno or errno.EIO)
        self._files[actor.number] = path
        return descriptor

    def write(self, actor: Actor, text: bytes) -> None:
        """Text of a thread that may not write itself: its process has limited the size of its files."""
        path = self._files.get(actor.number)
        if path is not None:
            with path.open("ab") as file:
                file.write(text)

    def forget(self, actor: Actor) -> None:
        """A new program has taken the place of what this thread ran: what it is not asked for any more has ended."""
        self._files.pop(actor.number, None)

    def ended(self, actor: Actor, moment_ns: int, how: str) -> None:
        """Write the last line of a thread: `+++ exited with 0 +++`."""
        path = self._files.pop(actor.number, None)
        if path is not None:
            _append(path, f"{moment_ns // 10**9}.{moment_ns % 10**9:09d} +++ {how} +++\n")

    def close(self) -> None:
        """The run is over: calls that threads still wait in end their files."""
        for path in self._files.values():
            _append(path, "")
        self._files.clear()


def _append(path: Path, text: str) -> None:
    """Add to a trace, which may have stopped within the line of a call that never came back."""
    with path.open("a+b") as file:
        if file.tell() and _last_byte(file) != b"\n":
            file.write(b" <unfinished ...>\n")
        file.write(text.encode())


def _last_byte(file: BinaryIO) -> bytes:
    file.seek(-1, os.SEEK_END)
    return file.read(1)


def exited(status: int) -> str:
    """How an end by exit is written."""
    return f"exited with {status}"


def ending(process: Process) -> str:
    """How a dying process ends: as it announced, else as the kernel tells until somebody waits for it."""
    if process.started and process.exit_status is not None and process.exit_status >= 0:
        return describe_status(process.exit_status)
    if process.exit_status is not None and not process.started:
        return exited(process.exit_status)
    try:
        with open(f"/proc/{process.global_pid}/stat", "rb") as file:
            return describe_status(int(file.read().split()[-1]))
    except (OSError, ValueError):
        return "exited, and nobody knows how"


def describe_status(status: int) -> str:
    """A wait(2) status in strace's words."""
    if os.WIFSIGNALED(status):
        return f"killed by {signal_name(os.WTERMSIG(status))}{' (core dumped)' if os.WCOREDUMP(status) else ''}"
    return exited(os.WEXITSTATUS(status))


def signal_name(number: int) -> str:
    """SIGTERM for 15; SIGRT_1 for 33, as strace counts them."""
    if number >= 32:
        return f"SIGRT_{number - 32}" if number > 32 else "SIGRTMIN"
    return signal.Signals(number).name
