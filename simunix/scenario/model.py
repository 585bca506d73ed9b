"""The scenario format: the keys of a YAML file, their types and defaults. `simunix schema` prints it.

Clusters of an RJMS are not described here: each RJMS adds a section of its own (`simunix.rjms.scenario`).
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from datetime import datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, WithJsonSchema, field_validator, model_validator

from simunix import units
from simunix.dates import moment, today
from simunix.scenario.check_section import CheckSection
from simunix.scenario.device_section import Devices, check_devices, check_nodes
from simunix.scenario.faults import EventSection, ProfileSection
from simunix.scenario.nemesis_section import NemesisSection
from simunix.scenario.network_section import NetworkSection
from simunix.scenario.perturb_section import Perturb, PerturbSection
from simunix.scenario.power_section import BmcSection, EnclosureSection, Speeds, WattRanges, Watts, power_of_host
from simunix.scenario.section import (
    CommandLine,
    CpuPolicy,
    Duration,
    FileName,
    FunctionName,
    HostList,
    Rate,
    Section,
    Size,
    Speed,
    check_private,
    host_names,
    printable,
)
from simunix.scenario.storage_section import MountSection, StorageSection
from simunix.scenario.submit_section import SubmitSection


def _captured(value: object) -> tuple[str, ...] | None:
    if isinstance(value, bool) or value is None:
        return () if value else None
    return host_names(value)


def _interval(value: object) -> int | None:
    if isinstance(value, bool) or value is None:
        return 10**9 if value else None
    if interval_ns := units.duration_ns(value):
        return interval_ns
    raise ValueError(f"expected an interval above 0, got {value!r}")


_CAPTURED = WithJsonSchema({"type": ["string", "boolean"]})
_INTERVAL = WithJsonSchema({"type": ["string", "number", "boolean"]})


STOPS = ("workload", "processes", "time")


def _stop(value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    names = (value,) if isinstance(value, str) else value
    if isinstance(names, (list, tuple)) and names and all(isinstance(name, str) and name for name in names):
        return tuple(names)
    raise ValueError(f"expected workload, processes, time, or names of processes, got {value!r}")


Stop = Annotated[
    tuple[str, ...] | None,
    BeforeValidator(_stop),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]
"""What ends the run: one of STOPS, or the names of the processes whose end ends the run."""
Moment = Annotated[datetime, BeforeValidator(moment), WithJsonSchema({"type": "string", "format": "date-time"})]


def one_or_more(value: object) -> object:
    """Return a list from a section that is written without its list, since there is usually only one."""
    return [value] if isinstance(value, dict) else value


def allow_one(schema: dict[str, Any]) -> None:
    """Change the JSON Schema of a key to allow one section, a list of sections, or null."""
    schema["anyOf"] = [schema["anyOf"][0]["items"], *schema["anyOf"]]


class PrivateSection(Section):
    """A path that a host has for itself, with its first content: nothing, or a copy of what the host's root file system
    has there.
    """

    path: str
    content: Literal["empty", "copy"] = "empty"


def _private(value: object) -> object:
    """Return a section for a path that is written alone."""
    if isinstance(value, str):
        value = {"path": value}
    path = value.get("path") if isinstance(value, dict) else None
    if isinstance(path, str):
        check_private(path)
    return value


def _allow_path(schema: dict[str, Any]) -> None:
    """Change the JSON Schema of a list to allow both paths and sections."""
    schema["items"] = {"anyOf": [{"type": "string"}, schema["items"]]}


PrivatePaths = Annotated[list[Annotated[PrivateSection, BeforeValidator(_private)]], Field(json_schema_extra=_allow_path)]


class CpuPolicySection(Section):
    """CPU policies by program (the program's file name). `default` applies to all programs without a policy, unless
    their process or host gives one.
    """

    default: CpuPolicy = "free"
    programs: dict[FileName, CpuPolicy] = {}


class HostSection(Section):
    """One host, or several equal hosts. `address` is the first host's address; further hosts have the addresses after
    it.

    `root` is the root file system that they run in (see `simunix root make`); `/` is this computer's own.
    """

    name: HostList
    address: str | None = None
    cores: Annotated[int, Field(ge=1, le=4096)] = 1
    sockets: Annotated[int, Field(ge=1)] = 1
    threads_per_core: Annotated[int, Field(ge=1)] = 1
    numa_per_socket: Annotated[int | None, Field(ge=1)] = None
    gpus: Devices = []
    nics: Devices = []
    memory: Size = 4 << 30
    disk: Size = 1 << 40
    speed: Speeds = (1e9,)
    pstate: Annotated[int, Field(ge=0)] = 0
    wattage_per_state: WattRanges | None = None
    wattage_off: Watts | None = None
    boot_time: Duration = 0
    boot_wattage: Watts | None = None
    boot_failure: Annotated[float, Field(ge=0, le=1, strict=False)] = 0
    shutdown_time: Duration = 0
    cpu_policy: CpuPolicy | None = None
    bandwidth: Rate | None = None
    latency: Duration | None = None
    private: PrivatePaths = []
    root: Path | None = Field(default=None, strict=False)
    privileged: bool | None = None

    @model_validator(mode="after")
    def _check(self) -> HostSection:
        if self.cores % (self.sockets * self.threads_per_core):
            raise ValueError(f"cores: expected a multiple of sockets × threads_per_core, got {self.cores}")
        if self.numa_per_socket:
            check_nodes(self.sockets, self.cores_per_socket, self.numa_per_socket)
        check_devices(self.gpus, self.nics, self.numa_nodes)
        if self.boot_wattage is not None and self.wattage_per_state is None:
            raise ValueError("boot_wattage: the host has no wattage_per_state; add it, or take boot_wattage out")
        power_of_host(self.wattage_per_state, self.wattage_off, len(self.speed))
        if self.pstate >= len(self.speed):
            raise ValueError(f"pstate: expected a number below {len(self.speed)}, the number of speeds, got {self.pstate}")
        if self.address is not None:
            try:
                ip_address(self.address)
            except ValueError:
                raise ValueError(f"address: expected an IPv4 or IPv6 address, got {self.address!r}") from None
        return self

    @property
    def cores_per_socket(self) -> int:
        """The number of cores of each socket; the threads of a core count once."""
        return self.cores // (self.sockets * self.threads_per_core)

    @property
    def numa_nodes(self) -> int:
        """The number of NUMA nodes; 1 if the section does not mention NUMA nodes."""
        return self.sockets * (self.numa_per_socket or 0) or 1


def _expected(value: object) -> object:
    """Return the ends of a process that count as success, numbered as in the module subprocess, from an exit status,
    the name of a signal, or a list of these.
    """
    return tuple(map(_end, value if isinstance(value, (list, tuple)) and value else (value,)))


def _end(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 255:
        return value
    if isinstance(value, str) and value in signal.Signals.__members__:
        return -signal.Signals[value].value
    raise ValueError(f"expected an exit status from 0 to 255, or a signal's name such as SIGTERM, got {value!r:.60}")


_END: dict[str, Any] = {"type": ["integer", "string"]}
Ends = Annotated[
    tuple[int, ...],
    BeforeValidator(_expected),
    WithJsonSchema({"anyOf": [_END, {"type": "array", "items": _END, "minItems": 1}]}),
]


class ProcessSection(Section):
    """A program to start on a host, or on each of several hosts."""

    name: FileName
    host: HostList
    command: CommandLine
    start: Duration = 0
    user: str | None = None
    environment: dict[str, str] = {}
    directory: str = "/"
    restart: Literal["never", "on-failure", "always"] = "never"
    restart_delay: Duration = 10**9
    essential: bool = False
    expect: Ends = (0,)
    cpu_policy: CpuPolicy | None = None
    private: PrivatePaths = []

    @model_validator(mode="after")
    def _check_expected(self) -> ProcessSection:
        if self.essential and "expect" in self.model_fields_set:
            raise ValueError("expect: the end of an essential process fails the run; take expect or essential away")
        return self


class ActorSection(ProcessSection):
    """An actor of Remote SimGrid: a program, or a function of a Python module beside the scenario."""

    command: CommandLine = ()
    function: FunctionName | None = None
    arguments: list[str] = []
    kill_time: Duration | None = None
    on_failure: Literal["die", "restart"] = "die"

    @model_validator(mode="after")
    def _check(self) -> ActorSection:
        if bool(self.command) == (self.function is not None):
            raise ValueError("expected a command or a function, and not both")
        if self.arguments and self.function is None:
            raise ValueError("arguments: they are those of a function; put them into the command")
        return self


class DeploymentSection(Section):
    """The actors in a SimGrid deployment file, and the Python function for each function name in that file."""

    file: Annotated[Path, AfterValidator(printable)] = Field(strict=False)
    functions: dict[str, FunctionName] = {}


class WorkloadSection(SubmitSection):
    """The jobs of a trace, submitted by the RJMS's real client on a host of the emulation.

    `begin` and `end`, in times of the trace, cut a window out of the trace; the submission begins at `start` of the
    run. `processors` is the number of the cluster's cores that stand for one processor of the trace. `cluster` names
    the cluster that gets the jobs, if there are several. `SubmitSection` has the keys for how jobs are submitted.

    A trace of Batsim says what its jobs do. For other traces, `profile` says so: sleep, suspendable, compute, or a
    profile in Batsim's notation. With `resources: nodes`, a processor (or Batsim's `res`) is a whole node. `storage`
    gives the meaning of a storage's label in a profile: a host that receives all bytes, or a path that all nodes have
    on a storage (`mounts`). See docs/guide/jobs.md.

    A job table itself says what its jobs ask for and how long they run. With `factors`, by features of nodes, the run
    time depends on the nodes. See docs/guide/job-table.md.
    """

    trace: Annotated[Path, AfterValidator(printable)] = Field(strict=False)
    cluster: str | None = None
    host: str | None = None
    start: Duration = 10 * 10**9
    begin: Duration = 0
    end: Duration | None = None
    max_jobs: Annotated[int, Field(ge=1)] | None = None
    processors: Annotated[int, Field(ge=1)] = 1
    margin: Annotated[float, Field(ge=1.0)] = 1.0
    profile: Literal["sleep", "suspendable", "compute"] | dict[str, Any] | None = None
    resources: Literal["cores", "nodes"] = "cores"
    storage: dict[str, str] = {}
    factors: dict[str, Annotated[float, Field(gt=0, strict=False)]] = {}


class CostSection(Section):
    """The virtual time that questions for the time cost, so that loops that wait for the clock end."""

    clock_read: Duration = 50
    poll: Duration = 1000
    call: Duration = 200


class Scenario(Section):
    """A scenario: all that a run needs to know."""

    name: FileName = "scenario"
    description: str = ""
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    epoch: Moment = Field(default_factory=today)
    until: Duration | None = None
    pace: Annotated[float, Field(gt=0, strict=False)] | None = None
    cpu_policy: CpuPolicy | CpuPolicySection = "free"
    # the file with the computing times of programs under the CPU policy modelled
    cpu_costs: Annotated[Path | None, AfterValidator(printable)] = Field(default=None, strict=False)
    cpu_reference: Speed = 1e9  # the speed that one core of this computer counts as
    # the CPU time that a thread may compute without a system call while others wait; 0: no limit
    preempt_after: Duration = 2_000_000_000
    stop: Stop = None
    strict: bool = False  # stop at the first system call that is refused or unknown
    merge_pages: bool | Literal["auto"] = "auto"  # let the kernel merge equal pages of all hosts; auto: if that saves much
    capacity: Literal["refuse", "warn"] = "refuse"  # what to do if this computer seems too small
    environment: dict[str, str] = {}
    shared: list[str] = []
    costs: CostSection = CostSection()
    network: NetworkSection = NetworkSection()
    root: Path | None = Field(default=None, strict=False)  # the root file system of hosts that do not name their own
    privileged: bool = False  # whether root of a host is root of this computer, for hosts without a key of their own
    hosts: Annotated[list[HostSection], Field(min_length=1)]
    storages: list[StorageSection] = []
    mounts: list[MountSection] = []
    processes: list[ProcessSection] = []
    actors: list[ActorSection] = []  # actors of Remote SimGrid, in the order of their numbers
    deployment: DeploymentSection | None = None  # a deployment file with further actors
    # the hosts whose packets are captured; true for all hosts
    pcap: Annotated[tuple[str, ...] | None, BeforeValidator(_captured), _CAPTURED] = None
    # the interval of links.csv; true for a second
    link_usage: Annotated[int | None, BeforeValidator(_interval), _INTERVAL] = None
    events: list[EventSection] = []
    profiles: list[ProfileSection] = []
    check: list[CheckSection] = []  # the conditions that must hold in every run
    nemesis: NemesisSection | None = None  # the faults that the seeds of an exploration cause
    enclosures: list[EnclosureSection] = []
    bmcs: list[BmcSection] = []
    recorded: Annotated[Path | None, AfterValidator(printable)] = Field(default=None, strict=False)
    perturb: Perturb = None  # random changes by which runs with different seeds differ; with the seed 0 there are none
    workload: Annotated[list[WorkloadSection] | None, BeforeValidator(one_or_more), Field(json_schema_extra=allow_one)] = None
    _place: Callable[[str], str | None] | None = PrivateAttr(default=None)

    @property
    def perturbation(self) -> PerturbSection | None:
        """The section `perturb:` with what this run's seed changes at random; None if the run is not perturbed."""
        return None if self.seed == 0 or self.perturb is None or self.perturb.is_nothing else self.perturb

    @field_validator("shared")
    @classmethod
    def _check_shared(cls, paths: list[str]) -> list[str]:
        for path in paths:
            if not Path(path).is_absolute() or not Path(path).exists():
                raise ValueError(f"expected folders or files of this computer that exist, by absolute path, got {path!r}")
        return paths

    def stands_in(self, place: Callable[[str], str | None]) -> None:
        """Remember `place`, a function that returns file and line of a key, or None if the file does not have the key."""
        self._place = place

    def place_of_key(self, key: str) -> str | None:
        """Return file and line of a key of the scenario; None for a scenario without a file."""
        return self._place(key) if self._place is not None else None
