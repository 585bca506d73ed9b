"""`events:` and `profiles:` of a scenario: what happens to hosts, links and the network between them, and when."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema, model_validator

from rsg_server.errors import SimunixError
from rsg_server.faults.faults import GRACE_NS, Change, Fault, Heal, HostChange, LinkChange, Loss, Partition, Profile, check
from rsg_server.platform.platform import Platform
from rsg_server.platform.profile import parse_profile
from simunix import ranges, units
from simunix.planning.platform_profiles import played

NS = 10**9
_QUANTITY = WithJsonSchema({"type": ["string", "number"]})
_Duration = Annotated[int, BeforeValidator(units.duration_ns), _QUANTITY]
_Rate = Annotated[float, BeforeValidator(units.rate_bytes_per_s), WithJsonSchema({"type": "string"})]


def _side(value: object) -> tuple[str, ...]:
    if not isinstance(value, str):
        raise ValueError(f"expected a host list such as 'node[1-16]', got {value!r}")
    return tuple(ranges.expand_hosts(value))


def _sides(value: object) -> object:
    """One host list (against all others) or two."""
    lists = [value] if isinstance(value, str) else value
    if not isinstance(lists, list) or not 1 <= len(lists) <= 2:
        raise ValueError(f"expected a host list, or a list of two of them, got {value!r}")
    return tuple(_side(each) for each in lists)


def _state(value: object) -> object:
    """YAML takes `on` and `off` for true and false."""
    return {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value


def loss_rate(value: object) -> float:
    """A part of all, such as 0.05 or "5%"."""
    text = f"{value}".strip()
    try:
        rate = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        rate = -1.0
    if isinstance(value, bool) or not 0 <= rate <= 1:
        raise ValueError(f"expected a part of all datagrams such as 0.05 or '5%', got {value!r}")
    return rate


_Sides = Annotated[
    tuple[tuple[str, ...], ...],
    BeforeValidator(_sides),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]
_HostList = Annotated[tuple[str, ...], BeforeValidator(_side), WithJsonSchema({"type": "string"})]
_State = Annotated[
    Literal["off", "on", "shutdown", "reboot", "up", "down"],
    BeforeValidator(_state),
    WithJsonSchema({"enum": ["off", "on", "shutdown", "reboot", "up", "down", True, False]}),
]
_LossRate = Annotated[float, BeforeValidator(loss_rate), _QUANTITY]
IS_UP = {"up": True, "on": True, "down": False, "off": False}
HOST_STATES = {"off": "off", "on": "on", "shutdown": "shutdown", "reboot": "reboot", "down": "off", "up": "on"}
SUBJECTS = ("host", "link", "partition", "heal", "between")


class _Section(BaseModel):
    """As the other sections of a scenario."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class EventSection(_Section):
    """Something that happens `at` a time, and is taken back after `duration`, if given.

    It concerns one of: `host` (with `state` off, on, shutdown, reboot), `link` (a link's name, or a host's for its own; with
    `bandwidth`, `latency`, `loss`, `state` up or down), `partition`, `heal`, `between` (with `loss`).
    """

    at: _Duration
    duration: _Duration | None = None
    host: _HostList | None = None
    link: str | None = None
    state: _State | None = None
    grace: _Duration | None = None
    bandwidth: _Rate | None = None
    latency: _Duration | None = None
    loss: _LossRate | None = None
    partition: _Sides | None = None
    heal: Literal[True] | _Sides | None = None
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
        if subject == "link" and self.state in ("shutdown", "reboot"):
            raise ValueError(f"state: a link is up or down, got {self.state!r}")
        if self.duration is not None and (subject == "heal" or (subject == "host" and self.state in ("on", "up"))):
            raise ValueError("duration: only what goes wrong can be taken back")
        return self

    def changes(self) -> Iterator[Change]:
        """What it means, one change per host."""
        for host in self.host or ():
            assert self.state is not None
            yield HostChange(host, HOST_STATES[self.state], GRACE_NS if self.grace is None else self.grace)
        if self.link is not None:
            latency_s = None if self.latency is None else self.latency / NS
            yield LinkChange(self.link, self.bandwidth, latency_s, IS_UP.get(self.state or ""), self.loss)
        if self.partition is not None:
            yield Partition(*self.partition)
        if self.heal is not None:
            yield Heal() if self.heal is True else Heal(*self.heal)
        if self.between is not None:
            assert self.loss is not None
            one, *other = self.between
            yield Loss(one, self.loss, *other)


_KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "host": (("state",), ("state", "grace")),
    "link": (("state", "bandwidth", "latency", "loss"), ("state", "bandwidth", "latency", "loss")),
    "partition": ((), ()),
    "heal": ((), ()),
    "between": (("loss",), ("loss",)),
}
"""By what an event concerns: keys of which it needs one, and keys that it may have."""


class ProfileSection(_Section):
    """How a link or a host changes in time, from files in SimGrid's format.

    Lines of a time in seconds and a value (bandwidth in bytes per second, latency in seconds, state above 0 for on), LOOPAFTER
    with the pause before it begins anew, or PERIODICITY with the time from beginning to beginning.
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
        if not any(getattr(self, name) for name in _MEANINGS):
            raise ValueError(f"expected one of {', '.join(_MEANINGS)}")
        return self

    def change(self, key: str, value: float) -> Change:
        """What a value of one of the files means."""
        if self.host is not None:
            return HostChange(self.host, "on" if value > 0 else "off")
        assert self.link is not None
        return _MEANINGS[key](self.link, value)


_MEANINGS: dict[str, Callable[[str, float], Change]] = {
    "bandwidth_file": lambda link, value: LinkChange(link, bandwidth_bytes_per_s=value),
    "latency_file": lambda link, value: LinkChange(link, latency_s=value),
    "state_file": lambda link, value: LinkChange(link, is_up=value > 0),
}


def read_profile(path: Path, change: Callable[[float], Change], is_positive: bool = False) -> Profile:
    """A profile in SimGrid's format. SimunixError names file and line."""
    try:
        found = parse_profile(path.name, path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text file"
        raise SimunixError(f"{path}: {reason}; give a profile of SimGrid's") from error
    except ValueError as error:
        raise SimunixError(f"{path}: {error}") from error
    if not found.events:
        raise SimunixError(f"{path}: no line with a time and a value; see docs/guide/faults.md")
    if is_positive and any(value == 0 for _, value in found.events):
        raise SimunixError(f"{path}: expected bandwidths above 0, got 0; a state_file takes the link down")
    points = tuple(Fault(round(moment_s * NS), change(value)) for moment_s, value in found.events)
    return Profile(points, None if found.repeat_after_s is None else round(found.repeat_after_s * NS))


def plan_faults(
    events: list[EventSection], profiles: list[ProfileSection], folder: Path, platform: Platform
) -> tuple[tuple[Fault, ...], tuple[Profile, ...]]:
    """Everything that is to happen, the platform file's first; checked against the platform. SimunixError names the key."""
    faults = []
    for index, event in enumerate(events):
        for change in event.changes():
            _checked(f"events[{index}]", platform, change)
            faults.append(Fault(event.at, change, event.duration))
    return tuple(faults), (*played(platform.description.profiles), *_profiles(profiles, folder, platform))


def _profiles(sections: list[ProfileSection], folder: Path, platform: Platform) -> Iterator[Profile]:
    for index, section in enumerate(sections):
        _checked(f"profiles[{index}]", platform, section.change("state_file", 1.0))
        for key in _MEANINGS:
            path: Any = getattr(section, key)
            if path is not None:
                try:
                    yield read_profile(folder / path, partial(section.change, key), key == "bandwidth_file")
                except SimunixError as error:
                    raise SimunixError(f"profiles[{index}].{key}: {error}") from error


def _checked(key: str, platform: Platform, change: Change) -> None:
    try:
        check(platform, change)
    except SimunixError as error:
        raise SimunixError(f"{key}: {error}") from error
