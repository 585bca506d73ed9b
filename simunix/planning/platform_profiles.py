"""Apply the profiles of a SimGrid platform file (how a link or host changes over time) to the scenario's hosts and
links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from rsg_server.errors import SimunixError
from rsg_server.faults.changes import Change, Fault, FaultProfile, HostChange, LinkChange
from rsg_server.platform.profile import Changes, ProfileUse

NS = 10**9
OF_HOSTS = (Changes.HOST_STATE, Changes.SPEED)
SPEEDS = "network.platform: profiles of hosts' speeds are not played: computing takes no time (cpu_policy: free)"

_MEANINGS: dict[Changes, Callable[[str, float], Change]] = {
    Changes.BANDWIDTH: lambda link, value: LinkChange(link, bandwidth_bytes_per_s=value),
    Changes.LATENCY: lambda link, value: LinkChange(link, latency_s=value),
    Changes.LINK_STATE: lambda link, value: LinkChange(link, is_up=value > 0),
    Changes.HOST_STATE: lambda host, value: HostChange(host, "on" if value > 0 else "off"),
}


def renamed(uses: Iterable[ProfileUse], names: Mapping[str, str]) -> tuple[ProfileUse, ...]:
    """Return the profiles of links and of those hosts in the file that the scenario uses. `names` maps the file's names
    of hosts to the scenario's.
    """
    kept = (use for use in uses if use.changes not in OF_HOSTS or use.element in names)
    return tuple(ProfileUse(use.changes, names[use.element], use.profile) if use.changes in OF_HOSTS else use for use in kept)


def played(uses: Iterable[ProfileUse]) -> Iterator[FaultProfile]:
    """Yield the profiles that an emulation plays. The text of a SimunixError contains the profile that it cannot play."""
    for use in uses:
        if use.changes not in _MEANINGS or not use.profile.events:
            continue
        if use.changes is Changes.BANDWIDTH and any(value == 0 for _, value in use.profile.events):
            raise SimunixError(
                f"network.platform: bandwidth of {use.element}, profile {use.profile.name}: expected values above 0, got 0; "
                "a state_file takes the link down"
            )
        mean, repeat_s = _MEANINGS[use.changes], use.profile.repeat_after_s
        points = tuple(Fault(round(date_s * NS), mean(use.element, value)) for date_s, value in use.profile.events)
        yield FaultProfile(points, None if repeat_s is None else round(repeat_s * NS))


def not_played(uses: Iterable[ProfileUse]) -> tuple[str, ...]:
    """Return warnings about the profiles that an emulation does not play."""
    return (SPEEDS,) if any(use.changes is Changes.SPEED for use in uses) else ()
