"""The actors of Remote SimGrid that a scenario names: processes that are told which actor they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rsg_server.clock.clock_page import Costs
from simunix.launch.plan import ProcessSpec
from simunix.scenario.model import Scenario


def named_actors(scenario: Scenario) -> tuple[tuple[str, str], ...]:
    """Name and host of each actor; its place, from 1, is its number."""
    return tuple((section.name, host) for section in scenario.actors for host in section.host)


def as_actors(processes: Sequence[ProcessSpec]) -> list[ProcessSpec]:
    """The processes of actors, in the order of their numbers, each with the number in its environment."""
    return [
        replace(process, environment={"RSG_INITIAL_ACTOR_ID": str(number), "RSG_AUTOCONNECT": "1", **process.environment})
        for number, process in enumerate(processes, start=1)
    ]


def costs_of(scenario: Scenario) -> Costs:
    """What asking costs; nothing in a scenario of actors that does not say, so that its dates are those of SimGrid."""
    if scenario.actors and "costs" not in scenario.model_fields_set:
        return Costs(0, 0, 0)
    return Costs(scenario.costs.clock_read, scenario.costs.poll, scenario.costs.call)
