"""Determines how the runs of an explored test go: by which choices, with which faults, and with which random numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rsg_server.choices.places import PLACES
from rsg_server.choices.source import Choices, Strategy
from rsg_server.turn.choosing import ChosenOrder
from simunix.explore import nemesis
from simunix.launch.plan import Plan
from simunix.scenario.faults import EventSection
from simunix.scenario.model import Scenario

Event = dict[str, Any]


@dataclass(slots=True)
class Course:
    """The choices of all runs in one call of a test, the faults that the exploration adds, and the number that is added
    to the test's own seed.

    `events` is None until the faults have been drawn from the number of the exploration's seed.
    """

    choices: Choices
    number: int
    shift: int
    events: tuple[Event, ...] | None = None

    @classmethod
    def of(cls, strategy: Strategy, number: int, shift: int, events: tuple[Event, ...] | None = None) -> Course:
        """Return a course in which a strategy makes all kinds of choices."""
        return cls(Choices(strategy, frozenset(PLACES)), number, shift, events)

    def applied(self, scenario: Scenario) -> Scenario:
        """Return the scenario with the seed and the faults of this course."""
        if self.events is None:
            self.events = drawn(self.number, scenario)
        sections = [EventSection.model_validate(event) for event in self.events]
        return scenario.model_copy(update={"seed": scenario.seed + self.shift, "events": [*scenario.events, *sections]})

    def chosen(self, plan: Plan) -> Plan:
        """Return the plan with the choices of this course."""
        order = ChosenOrder(self.choices)
        return replace(plan, kernel=replace(plan.kernel, choices=self.choices, order=order))


def drawn(number: int, scenario: Scenario) -> tuple[Event, ...]:
    """Return the faults that a seed adds; none if the test has not called `nemesis`.

    Raises SimunixError for a host that does not exist.
    """
    section = scenario.nemesis
    if section is None:
        return ()
    return tuple(nemesis.faults_of(number, section, nemesis.targets(scenario, section)))
