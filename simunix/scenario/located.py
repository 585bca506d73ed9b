"""File and line for errors that begin with a key of a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rsg_server.errors import SimunixError
from simunix.scenario.model import Scenario


class ScenarioError(SimunixError):
    """A scenario that cannot be used."""


@contextmanager
def located(scenario: Scenario) -> Iterator[None]:
    """Put file and line before the text of a SimunixError from inside, if the text begins with a key of the scenario's file."""
    try:
        yield
    except SimunixError as error:
        place = scenario.place_of_key(str(error).partition(": ")[0])
        if place is None:
            raise
        raise ScenarioError(f"{place}: {error}") from error
