"""Plan the actors of Remote SimGrid in a scenario: processes whose environment says which actor they are."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path

import simunix
from rsg_server.errors import SimunixError
from rsg_server.platform.simgrid_xml.deployment import DeployedActor, load_deployment
from rsg_server.shared.prices import Costs
from simunix.launch.plan import ActorSpec, ProcessSpec
from simunix.scenario.model import ActorSection, Scenario

NS = 10**9
RUNS_FUNCTION = "simunix.rsg.function"
"""The Python module that a process runs to execute a function as an actor of Remote SimGrid."""


def with_actors(scenario: Scenario, folder: Path) -> Scenario:
    """Return the scenario with the actors of its deployment file added, and with a command in the place of each
    function.

    Raises SimunixError for an actor that cannot exist, such as one on an unknown host.
    """
    given = [_with_command(section, f"actors[{at}].function", folder) for at, section in enumerate(scenario.actors)]
    deployed = [_with_command(section, "deployment", folder) for section in _deployed(scenario, folder)]
    return scenario.model_copy(update={"actors": [*given, *deployed]}) if given or deployed else scenario


def _with_command(section: ActorSection, key: str, folder: Path) -> ActorSection:
    if section.function is None:
        return section
    module = section.function.partition(":")[0]
    if PathFinder.find_spec(module.partition(".")[0], [str(folder), *sys.path]) is None:
        raise SimunixError(f"{key}: there is no module {module} in {folder}, nor among the installed ones")
    words = (sys.executable, "-m", RUNS_FUNCTION, str(folder.resolve()), section.function, *section.arguments)
    return section.model_copy(update={"command": words})


def _deployed(scenario: Scenario, folder: Path) -> list[ActorSection]:
    """Return the actors of the deployment file.

    If a host has several actors with one function, the second one gets the name FUNCTION-2, for its files.
    """
    section = scenario.deployment
    if section is None:
        return []
    hosts = {name for host in scenario.hosts for name in host.name}
    seen: Counter[tuple[str, str]] = Counter((host, each.name) for each in scenario.actors for host in each.host)
    found = []
    for actor in load_deployment(folder / section.file):
        if actor.host not in hosts:
            raise actor.fail(f"<actor>: host {actor.host!r} is not among the hosts of the scenario")
        if actor.function not in section.functions:
            known = ", ".join(section.functions) or "none"
            raise actor.fail(f"<actor>: function {actor.function!r} is not among deployment.functions (there: {known})")
        seen[actor.host, actor.function] += 1
        times = seen[actor.host, actor.function]
        found.append(_section(actor, section.functions[actor.function], f"-{times}" if times > 1 else ""))
    return found


def _section(actor: DeployedActor, function: str, suffix: str) -> ActorSection:
    name = f"{actor.function}{suffix}"
    if "/" in name or not name.isprintable() or not 0 < len(name.encode()) <= 200:
        raise actor.fail("<actor>: function: expected a name that a file can have")
    return ActorSection.model_construct(
        name=name,
        host=(actor.host,),
        command=(),
        function=function,
        arguments=list(actor.arguments),
        start=round(actor.start_s * NS),
        kill_time=None if actor.kill_s is None else round(actor.kill_s * NS),
        on_failure="restart" if actor.restarts else "die",
    )


def as_actors(scenario: Scenario, processes: Sequence[ProcessSpec]) -> list[ProcessSpec]:
    """Return the processes of the scenario's actors, in the order in which they begin if they begin at one date."""
    sections = (section for section in scenario.actors for _ in section.host)
    return [replace(process, actor=_spec(section)) for process, section in zip(processes, sections, strict=True)]


def _spec(section: ActorSection) -> ActorSpec:
    return ActorSpec(section.name, section.kill_time, section.on_failure == "restart")


def shared_with_functions(scenario: Scenario) -> tuple[str, ...]:
    """Return the folders that hosts must see to run functions as actors: Python with its packages, and the package
    simunix.
    """
    if not any(section.function for section in scenario.actors):
        return ()
    return (sys.prefix, sys.base_prefix, str(Path(simunix.__file__).resolve().parents[1]))


def costs_of(scenario: Scenario) -> Costs:
    """Return the virtual time that system calls and clock reads cost.

    In a scenario with actors the default is 0, so that dates equal SimGrid's.
    """
    if scenario.actors and "costs" not in scenario.model_fields_set:
        return Costs(0, 0, 0)
    return Costs(scenario.costs.clock_read, scenario.costs.poll, scenario.costs.call)
