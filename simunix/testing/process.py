"""Handles of a cluster: a host on which programs are started, and a process with its outputs and signals."""

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

__tracebackhide__ = methodcaller("errisinstance", SimunixError)  # a test's reader looks for the test's own line

NS = 10**9
Runnable = Program | str | Path | Sequence[str | Path | int | float] | Function
"""A program: of `Cluster.c` or `Cluster.python`, a .c or .py file, a function, a text for the shell, or a list of arguments."""
Time = float | str
"""A duration or moment: seconds, or a text such as "90s", "2h30m", "50us"."""


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
        """Have a program started with these arguments in the host's work folder, at a virtual moment.

        The run ends when all programs except daemons have ended; daemons are killed then.
        """
        variables = dict(environment or {})
        return self._cluster.add_process(
            self.name, program, arguments, daemon, name, start=at, user=user, environment=variables, directory=directory
        )

    def write(self, file: str, content: str | bytes) -> str:
        """Put a file into the host's work folder before the run; return the path that programs see."""
        return self._cluster.write(self.name, file, content)

    def read(self, file: str) -> str:
        """Return the content of a file in the host's work folder, as the programs of the run left it."""
        path = self._cluster.work_folder(self.name) / file
        try:
            return path.read_text(errors="replace")
        except OSError as error:
            raise SimunixError(f"{self.name}: {file}: {error.strerror} in the host's work folder") from error

    def crash(self, at: Time | None = None) -> None:
        """Cut the power: processes vanish, and peers are not told. Without `at`, now (from an action of `Cluster.at`)."""
        self._cluster.change(HostChange(self.name, "off"), at)

    def boot(self, at: Time | None = None) -> None:
        """Switch the power on: what ran when the host went off is started again."""
        self._cluster.change(HostChange(self.name, "on"), at)

    def shut_down(self, at: Time | None = None) -> None:
        """Shut down in good order: SIGTERM to all processes, SIGKILL ten seconds later, then the host is off."""
        self._cluster.change(HostChange(self.name, "shutdown"), at)

    def reboot(self, at: Time | None = None) -> None:
        """Shut down, and boot a minute later."""
        self._cluster.change(HostChange(self.name, "reboot"), at)

    def change_power_state(self, number: int, at: Time | None = None) -> None:
        """Compute at the speed of another power state, the place of a speed in the host's `speed` from 0."""
        self._cluster.change(PowerStateChange(self.name, number), at)

    def disconnect(self, at: Time | None = None) -> None:
        """Cut the host's links: nothing gets in or out until `reconnect`."""
        self._cluster.change(LinkChange(self.name, is_up=False), at)

    def reconnect(self, at: Time | None = None) -> None:
        """Let the host's links carry again."""
        self._cluster.change(LinkChange(self.name, is_up=True), at)


@dataclass(eq=False, slots=True)
class EmulatedProcess:
    """A process of the cluster, with its state in the latest run, also while that run goes on."""

    name: str
    host: str
    is_daemon: bool
    _cluster: Cluster
    _entry: Supervised | None = None

    def __repr__(self) -> str:
        return f"{self.name}@{self.host}"

    # State in the latest run

    @property
    def stdout(self) -> str:
        """What the process has written to its standard output."""
        return self._output("out")

    @property
    def stderr(self) -> str:
        """What the process has written to its standard error."""
        return self._output("err")

    @property
    def exit_code(self) -> int | None:
        """The exit code, negative for a signal as in `subprocess`; None for a process that has not ended."""
        return self.entry.exit_code if self.entry.ended else None

    @property
    def started_s(self) -> float | None:
        """Virtual time of the (latest) start in seconds; None for a process that has not been started."""
        return seconds(self.entry.started_ns)

    @property
    def ended_s(self) -> float | None:
        """Virtual time of the end in seconds; None for a process that has not ended."""
        return seconds(self.entry.ended_ns)

    @property
    def is_running(self) -> bool:
        """Whether the process is alive (asked by an action of `Cluster.at`) or was alive when the run ended."""
        return self.entry.started_ns is not None and not self.entry.ended

    def bind(self, entry: Supervised) -> None:
        """Connect the handle with the launcher's record of the process in a run that begins."""
        self._entry = entry

    @property
    def has_ended(self) -> bool:
        """Whether the process was started and has ended for good."""
        return self.entry.ended

    @property
    def entry(self) -> Supervised:
        """The launcher's record of the process in the latest run."""
        if self._entry is None:
            raise SimunixError(f"{self!r}: nothing has been run yet; call run() first")
        return self._entry

    def _output(self, suffix: str) -> str:
        path = self._cluster.output_folder(self.entry.spec.host) / f"{self.name}.{suffix}"
        return path.read_text(errors="replace") if path.exists() else ""

    # Signals

    def send_signal(self, number: int, at: Time | None = None) -> None:
        """Send a signal at a virtual moment; without `at`, now (from an action of `Cluster.at`)."""
        self._cluster.send_signal(self, signal.Signals(number), at)

    def kill(self, at: Time | None = None) -> None:
        """Send SIGKILL, as `send_signal` does."""
        self.send_signal(signal.SIGKILL, at)

    def terminate(self, at: Time | None = None) -> None:
        """Send SIGTERM, as `send_signal` does."""
        self.send_signal(signal.SIGTERM, at)


def seconds(moment_ns: int | None) -> float | None:
    """Convert nanoseconds to seconds; None stays None."""
    return None if moment_ns is None else moment_ns / NS
