"""Make the enclosures of a scenario (chassis, racks), and refuse watts that do not fit the scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rsg_server.errors import SimunixError
from rsg_server.platform.host import Host
from rsg_server.platform.platform import Platform
from rsg_server.platform.power import NO_BOOT, Boot, Enclosure
from simunix.scenario.model import Scenario
from simunix.scenario.power_section import EnclosureSection


def enclosures_of(scenario: Scenario, platform: Platform) -> tuple[Enclosure, ...]:
    """Return the enclosures of a run, numbered from 0 if a section makes several.

    The text of a SimunixError begins with the wrong key.
    """
    _check_platform_file(scenario)
    hosts = {host.name: host for host in platform.hosts}
    found = [
        each
        for index, section in enumerate(scenario.enclosures)
        for each in _enclosures(section, f"enclosures[{index}]", hosts)
    ]
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise SimunixError(f"enclosures: {name!r} is the name of two; names must differ")
    _check_nesting(found)
    return tuple(found)


def _check_nesting(found: list[Enclosure]) -> None:
    """Check that enclosures are nested, as a host is in a chassis and the chassis in a rack: if two have a common host,
    one contains the other.
    """
    inside: dict[str, list[int]] = {}
    hosts = [frozenset(each.hosts) for each in found]
    for place, names in enumerate(hosts):
        overlapping = {other for name in names for other in inside.get(name, ())}
        for other in sorted(overlapping):
            if not (names <= hosts[other] or names >= hosts[other]):
                first, second = found[other].name, found[place].name
                shared = f"{first!r} and {second!r} share {min(names & hosts[other])}"
                raise SimunixError(f"enclosures: {shared}, and neither is inside of the other; change one")
        for name in names:
            inside.setdefault(name, []).append(place)


def _check_platform_file(scenario: Scenario) -> None:
    """Raise SimunixError for watts in a scenario with a platform file, because that file gives the hosts' speeds, and
    so must give their watts.
    """
    for index, section in enumerate(scenario.hosts):
        if scenario.network.platform is not None and section.wattage_per_state is not None:
            text = "speeds and watts are those of the platform file (network.platform); write this property there"
            raise SimunixError(f"hosts[{index}].wattage_per_state: {text}")


def _enclosures(section: EnclosureSection, key: str, hosts: Mapping[str, Host]) -> Iterator[Enclosure]:
    for name in section.hosts:
        if name not in hosts:
            raise SimunixError(f"{key}.hosts: {name!r} is not among the hosts; known: {', '.join(list(hosts)[:12])}")
        if hosts[name].power is None:
            raise SimunixError(f"{key}.hosts: host {name} has no wattage_per_state; add it, or take the host away")
    if len(set(section.hosts)) < len(section.hosts):
        raise SimunixError(f"{key}.hosts: a host is named twice; name each once")
    size = section.size or len(section.hosts)
    if len(section.hosts) % size:
        raise SimunixError(f"{key}.size: {len(section.hosts)} hosts do not fill enclosures of {size}; change one")
    for place in range(0, len(section.hosts), size):
        name = section.name if size == len(section.hosts) else f"{section.name}{place // size}"
        yield Enclosure(name, section.hosts[place : place + size], section.watts)


def boots_of(scenario: Scenario) -> dict[str, Boot]:
    """Return the boots of all hosts whose boot takes time, has its own watts, or may hang."""
    boots = [
        (host.name, Boot(host.boot_time, host.shutdown_time, host.boot_wattage, host.boot_failure)) for host in scenario.hosts
    ]
    return {name: boot for names, boot in boots if boot != NO_BOOT for name in names}
