"""The state of an emulated host during a run, and the interface of the part that starts real processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from rsg_server._native import ffi
from rsg_server.platform.host import Host
from rsg_server.protocol import FLAG_FAKE_NAME

if TYPE_CHECKING:
    from rsg_server.process.process import Process


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A program to start on a host, with all that the program inherits. The caller closes the descriptors.

    With `terminal`, the program leads a session whose terminal is its standard input.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    directory: str
    stdin: int
    stdout: int
    stderr: int
    user: str | None = None
    label: str = ""
    cpu_policy: str = ""
    foreground: bool = False
    terminal: bool = False


def _number() -> Any:
    """Make a number that the core can read and write."""
    return ffi.new("uint64_t *")


class Launcher(Protocol):
    """Starts real processes on behalf of emulated hosts; see simunix.launch."""

    def spawn(self, host_name: str, command: Command, channel_fd: int) -> int:
        """Start the command with the shim and its end of the channel; returns its pid in the host.

        Raises SimunixError if the command cannot be run.
        """

    def files_of(self, host_name: str) -> str:
        """Return the prefix that turns a path of a host into a path by which the server opens the file, while the host runs."""

    def power_off(self, host_name: str) -> None:
        """End all processes of a host at once. The next program finds the host as after a boot, with its files unchanged."""

    def cgroups(self, host_name: str) -> int:
        """Return a descriptor of the folder of a host's cgroups; the caller closes it. Raises SimunixError if there is none."""

    def inject(self, host_name: str, thread: int, descriptor: int) -> int:
        """Make the host's init load the shim into what a thread is about to exec; returns a descriptor of the shim's file.

        The caller does not close the descriptor. The thread is to have the file at `descriptor`. Raises SimunixError if
        this is impossible.
        """

    def release(self, host_name: str, thread: int) -> None:
        """Withdraw `inject`, since the exec has failed."""

    def why_killed(self, host_name: str, pid: int) -> str:
        """Return why the host's init killed a process at an exec after `inject`; "" if it did not."""

    def wait_status(self, host_name: str, pid: int) -> int:
        """Return the wait(2) status of an ended program that `spawn` started; -1 if the status cannot be known.

        Raises SimunixError if all hosts are lost.
        """


@dataclass(eq=False, slots=True)
class HostState:
    """One emulated host. Every process gets `flags` and `files` with the reply to its HELLO.

    `files` is the folder of the host's own files where the host has no mounts.
    """

    host: Host
    flags: int = 0
    files: str = ""
    processes: dict[int, Process] = field(default_factory=dict)  # by pid in the host's PID namespace
    births: int = 0  # processes announced so far
    latest_pid: int = 0
    booted_ns: int = 0  # the latest boot during the run
    cgroup_device: int = -1  # the device of the file system with its cgroups; 0: there is none, -1: not known yet
    programs: set[str] = field(default_factory=set)  # the paths of all that have begun here
    networks: dict[int, HostState] = field(default_factory=dict)  # network namespaces within the host's, by the kernel's inode
    woken_in: Any = field(default_factory=_number)  # the look that woke an actor here last (csrc/turn/)
    around: HostState | None = None  # of such a namespace: the host (rsg_server.sockets.network_namespaces)

    @property
    def machine(self) -> HostState:
        """The host itself, or, for a network namespace, the host around it."""
        return self.around or self

    @property
    def level(self) -> int:
        """The index of the host's PID namespace among the numbers of a process in /proc, which begin with the server's."""
        return 0 if self.flags & FLAG_FAKE_NAME else 1

    @property
    def name(self) -> str:
        """The host's name."""
        return self.host.name
