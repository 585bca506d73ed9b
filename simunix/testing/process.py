"""Objects for a test's hosts and processes: a host starts programs; a process has outputs and receives signals."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from rsg_server.faults.changes import HostChange, LinkChange, PowerStateChange
from simunix.testing.description import WORK_FOLDER
from simunix.testing.function_source import Function
from simunix.testing.program import Program

if TYPE_CHECKING:
    from simunix.launch.supervisor import Supervised
    from simunix.testing.cluster import Cluster

# pytest shows the line of the test, and not lines of this module
__tracebackhide__ = methodcaller("errisinstance", SimunixError)

NS = 10**9
Runnable = Program | str | Path | Sequence[str | Path | int | float] | Function
"""A program: the result of `Cluster.c` or `Cluster.python`, a .c or .py file, a function, a text for the shell, or a
list of arguments.
"""
Time = float | str
"""A duration or a moment of virtual time: seconds, or a text such as "90s", "2h30m", "50us"."""


@dataclass(frozen=True, slots=True)
class EmulatedHost:
    """A host of the cluster."""

    name: str
    address: str
    _cluster: Cluster

    def start(
        self,
        program: Runnable,
        *arguments: object,
        at: Time = 0,
        name: str = "",
        daemon: bool = False,
        user: str | None = None,
        environment: Mapping[str, str] | None = None,
        directory: str = WORK_FOLDER,
    ) -> EmulatedProcess:
        """Start a program with these arguments in the host's work folder, at the virtual moment `at` of each run;
        return the process.

        The run ends when all programs except daemons have ended; daemons are then killed.
        """
        variables = dict(environment or {})
        return self._cluster.add_process(
            self.name, program, arguments, daemon, name, start=at, user=user, environment=variables, directory=directory
        )

    def write(self, file: str, content: str | bytes) -> str:
        """Put a file into the host's work folder before the run; return the path at which programs see the file."""
        return self._cluster.write(self.name, file, content)

    def read(self, file: str) -> str:
        """Return the content of a file in the host's work folder after the latest run."""
        path = self._cluster.work_folder(self.name) / file
        try:
            return path.read_text(errors="replace")
        except OSError as error:
            raise SimunixError(f"{self.name}: {file}: {error.strerror} in the host's work folder") from error

    def crash(self, at: Time | None = None) -> None:
        """Cut the host's power: its processes vanish, and their peers are not told. Without `at`, do so at once (from
        an action of `Cluster.at`).
        """
        self._cluster.change(HostChange(self.name, "off"), at)

    def boot(self, at: Time | None = None) -> None:
        """Switch the host on; the processes that ran when it went off start again. Without `at`, do so at once."""
        self._cluster.change(HostChange(self.name, "on"), at)

    def shut_down(self, at: Time | None = None) -> None:
        """Shut the host down in good order: SIGTERM to all processes, SIGKILL ten virtual seconds later, then off.
        Without `at`, begin at once.
        """
        self._cluster.change(HostChange(self.name, "shutdown"), at)

    def reboot(self, at: Time | None = None) -> None:
        """Shut the host down, and boot it a virtual minute later. Without `at`, begin at once."""
        self._cluster.change(HostChange(self.name, "reboot"), at)

    def change_power_state(self, number: int, at: Time | None = None) -> None:
        """Change the host's power state, and thereby its speed; `number` is an index, from 0, into the host's `speed`.
        Without `at`, do so at once.
        """
        self._cluster.change(PowerStateChange(self.name, number), at)

    def disconnect(self, at: Time | None = None) -> None:
        """Cut the host's links, so that it can neither send nor receive until `reconnect`. Without `at`, do so at once."""
        self._cluster.change(LinkChange(self.name, is_up=False), at)

    def reconnect(self, at: Time | None = None) -> None:
        """Connect the host's links again. Without `at`, do so at once."""
        self._cluster.change(LinkChange(self.name, is_up=True), at)


@dataclass(eq=False, slots=True)
class EmulatedProcess:
    """A process of the cluster with its state in the latest run, which may still be active."""

    name: str
    host: str
    is_daemon: bool
    _cluster: Cluster
    _entry: Supervised | None = None

    def __repr__(self) -> str:
        return f"{self.name}@{self.host}"

    # The state in the latest run

    @property
    def stdout(self) -> str:
        """The text that the process has written to its standard output."""
        return self._output("out")

    @property
    def stderr(self) -> str:
        """The text that the process has written to its standard error."""
        return self._output("err")

    @property
    def exit_code(self) -> int | None:
        """The exit code; a negative number is a signal, as in `subprocess`. None if the process has not ended."""
        return self.entry.exit_code if self.entry.ended else None

    @property
    def started_s(self) -> float | None:
        """The virtual time, in seconds, of the latest start; None if the process has not been started."""
        return seconds(self.entry.started_ns)

    @property
    def ended_s(self) -> float | None:
        """The virtual time, in seconds, of the end; None if the process has not ended."""
        return seconds(self.entry.ended_ns)

    @property
    def is_running(self) -> bool:
        """Whether the process is alive (in an action of `Cluster.at`), or was alive when the run ended."""
        return self.entry.started_ns is not None and not self.entry.ended

    def bind(self, entry: Supervised) -> None:
        """Connect this object with the supervisor's record of the process in a run that begins."""
        self._entry = entry

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended and will not be restarted."""
        return self.entry.ended

    @property
    def entry(self) -> Supervised:
        """The supervisor's record of the process in the latest run."""
        if self._entry is None:
            raise SimunixError(f"{self!r}: nothing has been run yet; call run() first")
        return self._entry

    def _output(self, suffix: str) -> str:
        path = self._cluster.output_folder(self.entry.spec.host) / f"{self.name}.{suffix}"
        return path.read_text(errors="replace") if path.exists() else ""

    # Signals

    def send_signal(self, number: int, at: Time | None = None) -> None:
        """Send a signal at a virtual moment of each run; without `at`, at once (from an action of `Cluster.at`)."""
        self._cluster.send_signal(self, signal.Signals(number), at)

    def kill(self, at: Time | None = None) -> None:
        """Send SIGKILL at a virtual moment, as `send_signal` does."""
        self.send_signal(signal.SIGKILL, at)

    def terminate(self, at: Time | None = None) -> None:
        """Send SIGTERM at a virtual moment, as `send_signal` does."""
        self.send_signal(signal.SIGTERM, at)


def seconds(moment_ns: int | None) -> float | None:
    """Convert nanoseconds to seconds; None stays None."""
    return None if moment_ns is None else moment_ns / NS
