"""The state of an emulated host during a run, and the interface to the code that starts real processes (`Launcher`)."""

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
    """A program to be started on a host, with the descriptors and the environment that it inherits. The caller closes
    the descriptors.

    With `terminal`, the program leads a session whose controlling terminal is its standard input.
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
    """Return a new number in memory that the core (csrc/turn/) can read and write."""
    return ffi.new("uint64_t *")


class Launcher(Protocol):
    """Starts real processes on behalf of emulated hosts; simunix.launch implements it."""

    def spawn(self, host_name: str, command: Command, channel_fd: int) -> int:
        """Start a command with the shim and with its end of the channel. Return its pid on the host.

        Raises SimunixError if the command cannot be run.
        """

    def files_of(self, host_name: str) -> str:
        """Return the prefix that makes a path of a host one by which the server opens the file; valid while the host runs."""

    def power_off(self, host_name: str) -> None:
        """End all processes of a host at once. For the next program the host is as after a boot, with its files unchanged."""

    def cgroups(self, host_name: str) -> int:
        """Return a descriptor of the folder of a host's cgroups; the caller closes it. Raises SimunixError if there is none."""

    def inject(self, host_name: str, thread: int, descriptor: int) -> int:
        """Have the host's init load the shim into the program that a thread is about to exec. Return a descriptor of
        the shim's file.

        The caller does not close this descriptor. The thread opens the shim's file under the number `descriptor`.
        Raises SimunixError if the init cannot load the shim.
        """

    def release(self, host_name: str, thread: int) -> None:
        """Undo `inject` for a thread, because its exec has failed."""

    def why_killed(self, host_name: str, pid: int) -> str:
        """Return why the host's init killed a process at an exec after `inject`; "" if the init did not kill the process."""

    def wait_status(self, host_name: str, pid: int) -> int:
        """Return the wait(2) status of an ended program that `spawn` started; -1 if it cannot be known.

        Raises SimunixError if all hosts are lost.
        """


@dataclass(eq=False, slots=True)
class HostState:
    """One emulated host. `flags` and `files` are in the reply to the HELLO of each of its processes.

    `files` is the folder of the host's own files; the server uses this folder if the host has no mounts.
    """

    host: Host
    flags: int = 0
    files: str = ""
    processes: dict[int, Process] = field(default_factory=dict)  # the processes by their pid in the host's PID namespace
    births: int = 0  # the number of processes that were announced so far
    latest_pid: int = 0
    booted_ns: int = 0  # the moment of the last boot during the run
    cgroup_device: int = -1  # the device number of the file system with the host's cgroups; 0: there is none, -1: not known yet
    programs: set[str] = field(default_factory=set)  # the paths of all programs that have been started on this host
    # the network namespaces that programs of the host have made, by the kernel's inode
    networks: dict[int, HostState] = field(default_factory=dict)
    # the last look at ready descriptors that has woken an actor of this host (csrc/turn/)
    woken_in: Any = field(default_factory=_number)
    # if this object is a network namespace: the host to which it belongs (rsg_server.sockets.network_namespaces)
    around: HostState | None = None

    @property
    def machine(self) -> HostState:
        """The host itself; for a network namespace, the host to which it belongs."""
        return self.around or self

    @property
    def level(self) -> int:
        """How many PID namespaces are above the host's. /proc lists a process's numbers from the server's namespace
        downwards.
        """
        return 0 if self.flags & FLAG_FAKE_NAME else 1

    @property
    def name(self) -> str:
        """The host's name."""
        return self.host.name
