"""From `check:` of a scenario to the processes that run its commands."""

from __future__ import annotations

from collections.abc import Iterator

from rsg_server.errors import SimunixError
from simunix.launch.plan import ProcessSpec
from simunix.rjms.adapter import Site
from simunix.scenario.check_section import CheckSection
from simunix.scenario.model import Scenario

AGAIN = 'while sleep "$0"; do "$@" || exit; done'
"""The script that runs a command again and again, and ends with the status of the first one that fails."""


def name_of(section: CheckSection, index: int) -> str:
    """The name of a check in messages, and of the process that runs its command."""
    return f"check-{section.name or index + 1}"


def plan_checks(scenario: Scenario, site: Site) -> Iterator[ProcessSpec]:
    """The processes of all checks that are commands. SimunixError names the key."""
    for index, section in enumerate(scenario.check):
        if section.command is None or section.host is None:
            continue
        if section.host not in site.hosts:
            raise SimunixError(f"check[{index}].host: there is no host {section.host}; name one of hosts")
        if section.every is not None and scenario.until is None:
            raise SimunixError(f"check[{index}].every: a run that only repeats a check never ends by itself; add until")
        name = name_of(section, index)
        yield ProcessSpec(name, section.host, section.command, collects=True, is_check=True)
        if section.every is not None:
            argv = ("/bin/sh", "-c", AGAIN, f"{section.every / 1e9:.9f}", *section.command)
            yield ProcessSpec(f"{name}-again", section.host, argv, serves=True)
