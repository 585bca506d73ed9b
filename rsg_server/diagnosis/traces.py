"""Decides which processes have their system calls traced, and into which files. csrc/shim/strace/lines.c writes the lines."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rsg_server.errors import SimunixError
from rsg_server.process.external_signals import NAMES
from rsg_server.protocol import FLAG_TRACE, FLAG_TRACE_STABLE

if TYPE_CHECKING:
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process


@dataclass(frozen=True, slots=True)
class Selection:
    """Selects processes to trace, by shell patterns for the host's name and the program's file name."""

    host: str = "*"
    command: str = "*"

    @classmethod
    def parse(cls, text: str, hosts: Iterable[str]) -> Selection:
        """Return the selection for `HOST`, `HOST:COMMAND` or `:COMMAND`; "" selects all.

        Raises SimunixError if no host matches.
        """
        host, _, command = text.partition(":")
        known = list(hosts)
        if host and not any(fnmatchcase(name, host) for name in known):
            raise SimunixError(f"--strace={text}: no host {host!r}; known: {', '.join(known)}")
        return cls(host or "*", command or "*")

    def matches(self, process: Process) -> bool:
        """Return whether a process is selected to be traced."""
        program = os.path.basename(process.program)
        return fnmatchcase(process.host.name, self.host) and fnmatchcase(program, self.command)


class Traces:
    """Opens the trace files of selected threads, and writes into each how its thread ended."""

    def __init__(self, folder: Callable[[str], Path], selections: Iterable[Selection], stable: bool, own_pids: bool) -> None:
        """Trace the selected processes.

        `folder` gives the folder of a host; `stable` leaves out what may differ between two runs; `own_pids` tells that each
        host has a PID namespace, in which thread numbers are repeatable.
        """
        self._folder = folder
        self._selections = tuple(selections)
        self._flags = FLAG_TRACE | (FLAG_TRACE_STABLE if stable else 0)
        self._by_number = stable and not own_pids
        self._files: dict[int, Path] = {}  # the trace file of each actor, by the actor's number

    def flags(self, process: Process) -> int:
        """Return the flags about tracing that HELLO's reply carries to a new program: 0 if it is not traced."""
        return self._flags if any(selection.matches(process) for selection in self._selections) else 0

    def open(self, actor: Actor) -> int:
        """Open COMMAND.TID, the trace file of a thread, and return its descriptor, which the caller closes; -errno on
        failure.
        """
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
        """Write text into a thread's trace for a thread that cannot, since its process has a limit for the size of
        files (setrlimit(2)).
        """
        path = self._files.get(actor.number)
        if path is not None:
            with path.open("ab") as file:
                file.write(text)

    def forget(self, actor: Actor) -> None:
        """Forget the trace file of a thread that has called exec: if the new program is traced, it opens a file of its own."""
        self._files.pop(actor.number, None)

    def ended(self, actor: Actor, moment_ns: int, how: str) -> None:
        """Write the last line of a thread's trace, e.g. `+++ exited with 0 +++`."""
        path = self._files.pop(actor.number, None)
        if path is not None:
            _append(path, f"{moment_ns // 10**9}.{moment_ns % 10**9:09d} +++ {how} +++\n")

    def process_ended(self, process: Process, moment_ns: int) -> None:
        """Write the last line into the trace of each thread of a dying process."""
        how = ending(process)
        for actor in process.actors:
            self.ended(actor, moment_ns, how)

    def close(self) -> None:
        """Close all trace files at the end of the run. System calls that have not returned are marked as unfinished."""
        for path in self._files.values():
            _append(path, "")
        self._files.clear()


def _append(path: Path, text: str) -> None:
    """Append text to a trace file.

    If its last line is a call that has not returned, that line is marked as unfinished first.
    """
    with path.open("a+b") as file:
        if file.tell() and _last_byte(file) != b"\n":
            file.write(b" <unfinished ...>\n")
        file.write(text.encode())


def _last_byte(file: BinaryIO) -> bytes:
    file.seek(-1, os.SEEK_END)
    return file.read(1)


def exited(status: int) -> str:
    """Return strace's words for an end by exit, e.g. `+++ exited with 0 +++`."""
    return f"exited with {status}"


def ending(process: Process) -> str:
    """Return strace's words for the end of a dying process: as it was announced, else as /proc shows the zombie
    (proc_pid_stat(5)).
    """
    if process.started and process.exit_status is not None and process.exit_status >= 0:
        return describe_status(process.exit_status)
    if process.exit_status is not None and not process.started:
        return exited(process.exit_status)
    try:
        with open(f"/proc/{process.global_pid}/stat", "rb") as file:
            return describe_status(int(file.read().split()[-1]))
    except (OSError, ValueError):
        return "exited with an unknown status"


def describe_status(status: int) -> str:
    """Return strace's words for a status that wait(2) returns."""
    if os.WIFSIGNALED(status):
        return f"killed by {signal_name(os.WTERMSIG(status))}{' (core dumped)' if os.WCOREDUMP(status) else ''}"
    return exited(os.WEXITSTATUS(status))


def signal_name(number: int) -> str:
    """Return the name of a signal as strace writes it: SIGTERM for 15, SIGRT_1 for 33; the number if there is no such
    signal.
    """
    if number >= 32:
        return f"SIGRT_{number - 32}" if number > 32 else "SIGRTMIN"
    return NAMES.get(number, str(number))
