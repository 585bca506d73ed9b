"""Turn the checks of a scenario that are commands into processes of the run."""

from __future__ import annotations

from collections.abc import Iterator

from rsg_server.errors import SimunixError
from simunix.launch.plan import ProcessSpec
from simunix.rjms.adapter import Site
from simunix.scenario.check_section import CheckSection
from simunix.scenario.model import Scenario

AGAIN = 'while sleep "$0"; do "$@" || exit; done'
"""The shell script that runs a command again and again until the command fails, and then exits with the command's
status.
"""


def name_of(section: CheckSection, index: int) -> str:
    """Return the name of a check for messages, which is also the name of the process that runs the check's command."""
    return f"check-{section.name or index + 1}"


def plan_checks(scenario: Scenario, site: Site) -> Iterator[ProcessSpec]:
    """Yield a process for each check of the scenario that is a command. Raises SimunixError with the wrong key."""
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
