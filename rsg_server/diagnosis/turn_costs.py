"""Measures the CPU time of each turn, and lists what crossed the network: the data from which critical paths are computed.

CPU time is measured for the process that has the turn and for the server. While turns are measured, the server gives
every turn: an actor may neither move the clock nor give the turn to another one. The order of turns is the same with
and without measuring (tests/system/turns/test_handoff.py). But a run whose turns are measured takes longer, and the
server takes a larger part of the time. The CPU times are those of the real computer and differ from run to run, so they
are written to files of their own.
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
    """The part of the server that gives turns (rsg_server.turn.core), as far as it is used here."""

    def forbid_handoffs(self) -> None:
        """Have every turn given by the server from the next turn on."""


class MeasuredKernel(Protocol):
    """The parts of the kernel (rsg_server.kernel) that are used to measure turns."""

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
    """Writes a row for each turn once the next turn begins, and a row for each piece of data that crosses the network.

    A turn's `cpu_ns` is the CPU time that its process has used since it was last measured, including the real kernel's
    work for it. `server_ns` is the CPU time that the server has used since the turn began, without this measurement. If
    a process ends and is waited for before the next turn, its last CPU time is not counted.
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
        self._used_ns: dict[int, int] = {}  # by the process's number
        self._turn: tuple[int, str, int, int] | None = None  # the first four columns of the turn that began last
        self._process: Process | None = None
        self._server_ns = 0
        kernel.core.forbid_handoffs()
        kernel.log.watch_turns(self._begins)
        kernel.wire.watchers.append(self)

    def _begins(self, now_ns: int, actor_number: int, wake: int) -> None:
        """Write the row of the turn that is over, and begin the row of the next one."""
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
        """Return the CPU time (ns) that a process has used since it was last measured."""
        before_ns = self._used_ns.get(process.number, 0)
        used_ns = native_signal.process_cpu_ns(process.global_pid) if process.global_pid else 0
        self._used_ns[process.number] = max(used_ns, before_ns)
        return max(used_ns - before_ns, 0)

    def moved(self, source: Host, destination: Host, begin_ns: int, end_ns: int, size_bytes: int) -> None:
        """Write a row for data that crosses the network between two hosts (see rsg_server.sockets.wire.Watcher)."""
        if source is destination:
            return
        latency_ns = self._kernel.network.route(source, destination).latency_ns
        self._messages.writerow((begin_ns, latency_ns, source.name, destination.name, size_bytes))

    def close(self) -> None:
        """Write the row of the last turn, and close the files."""
        self._account()
        try:
            self._turns_file.close()
            self._messages_file.close()
        except OSError as error:
            raise ServerError(f"{self._folder}: the costs of turns cannot be written: {error.strerror}") from error
