"""Handles of a cluster: a host to start programs on, and a process with its outputs and what is to happen to it."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.errors import SimunixError
from rsg_server.faults.faults import HostChange, LinkChange
from simunix.testing.description import WORK_FOLDER
from simunix.testing.function_source import Function
from simunix.testing.program import Program

if TYPE_CHECKING:
    from simunix.launch.supervisor import Supervised
    from simunix.testing.cluster import Cluster

__tracebackhide__ = methodcaller("errisinstance", SimunixError)  # a test's reader looks for the test's own line

NS = 10**9
Runnable = Program | str | Path | Sequence[str | Path | int | float] | Function
"""What `Cluster.c` and `Cluster.python` make, a .c or .py file, a function, a text for the shell, or a list of words."""
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
        *words: object,
        at: Time = 0,
        name: str = "",
        daemon: bool = False,
        user: str | None = None,
        environment: Mapping[str, str] | None = None,
        directory: str = WORK_FOLDER,
    ) -> EmulatedProcess:
        """Have a program started here at a virtual time, with these words, in the host's work folder.

        The run ends when all programs have ended that are not daemons; these are killed then.
        """
        variables = dict(environment or {})
        return self._cluster.add_process(
            self.name, program, words, daemon, name, start=at, user=user, environment=variables, directory=directory
        )

    def write(self, file: str, content: str | bytes) -> str:
        """Put a file into the host's work folder before the run; the path that programs see."""
        return self._cluster.write(self.name, file, content)

    def read(self, file: str) -> str:
        """A file of the host's work folder, as its programs have left it."""
        path = self._cluster.work_folder(self.name) / file
        try:
            return path.read_text(errors="replace")
        except OSError as error:
            raise SimunixError(f"{self.name}: {file}: {error.strerror} in the host's work folder") from error

    def crash(self, at: Time | None = None) -> None:
        """Power cut: its processes are gone, its peers are not told. Without `at`, now (from an action of `Cluster.at`)."""
        self._cluster.change(HostChange(self.name, "off"), at)

    def boot(self, at: Time | None = None) -> None:
        """Power comes back: what was running when the host went off is started again."""
        self._cluster.change(HostChange(self.name, "on"), at)

    def shut_down(self, at: Time | None = None) -> None:
        """In good order: SIGTERM, ten seconds later SIGKILL, then off."""
        self._cluster.change(HostChange(self.name, "shutdown"), at)

    def reboot(self, at: Time | None = None) -> None:
        """Shut down, and boot a minute later."""
        self._cluster.change(HostChange(self.name, "reboot"), at)

    def disconnect(self, at: Time | None = None) -> None:
        """Cut its links: nothing gets in or out until `reconnect`."""
        self._cluster.change(LinkChange(self.name, is_up=False), at)

    def reconnect(self, at: Time | None = None) -> None:
        """Its links carry again."""
        self._cluster.change(LinkChange(self.name, is_up=True), at)


@dataclass(eq=False, slots=True)
class EmulatedProcess:
    """A process of the cluster: what has become of it in the latest run, also while that is going on."""

    name: str
    host: str
    is_daemon: bool
    _cluster: Cluster
    _entry: Supervised | None = None

    def __repr__(self) -> str:
        return f"{self.name}@{self.host}"

    # What it has done

    @property
    def stdout(self) -> str:
        """What it has written to its standard output."""
        return self._output("out")

    @property
    def stderr(self) -> str:
        """What it has written to its standard error."""
        return self._output("err")

    @property
    def exit_code(self) -> int | None:
        """As in subprocess: negative for a signal; None while it runs, or if it was still running when the run ended."""
        return self.entry.exit_code if self.entry.ended else None

    @property
    def started_s(self) -> float | None:
        """Virtual time of its (latest) start in seconds; None if it has not been started."""
        return seconds(self.entry.started_ns)

    @property
    def ended_s(self) -> float | None:
        """Virtual time of its end in seconds; None if it has not ended."""
        return seconds(self.entry.ended_ns)

    @property
    def is_running(self) -> bool:
        """Whether it lives now (asked by an action of `Cluster.at`) or lived when the run ended."""
        return self.entry.started_ns is not None and not self.entry.ended

    def bind(self, entry: Supervised) -> None:
        """A run has begun; this is its record of the process."""
        self._entry = entry

    @property
    def has_ended(self) -> bool:
        """Whether it was started and has ended for good."""
        return self.entry.ended

    @property
    def entry(self) -> Supervised:
        """The launcher's record of it in the latest run."""
        if self._entry is None:
            raise SimunixError(f"{self!r}: nothing has been run yet; call run() first")
        return self._entry

    def _output(self, suffix: str) -> str:
        path = self._cluster.output_folder(self.entry.spec.host) / f"{self.name}.{suffix}"
        return path.read_text(errors="replace") if path.exists() else ""

    # What is to happen to it

    def send_signal(self, number: int, at: Time | None = None) -> None:
        """Send a signal at a virtual time; without one, now (from an action of `Cluster.at`)."""
        self._cluster.send_signal(self, signal.Signals(number), at)

    def kill(self, at: Time | None = None) -> None:
        """SIGKILL."""
        self.send_signal(signal.SIGKILL, at)

    def terminate(self, at: Time | None = None) -> None:
        """SIGTERM."""
        self.send_signal(signal.SIGTERM, at)


def seconds(moment_ns: int | None) -> float | None:
    """Nanoseconds as seconds, if known."""
    return None if moment_ns is None else moment_ns / NS
