"""The keys `events:` and `profiles:` of a scenario: changes of hosts, links and the network, and their moments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from rsg_server.errors import quoted
from rsg_server.faults.changes import (
    AHEAD_MOST_NS,
    CONDITIONS,
    DRIFT_MOST_PPM,
    GRACE_NS,
    PROCESS_STATES,
    Change,
    ClockChange,
    DriftChange,
    Heal,
    HostChange,
    LinkChange,
    Loss,
    Partition,
    PowerStateChange,
    ProcessChange,
    StorageChange,
)
from simunix import units
from simunix.scenario.section import QUANTITY, Duration, HostList, Rate, Section, host_names

NS = 10**9


def _sides(value: object) -> object:
    """Return the two sides of a partition; a single host list stands against all other hosts."""
    lists = [value] if isinstance(value, str) else value
    if not isinstance(lists, list) or not 1 <= len(lists) <= 2:
        raise ValueError(f"expected a host list, or a list of two of them, got {quoted(value)}")
    return tuple(host_names(each) for each in lists)


def _healed(value: object) -> object:
    """Return the partitions that are healed: all of them (true), or the one between these sides."""
    if value is True:
        return value
    if not isinstance(value, str | list) or (isinstance(value, list) and not 1 <= len(value) <= 2):
        raise ValueError(f"expected true, a host list, or a list of two of them, got {quoted(value)}")
    return _sides(value)


def _state(value: object) -> object:
    """Return a state as a text: YAML reads `on` and `off` as true and false."""
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


def loss_rate(value: object) -> float:
    """Return the part of all datagrams that is lost, from 0 to 1, of a number such as 0.05 or a text such as "5%"."""
    text = f"{value}".strip()
    try:
        rate = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        rate = -1.0
    if isinstance(value, bool) or not 0 <= rate <= 1:
        raise ValueError(f"expected a part of all datagrams such as 0.05 or '5%', got {quoted(value)}")
    return rate


def clock_offset_ns(value: object) -> int:
    """Return how far a clock is ahead, in nanoseconds, of a number of seconds or a text such as "+30s" or "-2min"."""
    text = f"{value}".strip()
    try:
        ahead_ns = units.duration_ns(text.removeprefix("-" if text.startswith("-") else "+"))
    except ValueError:
        ahead_ns = AHEAD_MOST_NS + 1
    if isinstance(value, bool) or ahead_ns > AHEAD_MOST_NS:
        raise ValueError(f"expected how far the clock is ahead, such as '+30s' or '-2min', a year at most, got {quoted(value)}")
    return -ahead_ns if text.startswith("-") else ahead_ns


def drift_ppm(value: object) -> float:
    """Return how fast a clock drifts, in parts per million, of a number or a text such as "+200ppm"."""
    try:
        ppm = float(f"{value}".strip().removesuffix("ppm"))
    except ValueError:
        ppm = math.inf
    if isinstance(value, bool) or not abs(ppm) <= DRIFT_MOST_PPM:
        raise ValueError(
            f"expected how fast the clock drifts, such as '+200ppm', {DRIFT_MOST_PPM}ppm at most, got {quoted(value)}"
        )
    return ppm


_Sides = Annotated[
    tuple[tuple[str, ...], ...],
    BeforeValidator(_sides),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
_Healed = Annotated[
    Literal[True] | tuple[tuple[str, ...], ...],
    BeforeValidator(_healed),
    WithJsonSchema(
        {"anyOf": [{"const": True, "type": "boolean"}, {"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    ),
]


def _named(value: object, what: str) -> object:
    """Return the hosts and the name in a text such as "nfs1:disk"; `what` says what was expected."""
    hosts, separator, name = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    if not separator or not name:
        raise ValueError(f"expected {what}, got {quoted(value)}")
    return host_names(hosts), name


def _storage(value: object) -> object:
    return _named(value, "HOSTS:STORAGE such as 'nfs1:disk'")


def _process(value: object) -> object:
    return _named(value, "HOSTS:PROCESS such as 'node[1-3]:server'")


_Storage = Annotated[tuple[tuple[str, ...], str], BeforeValidator(_storage), WithJsonSchema({"type": "string"})]
_Process = Annotated[tuple[tuple[str, ...], str], BeforeValidator(_process), WithJsonSchema({"type": "string"})]
_State = Annotated[
    Literal["off", "on", "shutdown", "reboot", "hang", "up", "down"]
    | Literal["ok", "read-only", "full", "failing"]
    | Literal["killed", "stopped", "running"],
    BeforeValidator(_state),
    WithJsonSchema(
        {"enum": ["off", "on", "shutdown", "reboot", "hang", "up", "down", *CONDITIONS, *PROCESS_STATES, True, False]}
    ),
]
_Offset = Annotated[int, BeforeValidator(clock_offset_ns), QUANTITY]
_Drift = Annotated[float, BeforeValidator(drift_ppm), QUANTITY]
_LossRate = Annotated[float, BeforeValidator(loss_rate), QUANTITY]
IS_UP = {"up": True, "on": True, "down": False, "off": False}
HOST_STATES = {"off": "off", "on": "on", "shutdown": "shutdown", "reboot": "reboot", "hang": "hang", "down": "off", "up": "on"}
_STATES: dict[str, tuple[str, tuple[str, ...]]] = {
    "host": ("off, on, shutdown, reboot or hang", tuple(HOST_STATES)),
    "link": ("up or down", tuple(IS_UP)),
    "storage": ("ok, read-only, full or failing", CONDITIONS),
    "process": ("killed, stopped or running", PROCESS_STATES),
}
"""The states of each subject of an event: the text for messages, and the states as they are written."""
_LASTING = {"host": ("on", "up", "hang"), "process": ("running",)}
"""By subject, the states that no `duration` takes back."""
SUBJECTS = ("host", "process", "link", "storage", "partition", "heal", "between")


class EventSection(Section):
    """Something that happens `at` a virtual time, and is reversed after `duration`, if that is given.

    An event is about one of `host` (with `state` off, on, shutdown, reboot, hang, `pstate`, `clock` or `drift`),
    `process` (HOSTS:NAME, with `state` killed, stopped, running), `link`, `storage`, `partition`, `heal` and `between` (with
    `loss`). A `link` is the name of a link, or of a host for the host's own
    link; its keys are `bandwidth`, `latency`, `loss`, `state` up or down. A `storage` is HOSTS:NAME; its keys are
    `read_bandwidth`, `write_bandwidth`, `readwrite_bandwidth`, `latency`, `state` ok, read-only, full or failing.
    """

    at: Duration
    duration: Duration | None = None
    host: HostList | None = None
    process: _Process | None = None
    link: str | None = None
    storage: _Storage | None = None
    state: _State | None = None
    pstate: Annotated[int | None, Field(ge=0)] = None
    clock: _Offset | None = None
    drift: _Drift | None = None
    grace: Duration | None = None
    bandwidth: Rate | None = None
    read_bandwidth: Rate | None = None
    write_bandwidth: Rate | None = None
    readwrite_bandwidth: Rate | None = None
    latency: Duration | None = None
    loss: _LossRate | None = None
    partition: _Sides | None = None
    heal: _Healed | None = None
    between: _Sides | None = None

    @model_validator(mode="after")
    def _check(self) -> EventSection:
        given = self.model_fields_set - {"at", "duration"}
        subjects = [name for name in SUBJECTS if name in given]
        if len(subjects) != 1:
            raise ValueError(f"expected one of {', '.join(SUBJECTS)}, got {' and '.join(subjects) or 'none'}")
        (subject,) = subjects
        needed, allowed = _KEYS[subject]
        for name in sorted(given - {subject}):
            if name not in allowed:
                raise ValueError(f"{name}: not a key of an event of {subject}; known: {', '.join(allowed) or 'none'}")
        if needed and not given.intersection(needed):
            raise ValueError(f"expected what happens to the {subject}: {', '.join(needed)}")
        if self.state is not None and self.state not in _STATES[subject][1]:
            raise ValueError(f"state: a {subject} is {_STATES[subject][0]}, got {self.state!r}")
        if self.duration is not None and (subject == "heal" or self.state in _LASTING.get(subject, ())):
            raise ValueError(
                "duration: an event that mends, continues or hangs something cannot be taken back; leave duration out"
            )
        return self

    def changes(self) -> Iterator[Change]:
        """Yield the changes that the event makes, one for each host that it names."""
        for host in self.host or ():
            if self.pstate is not None:
                yield PowerStateChange(host, self.pstate)
            if self.clock is not None:
                yield ClockChange(host, self.clock)
            if self.drift is not None:
                yield DriftChange(host, self.drift)
            if self.state is not None:
                yield HostChange(host, HOST_STATES[self.state], GRACE_NS if self.grace is None else self.grace)
        hosts, name = self.process or ((), "")
        for host in hosts:
            yield ProcessChange(host, name, str(self.state))
        if self.link is not None:
            latency_s = None if self.latency is None else self.latency / NS
            is_up = IS_UP.get(self.state or "")
            yield LinkChange(self.link, bandwidth_bytes_per_s=self.bandwidth, latency_s=latency_s, is_up=is_up, loss=self.loss)
        yield from self._storage_changes()
        if self.partition is not None:
            yield Partition(*self.partition)
        if self.heal is not None:
            yield Heal() if self.heal is True else Heal(*self.heal)
        if self.between is not None:
            assert self.loss is not None
            one, *other = self.between
            yield Loss(one, self.loss, *other)

    def _storage_changes(self) -> Iterator[Change]:
        hosts, name = self.storage or ((), "")
        for host in hosts:
            yield StorageChange(
                host,
                name,
                condition=self.state,
                read_bytes_per_s=self.read_bandwidth,
                write_bytes_per_s=self.write_bandwidth,
                readwrite_bytes_per_s=self.readwrite_bandwidth,
                latency_s=None if self.latency is None else self.latency / NS,
            )


_OF_STORAGE = ("state", "read_bandwidth", "write_bandwidth", "readwrite_bandwidth", "latency")
_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "host": (("state", "pstate", "clock", "drift"), ("state", "grace", "pstate", "clock", "drift")),
    "process": (("state",), ("state",)),
    "link": (("state", "bandwidth", "latency", "loss"), ("state", "bandwidth", "latency", "loss")),
    "storage": (_OF_STORAGE, _OF_STORAGE),
    "partition": ((), ()),
    "heal": ((), ()),
    "between": (("loss",), ("loss",)),
}
"""For each subject of an event: the keys of which the event must have one, and all keys that it may have."""


class ProfileSection(Section):
    """How a link or a host changes over time, from files in SimGrid's format.

    Each line of a file is a time in seconds and a value (bandwidth in bytes per second, latency in seconds, a state
    above 0 for on). LOOPAFTER gives the pause before the profile begins anew, PERIODICITY the time from one beginning
    to the next.
    """

    link: str | None = None
    host: str | None = None
    bandwidth_file: Path | None = Field(default=None, strict=False)
    latency_file: Path | None = Field(default=None, strict=False)
    state_file: Path | None = Field(default=None, strict=False)

    @model_validator(mode="after")
    def _check(self) -> ProfileSection:
        if (self.link is None) == (self.host is None):
            raise ValueError("expected either link or host")
        if self.host is not None and (self.bandwidth_file or self.latency_file):
            raise ValueError("a host has a state_file only; bandwidth_file and latency_file are a link's")
        if not any(getattr(self, name) for name in PROFILE_MEANINGS):
            raise ValueError(f"expected one of {', '.join(PROFILE_MEANINGS)}")
        return self

    def change(self, key: str, value: float) -> Change:
        """Return the change of a host or link that a value in a profile file means; the key of the scenario names the file."""
        if self.host is not None:
            return HostChange(self.host, "on" if value > 0 else "off")
        assert self.link is not None
        return PROFILE_MEANINGS[key](self.link, value)


PROFILE_MEANINGS: dict[str, Callable[[str, float], Change]] = {
    "bandwidth_file": lambda link, value: LinkChange(link, bandwidth_bytes_per_s=value),
    "latency_file": lambda link, value: LinkChange(link, latency_s=value),
    "state_file": lambda link, value: LinkChange(link, is_up=value > 0),
}
"""What a value in a profile file changes for a link, by the key that names the file."""
