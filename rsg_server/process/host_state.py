"""What the server keeps of one emulated host while it runs: its processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rsg_server.platform.host import Host
    from rsg_server.process.process import Process


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to start on a host, with everything it inherits; descriptors are the caller's to close."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    directory: str
    stdin: int
    stdout: int
    stderr: int
    user: str | None = None
    label: str = ""
    foreground: bool = False


class Launcher(Protocol):
    """Starts real processes on behalf of emulated hosts; see simunix.launch."""

    def spawn(self, host_name: str, command: Command, channel_fd: int) -> None:
        """Start the command with the shim and its channel; raises SimunixError if it cannot be run."""

    def power_off(self, host_name: str) -> None:
        """End everything on a host at once; the next program finds it as after a boot, with its files as they were."""

    def wait_status(self, host_name: str, pid: int) -> int:
        """The wait(2) status of a started program that has ended; -1 if it cannot be known.

        Raises SimunixError if all hosts are lost.
        """


@dataclass(eq=False, slots=True)
class HostState:
    """One emulated host; `flags` and `files` (folder of its own files where it has no mounts) go to every process at HELLO."""

    host: Host
    flags: int = 0
    files: str = ""
    processes: dict[int, Process] = field(default_factory=dict)  # by pid in the host's namespace
    births: int = 0  # processes that were ever announced
    latest_pid: int = 0

    @property
    def name(self) -> str:
        """The host's name."""
        return self.host.name
