"""File and line for errors that begin with a key of a scenario."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rsg_server.errors import SimunixError
from simunix.scenario.model import Scenario

LONGEST = 2000
"""The most characters of a message, since a message may quote keys and file names of any length."""


class ScenarioError(SimunixError):
    """The error that a scenario cannot be used.

    The text of the error is one line, even if a quoted name contains line breaks.
    """

    def __init__(self, text: str) -> None:
        line = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)
        super().__init__(line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…")


@contextmanager
def located(scenario: Scenario) -> Iterator[None]:
    """For the `with` block, put file and line in front of the text of a SimunixError that begins with a key of the
    scenario's file.
    """
    try:
        yield
    except SimunixError as error:
        place = scenario.place_of_key(str(error).partition(": ")[0])
        if place is None and type(error) is not SimunixError:
            raise
        if place is None:
            raise ScenarioError(str(error)) from error
        raise ScenarioError(f"{place}: {error}") from error
