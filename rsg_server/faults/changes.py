"""The changes that faults make to hosts, processes, links, storages and sets of hosts, and how they are written as JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Any

from rsg_server.storage.disks import Condition

SECOND_NS = 10**9
GRACE_NS = 10 * SECOND_NS
"""How long a shutdown waits between SIGTERM and SIGKILL, virtual time."""
REBOOT_NS = 60 * SECOND_NS
"""How long a rebooting host is off, virtual time."""
HOST_STATES = ("off", "on", "shutdown", "reboot", "hang")
AHEAD_MOST_NS = 366 * 86400 * SECOND_NS
"""How far the wall clock of a host can be set ahead of the run's, or behind."""
DRIFT_MOST_PPM = 10_000
"""How fast the wall clock of a host can drift: one per cent."""
PROCESS_STATES = ("killed", "stopped", "running")


@dataclass(frozen=True, slots=True)
class HostChange:
    """A host goes to a state of HOST_STATES: "off" cuts its power without a signal to any process; after "hang" its
    next boot hangs.
    """

    host: str
    state: str
    grace_ns: int = GRACE_NS


@dataclass(frozen=True, slots=True)
class ProcessChange:
    """A process that the plan has started goes to a state of PROCESS_STATES.

    "killed" is SIGKILL and "stopped" is SIGSTOP; "running" is SIGCONT, or a start if the process was killed for a while.
    """

    host: str
    process: str
    process_state: str


@dataclass(frozen=True, slots=True)
class PowerStateChange:
    """A host goes to a power state, which is given by the place of its speed in the host's list of speeds, from 0."""

    host: str
    number: int


@dataclass(frozen=True, slots=True)
class ClockChange:
    """The wall clock (CLOCK_REALTIME) of a host is ahead of the run's by so many nanoseconds from now on; below 0: behind."""

    host: str
    ahead_ns: int


@dataclass(frozen=True, slots=True)
class DriftChange:
    """The wall clock of a host gains so many microseconds each second from now on; below 0: loses; at 0 it is set right."""

    host: str
    drift_ppm: float


@dataclass(frozen=True, slots=True)
class LinkChange:
    """A link gets new values; None leaves a value as it is. `link` may name a host: both directions of the host's own link."""

    link: str
    _: KW_ONLY
    bandwidth_bytes_per_s: float | None = None
    latency_s: float | None = None
    is_up: bool | None = None
    loss: float | None = None  # the probability that a datagram is lost, 0 to 1


@dataclass(frozen=True, slots=True)
class StorageChange:
    """A storage of a host gets new values, or something is wrong with it from now on; None leaves a value as it is."""

    host: str
    storage: str
    _: KW_ONLY
    condition: str | None = None  # one of CONDITIONS
    read_bytes_per_s: float | None = None
    write_bytes_per_s: float | None = None
    readwrite_bytes_per_s: float | None = None
    latency_s: float | None = None


@dataclass(frozen=True, slots=True)
class Partition:
    """Nothing passes between the hosts of the two sides; an empty `other` means all hosts that are not in `one`."""

    one: tuple[str, ...]
    other: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Heal:
    """The partition between these two sides ends; an empty `one` ends all partitions."""

    one: tuple[str, ...] = ()
    other: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Loss:
    """Datagrams between the two sides are lost at random; an empty `other` means all hosts that are not in `one`."""

    one: tuple[str, ...]
    rate: float
    other: tuple[str, ...] = ()


CONDITIONS = tuple(condition.value for condition in Condition)
Change = (
    HostChange
    | ProcessChange
    | PowerStateChange
    | ClockChange
    | DriftChange
    | LinkChange
    | StorageChange
    | Partition
    | Heal
    | Loss
)


@dataclass(frozen=True, slots=True)
class Fault:
    """A change at a moment of virtual time; with `for_ns`, the change is undone `for_ns` nanoseconds later."""

    at_ns: int
    change: Change
    for_ns: int | None = None


SAME_VALUE: dict[type, type] = {Partition: Heal}
"""Kinds of changes that change the same value as another kind: by each such kind, the kind under whose name the value
is stored.
"""
CHANGES = (
    *(HostChange, ProcessChange, PowerStateChange, ClockChange, DriftChange),
    *(LinkChange, StorageChange, Partition, Heal, Loss),
)
KINDS: dict[str, Callable[..., Change]] = {kind.__name__: kind for kind in CHANGES}


def as_message(change: Change) -> dict[str, Any]:
    """A change as JSON can carry it."""
    return {"kind": type(change).__name__, **asdict(change)}


def from_message(message: dict[str, Any]) -> Change:
    """The change that a message of `as_message` describes. Raises KeyError or TypeError if the message describes none."""
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in message.items() if key != "kind"
    }
    return KINDS[message["kind"]](**fields)


@dataclass(frozen=True, slots=True)
class FaultProfile:
    """Changes in the order of their moments, which count from the start of the profile.

    With `loop_after_ns`, the profile starts again `loop_after_ns` nanoseconds after its last change.
    """

    points: tuple[Fault, ...]
    loop_after_ns: int | None = None
