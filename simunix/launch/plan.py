"""A plan: the complete description of a run, with all hosts, files and processes. simunix expands a scenario into a
plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rsg_server.faults.changes import Fault, FaultProfile
from rsg_server.options import KernelOptions
from rsg_server.platform.platform import Platform
from rsg_server.storage.volume import Remote
from simunix.launch.debug.observation import NOTHING, ObservationOptions
from simunix.launch.view.device_numbers import DeviceNode
from simunix.launch.view.hardware import Hardware
from simunix.roots.tree import THIS_COMPUTER, RootTree

if TYPE_CHECKING:
    from simunix.launch.debug.host_messages import Decoder


@dataclass(frozen=True, slots=True)
class PrivateSpec:
    """A path that a host has for itself, with its owner and mode. Without a mode, the path has its mode in the host's
    root file system, if it exists there. A `copied` path begins with the content that the path has in the root file
    system; other paths are empty at first. A `shared` path is common to all hosts that name it, as on a network file
    system (whose traffic is not modelled). An `export` is a path of file servers, SERVERS:PATH, common to all hosts
    that mount it.
    """

    path: str
    owner: str = ""
    mode: int | None = 0o755
    shared: bool = False
    copied: bool = False
    export: str = ""


@dataclass(frozen=True, slots=True)
class MountSpec:
    """A private path of a host that lies on a storage: its number among the host's disks or, after these, among the
    host's `remotes`.
    """

    path: str
    storage: int
    has_capacity: bool = False
    is_cached: bool = False
    is_remote: bool = False
    export: str = ""  # the same meaning as in PrivateSpec

    @property
    def flags(self) -> int:
        """The flags of the mount for the shim (csrc/shim/core/core.h: STORED_LIMITED, STORED_CACHED, STORED_REMOTE)."""
        return self.has_capacity + 2 * self.is_cached + 4 * self.is_remote

    @property
    def record(self) -> str:
        """The line that describes the mount to the shim (csrc/shim/sys/procfs/stored_mounts.c)."""
        return f"{self.storage} {self.flags} {self.export if self.is_remote else ''}".rstrip()


@dataclass(frozen=True, slots=True)
class DiskNeed:
    """The disk space of this computer that a part of a scenario needs at one time, as far as it is known before the
    run.

    `where` is file, line and key of the scenario; `copies` are folders, as (host, path), that are copied in addition.
    """

    where: str
    what: str
    size_bytes: int = 0
    copies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class FileSpec:
    """A generated file in a private path of one host."""

    host: str
    path: str
    content: bytes
    owner: str = ""
    mode: int = 0o644


@dataclass(frozen=True, slots=True)
class HostSpec:
    """The container of a host; the platform has its address and links. `etc` are files of /etc that the host has in the
    place of its root's.

    `terminal` is the caller's, for a command in the foreground.
    `devices` are there before its programs begin.
    The host finds the power switches and meters of the hosts in `wired` as files (rsg_server/power_files/switches.py).
    Root of a `privileged` host is root of this computer, if the caller is. With `sees_temporary_files` the host sees
    this computer's files in /tmp, below a layer of its own; else only the shared files.
    """

    name: str
    hardware: Hardware | None = None
    private: tuple[PrivateSpec, ...] = ()
    root: RootTree = THIS_COMPUTER
    etc: Mapping[str, bytes] = field(default_factory=dict)
    sees_temporary_files: bool = False
    terminal: str = ""
    devices: tuple[DeviceNode, ...] = ()
    mounts: tuple[MountSpec, ...] = ()
    remotes: tuple[Remote, ...] = ()
    wired: tuple[str, ...] = ()
    privileged: bool = False


@dataclass(frozen=True, slots=True)
class Footprint:
    """The resources of this computer that a program uses, measured or estimated: private memory in bytes, threads.

    The fields that begin with `work_` count the further processes that a daemon starts to carry out work (such as a job
    step), while they run.
    """

    memory_bytes: int = 2 << 20
    threads: int = 1
    work_bytes: int = 0
    work_threads: int = 0
    work_processes: int = 0


@dataclass(frozen=True, slots=True)
class ActorSpec:
    """The properties of a process that is an actor of Remote SimGrid: the actor's name, when it is killed, and whether
    it starts again when its host comes back on.
    """

    name: str
    kill_ns: int | None = None
    restarts: bool = False


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A daemon or another program. `restart` is never, on-failure or always; `expect` lists the ends that count as
    success, negative numbers being signals.

    A process that `collects` starts at the end of the run, not at `start_ns`; the run ends after it.
    """

    name: str
    host: str
    argv: tuple[str, ...]
    start_ns: int = 0
    user: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    directory: str = "/"
    restart: str = "never"
    restart_delay_ns: int = 10**9
    essential: bool = False  # a failure of the process at its start ends the run
    is_workload: bool = False  # the run is finished when all processes with this mark have ended
    collects: bool = False
    is_check: bool = False  # another end than expected is a failure, although the process collects
    footprint: Footprint = Footprint()
    cpu_policy: str = ""  # empty: the process has the policy of its host
    expect: tuple[int, ...] = (0,)
    serves: bool = False  # the process never ends by itself, and the run does not wait for it
    actor: ActorSpec | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a run needs to know.

    `stop` says what ends the run: workload, processes, time, or the names of the deciding processes. `merge_pages` is
    auto, yes or no; `capacity` is refuse or warn. `shared` are the folders and files of this computer's /tmp and
    /var/tmp that hosts see.
    """

    name: str
    platform: Platform
    hosts: tuple[HostSpec, ...]
    processes: tuple[ProcessSpec, ...]
    kernel: KernelOptions
    files: tuple[FileSpec, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    stop: str | frozenset[str] = "processes"
    until_ns: int | None = None
    pace: float | None = None
    preempt_after_s: float | None = None
    inputs: dict[str, Path] = field(default_factory=dict)  # the files whose checksums are in run.json
    log_every_turn: bool = False
    faults: tuple[Fault, ...] = ()
    profiles: tuple[FaultProfile, ...] = ()
    observation: ObservationOptions = NOTHING
    decoders: Mapping[str, Decoder] = field(default_factory=dict)  # the functions that find messages in bytes, by host name
    working: int = 0  # how many daemons carry out work at one time
    merge_pages: str = "auto"
    capacity: str = "refuse"
    shared: tuple[str, ...] = ()
    disk: tuple[DiskNeed, ...] = ()
    warnings: tuple[str, ...] = ()  # wishes of the scenario that cannot be met or have no effect; printed before the start
