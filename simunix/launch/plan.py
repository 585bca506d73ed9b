"""A plan: an emulation as it is to be run, with all hosts, files and processes spelled out. Scenarios are expanded to plans."""

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
    """A path that a host has for itself, with its owner and mode; without a mode, those of the path in the host's root, if any.

    A `copied` one begins with what the root has there, others with nothing. A `shared` one is the same for all hosts that name
    it, as on a network file system (whose traffic is not modelled). An `export` is one of file servers', SERVERS:PATH, and the
    same for all hosts that mount it.
    """

    path: str
    owner: str = ""
    mode: int | None = 0o755
    shared: bool = False
    copied: bool = False
    export: str = ""


@dataclass(frozen=True, slots=True)
class MountSpec:
    """A private path of a host that is kept on a storage: its number among the host's disks and, behind them, its `remotes`."""

    path: str
    storage: int
    has_capacity: bool = False
    is_cached: bool = False
    is_remote: bool = False
    export: str = ""  # as that of PrivateSpec

    @property
    def flags(self) -> int:
        """As the shim reads them (csrc/shim/core/core.h: STORED_LIMITED, STORED_CACHED, STORED_REMOTE)."""
        return self.has_capacity + 2 * self.is_cached + 4 * self.is_remote

    @property
    def record(self) -> str:
        """What the shim is to know of it (csrc/shim/sys/procfs/stored_mounts.c)."""
        return f"{self.storage} {self.flags} {self.export if self.is_remote else ''}".rstrip()


@dataclass(frozen=True, slots=True)
class DiskNeed:
    """What a part of a scenario takes of this computer's disk at a time, as far as that is known before the run.

    `where` is file, line and key; `copies` are folders, as (host, path), that are copied besides.
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
    """A host's container; its address and links are the platform's. `etc`: files of /etc that it has instead of its root's.

    `terminal` is the caller's, for a command in the foreground.
    `devices` are there before its programs begin.
    Of the hosts that are `wired` to it, it finds the power switch and meter as files (rsg_server/power_files/switches.py).
    Root of a `privileged` one is root of this computer, if the caller is.
    With `sees_temporary_files` it finds this computer's files in /tmp, under a layer of its own; else only shared ones.
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
    """What a program takes of this computer, measured or guessed: private memory in bytes, threads.

    `work_` is what a daemon's further processes take, which carry out work (a job's step), while they run.
    """

    memory_bytes: int = 2 << 20
    threads: int = 1
    work_bytes: int = 0
    work_threads: int = 0
    work_processes: int = 0


@dataclass(frozen=True, slots=True)
class ActorSpec:
    """What makes a process an actor of Remote SimGrid: its name, when it is killed, whether it begins again with its host."""

    name: str
    kill_ns: int | None = None
    restarts: bool = False


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """A daemon or program: `restart` is never, on-failure or always. `expect`: how it may end; negative numbers are signals.

    One that `collects` starts, instead of at `start_ns`, when the run is finished or its time is up; the run ends after it.
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
    essential: bool = False  # its failure at the start ends the run
    is_workload: bool = False  # the run is finished when all of these are
    collects: bool = False
    is_check: bool = False  # its end is a failure if it is not as expected, though it collects
    footprint: Footprint = Footprint()
    cpu_policy: str = ""  # empty: that of the host
    expect: tuple[int, ...] = (0,)
    serves: bool = False  # never ends by itself; the run does not wait for it
    actor: ActorSpec | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that a run needs to know.

    `stop` is workload, processes, time, or the names of the processes that decide; `merge_pages` auto, yes or no;
    `capacity` refuse or warn. `shared` are folders and files of this computer's /tmp and /var/tmp that its hosts see.
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
    inputs: dict[str, Path] = field(default_factory=dict)  # what run.json gives checksums of
    log_every_turn: bool = False
    faults: tuple[Fault, ...] = ()
    profiles: tuple[FaultProfile, ...] = ()
    observation: ObservationOptions = NOTHING
    decoders: Mapping[str, Decoder] = field(default_factory=dict)  # of messages, by name of host
    working: int = 0  # how many of the daemons may be carrying out work at a time
    merge_pages: str = "auto"
    capacity: str = "refuse"
    shared: tuple[str, ...] = ()
    disk: tuple[DiskNeed, ...] = ()
    warnings: tuple[str, ...] = ()  # what cannot be as the scenario wants it, or counts for nothing; said before the start
