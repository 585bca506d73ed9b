"""Turn `events:` and `profiles:` of a scenario into the changes of hosts and links that a plan schedules, checked
against the platform.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from rsg_server.choices.source import Choices
from rsg_server.choices.strategies import Baseline
from rsg_server.errors import SimunixError
from rsg_server.faults.changes import Change, Fault, FaultProfile, ProcessChange
from rsg_server.faults.faults import check
from rsg_server.options import KernelOptions
from rsg_server.platform.platform import Platform
from rsg_server.platform.profile import parse_profile
from rsg_server.turn.choosing import ChosenOrder
from simunix.launch.plan import ProcessSpec
from simunix.planning.platform_profiles import played
from simunix.scenario.faults import PROFILE_MEANINGS, EventSection, ProfileSection

NS = 10**9


def read_profile(path: Path, change: Callable[[float], Change], is_positive: bool = False) -> FaultProfile:
    """Read a profile in SimGrid's format. The text of a SimunixError contains file and line."""
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
    return FaultProfile(points, None if found.repeat_after_s is None else round(found.repeat_after_s * NS))


def plan_faults(
    events: list[EventSection],
    profiles: list[ProfileSection],
    folder: Path,
    platform: Platform,
    processes: Sequence[ProcessSpec] = (),
) -> tuple[tuple[Fault, ...], tuple[FaultProfile, ...]]:
    """Return the faults and profiles of a run, those of the platform file first, all checked.

    The text of a SimunixError begins with the wrong key.
    """
    faults = []
    for index, event in enumerate(events):
        for change in event.changes():
            _checked(f"events[{index}]", platform, change)
            if isinstance(change, ProcessChange):
                _check_process(f"events[{index}].process", change, processes)
            faults.append(Fault(event.at, change, event.duration))
    return tuple(faults), (*played(platform.description.profiles), *_profiles(profiles, folder, platform))


def _check_process(key: str, change: ProcessChange, processes: Sequence[ProcessSpec]) -> None:
    known = [each.name for each in processes if each.host == change.host and not each.collects]
    if change.process not in known:
        has = f"known there: {', '.join(dict.fromkeys(known))}" if known else "there are none"
        raise SimunixError(f"{key}: host {change.host} has no process {change.process!r}; {has}")


def with_clocks(options: KernelOptions, events: list[EventSection]) -> KernelOptions:
    """Return the options of a run whose events set clocks of hosts, or let clocks drift: the server gives each turn, and so
    shows each host its own clock. The choices of such a run are those of any other run.
    """
    if all(event.clock is None and event.drift is None for event in events):
        return options
    choices = Choices(Baseline(), frozenset())
    return replace(options, choices=choices, order=ChosenOrder(choices))


def _profiles(sections: list[ProfileSection], folder: Path, platform: Platform) -> Iterator[FaultProfile]:
    for index, section in enumerate(sections):
        _checked(f"profiles[{index}]", platform, section.change("state_file", 1.0))
        for key in PROFILE_MEANINGS:
            path: Path | None = getattr(section, key)
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
