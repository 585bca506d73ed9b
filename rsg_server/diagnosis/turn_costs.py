"""The CPU time of each turn, of its process and of the server, and what crossed the network: the data for critical paths.

While turns are measured, every turn comes from the server: an actor may not move the clock alone, and hands no turn on. The
order of turns is the same either way (tests/system/turns/test_handoff.py), but such a run takes longer, and more of it is the
server's. The CPU times are the real computer's and differ from run to run, so they stand in files of their own.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from rsg_server.errors import ServerError
from rsg_server.process import native_signal

if TYPE_CHECKING:
    from rsg_server.event_log import EventLog
    from rsg_server.network.network import Network
    from rsg_server.platform.host import Host
    from rsg_server.process.actor import Actor
    from rsg_server.process.process import Process
    from rsg_server.sockets.wire import Wire

TURNS_FILE, MESSAGES_FILE = "turns.csv", "messages.csv"
TURN_COLUMNS = ("time_ns", "host", "actor", "wake", "cpu_ns", "server_ns")
MESSAGE_COLUMNS = ("sent_ns", "latency_ns", "source", "destination", "bytes")


class Turns(Protocol):
    """What gives turns (rsg_server.turn.core)."""

    def forbid_handoffs(self) -> None:
        """From the next turn on, have every turn come from the server."""


class MeasuredKernel(Protocol):
    """The kernel, as far as turns are measured."""

    @property
    def core(self) -> Turns: ...
    @property
    def now_ns(self) -> int: ...
    @property
    def log(self) -> EventLog: ...
    @property
    def network(self) -> Network: ...
    @property
    def wire(self) -> Wire: ...
    @property
    def actors(self) -> Mapping[int, Actor]: ...


class TurnCosts:
    """Writes a row for each turn once the next one begins, and a row for each piece that crosses the network.

    A turn's `cpu_ns` is what its process has used since it was last looked at, the kernel's work for it included; `server_ns`
    is what the server has used since the turn began, this measurement not counted. A process that the kernel has forgotten
    before the next turn leaves its last moments uncounted.
    """

    def __init__(self, kernel: MeasuredKernel, folder: Path) -> None:
        self._kernel = kernel
        self._folder = folder
        try:
            self._turns_file = (folder / TURNS_FILE).open("w", newline="")
            self._messages_file = (folder / MESSAGES_FILE).open("w", newline="")
        except OSError as error:
            raise ServerError(f"{folder}: the costs of turns cannot be written: {error.strerror}") from error
        self._turns = csv.writer(self._turns_file, lineterminator="\n")
        self._messages = csv.writer(self._messages_file, lineterminator="\n")
        self._turns.writerow(TURN_COLUMNS)
        self._messages.writerow(MESSAGE_COLUMNS)
        self._used_ns: dict[int, int] = {}  # by number of the process
        self._turn: tuple[int, str, int, int] | None = None  # the turn that has begun last: the first four columns
        self._process: Process | None = None
        self._server_ns = 0
        kernel.core.forbid_handoffs()
        kernel.log.watch_turns(self._begins)
        kernel.wire.watchers.append(self)

    def _begins(self, now_ns: int, actor_number: int, wake: int) -> None:
        """Account for the turn that is over, and begin the next one."""
        self._account()
        actor = self._kernel.actors[actor_number]
        self._turn, self._process = (now_ns, actor.process.host.name, actor_number, wake), actor.process
        self._server_ns = time.thread_time_ns()

    def _account(self) -> None:
        server_ns = time.thread_time_ns() - self._server_ns
        if self._turn is not None and self._process is not None:
            self._turns.writerow((*self._turn, self._spent_ns(self._process), server_ns))
        self._turn = None

    def _spent_ns(self, process: Process) -> int:
        """CPU time that a process has used since it was last looked at."""
        before_ns = self._used_ns.get(process.number, 0)
        used_ns = native_signal.process_cpu_ns(process.global_pid) if process.global_pid else 0
        self._used_ns[process.number] = max(used_ns, before_ns)
        return max(used_ns - before_ns, 0)

    def moved(self, source: Host, destination: Host, begin_ns: int, end_ns: int, size_bytes: int) -> None:
        """Note what crosses the network between two hosts (see rsg_server.sockets.wire.Watcher)."""
        if source is destination:
            return
        latency_ns = self._kernel.network.route(source, destination).latency_ns
        self._messages.writerow((begin_ns, latency_ns, source.name, destination.name, size_bytes))

    def close(self) -> None:
        """Account for the last turn and close the files."""
        self._account()
        try:
            self._turns_file.close()
            self._messages_file.close()
        except OSError as error:
            raise ServerError(f"{self._folder}: the costs of turns cannot be written: {error.strerror}") from error
